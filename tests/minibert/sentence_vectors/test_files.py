"""Directories as other versions of sentence-transformers wrote them: the same vectors as that library's."""

import json
from dataclasses import replace

import numpy as np
import pytest

from minibert.checkpoint import CheckpointError
from minibert.sentence_vectors.answering import is_encoder
from minibert.sentence_vectors.encoder import SentenceVectors
from minibert.sentence_vectors.rows import SentenceRow
from minibert.sentence_vectors.run import VectorSettings, learn_vectors
from minibert.tokenizer import Tokenizer

TEXTS = ["a b c", "ABC Dé", "Z [MASK] z", ""]


@pytest.fixture
def saved(vectors, tmp_path):
    """A directory of a cased encoder that sentence-transformers opens."""
    cased = Tokenizer(list(vectors.tokenizer.pieces), lowercase=False)
    replace(vectors, tokenizer=cased).save(tmp_path / "model")
    return tmp_path / "model"


def changed(folder, name, **values):
    file = folder / name
    file.write_text(json.dumps({**(json.loads(file.read_text()) if file.exists() else {}), **values}))


def into_a_folder(folder):
    """As versions up to 2.2 wrote it."""
    (folder / "0_Transformer").mkdir()
    for file in [path for path in folder.iterdir() if path.is_file() and path.name not in ("modules.json",)]:
        if file.name != "config_sentence_transformers.json":
            file.rename(folder / "0_Transformer" / file.name)
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["path"] = "0_Transformer"
    (folder / "modules.json").write_text(json.dumps(modules))


PROMPT = {"prompts": {"query": "abc: ", "none": None}, "default_prompt_name": "query"}
CHANGES = {
    "do_lower_case": lambda f: changed(f, "sentence_bert_config.json", do_lower_case=True),
    "a prompt": lambda f: changed(f, "config_sentence_transformers.json", **PROMPT),
    "prompts without a default": lambda f: changed(f, "config_sentence_transformers.json", prompts={"query": "x"}),
    "truncate_dim": lambda f: changed(f, "config_sentence_transformers.json", truncate_dim=5),
    "all of it in a folder": lambda f: (
        changed(f, "sentence_bert_config.json", do_lower_case=True, max_seq_length=4),
        changed(f, "config_sentence_transformers.json", truncate_dim=5, **PROMPT),
        into_a_folder(f),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_vectors_are_those_of_sentence_transformers(saved, tmp_path, name):
    from sentence_transformers import SentenceTransformer

    plain = SentenceVectors.from_directory(saved).embed(TEXTS)
    CHANGES[name](saved)
    ours = SentenceVectors.from_directory(saved)
    expected = SentenceTransformer(str(saved), device="cpu").encode(TEXTS)
    assert is_encoder(saved) and np.allclose(ours.embed(TEXTS), expected, atol=1e-5)
    assert (name == "prompts without a default") == (plain.shape == expected.shape and np.allclose(plain, expected))
    ours.save(tmp_path / "again")
    assert np.allclose(SentenceVectors.from_directory(tmp_path / "again").embed(TEXTS), expected, atol=1e-5)
    assert np.allclose(SentenceTransformer(str(tmp_path / "again"), device="cpu").encode(TEXTS), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("file", "values", "why"),
    [
        ("sentence_bert_config.json", {"do_lower_case": "yes"}, "do_lower_case"),
        ("config_sentence_transformers.json", {"default_prompt_name": "q"}, "default_prompt_name"),
        ("config_sentence_transformers.json", {"prompts": [1]}, "prompts"),
        ("config_sentence_transformers.json", {"truncate_dim": 0}, "truncate_dim"),
    ],
)
def test_what_is_wrong_is_named(saved, file, values, why):
    changed(saved, file, **values)
    with pytest.raises(CheckpointError, match=rf"{file}.*{why}"):
        SentenceVectors.from_directory(saved)


def test_a_prompt_that_is_not_pooled_is_refused(saved):
    changed(saved, "config_sentence_transformers.json", **PROMPT)
    changed(saved, "1_Pooling/config.json", include_prompt=False)
    with pytest.raises(CheckpointError, match="include_prompt"):
        SentenceVectors.from_directory(saved)


def test_training_goes_on_with_the_same_reading(saved, tmp_path):
    CHANGES["all of it in a folder"](saved)
    rows = [SentenceRow((text,)) for text in TEXTS]
    list(learn_vectors(VectorSettings(steps=2, batch_size=2, max_length=16), saved, rows, out=tmp_path / "out"))
    before, after = (SentenceVectors.from_directory(folder) for folder in (saved, tmp_path / "out"))
    assert after.prompt == before.prompt == "abc: " and after.tokenizer.encode("AB") == before.tokenizer.encode("ab")
