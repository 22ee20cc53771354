"""Pooling, and the directory that sentence-transformers opens: against that library and the packaged encoder."""

import json

import numpy as np
import pytest
import torch

from minibert import checkpoint
from minibert.model import Batch
from minibert.packaged import ALL_MINILM, PackageError
from minibert.sentence_vectors.encoder import SentenceEncoder, SentenceVectors

TEXTS = ["a b c", "z", "", "a long one " * 30]


@pytest.fixture
def vectors(small_checkpoint):
    return SentenceVectors.from_directory(small_checkpoint)


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
def test_padding_is_left_out(vectors, pooling):
    encoder = SentenceEncoder(vectors.encoder.bert, pooling).eval()
    ids = torch.tensor([[2, 7, 8, 3]])
    padded = Batch(torch.tensor([[2, 7, 8, 3, 0, 0]]), padding=torch.tensor([[True] * 4 + [False] * 2]))
    with torch.no_grad():
        alone, beside = encoder(Batch(ids)), encoder(padded)
        x = encoder.bert(Batch(ids))[0][0]
    expected = {"cls": x[0], "mean": x.mean(0), "max": x.max(0).values}[pooling]
    assert torch.allclose(alone[0], expected, atol=1e-6) and torch.allclose(beside, alone, atol=1e-5)


def test_vectors_come_in_the_order_of_the_texts(vectors):
    together, alone = vectors.embed(TEXTS), np.concatenate([vectors.embed([text]) for text in TEXTS])
    assert together.shape == (4, 32) and together.dtype == np.float32
    assert np.allclose(together, alone, atol=1e-5) and vectors.embed([]).shape == (0, 32)
    assert vectors.encoder.pooling == "mean" and vectors.longest == 64  # any BERT is an encoder by its mean


@pytest.mark.parametrize(("pooling", "normalized"), [("mean", False), ("cls", True), ("max", False)])
def test_what_is_saved_comes_back_and_sentence_transformers_opens_it(vectors, tmp_path, pooling, normalized):
    from sentence_transformers import SentenceTransformer

    made = SentenceVectors(SentenceEncoder(vectors.encoder.bert, pooling).eval(), vectors.tokenizer, normalized, 40)
    for _ in range(2):  # also over what is there
        made.save(tmp_path / "saved")
    again = SentenceVectors.from_directory(tmp_path / "saved")
    assert (again.encoder.pooling, again.normalized, again.longest) == (pooling, normalized, 40)
    assert np.allclose(again.embed(TEXTS), made.embed(TEXTS), atol=1e-6)
    theirs = SentenceTransformer(str(tmp_path / "saved"), device="cpu")
    assert theirs.max_seq_length == 40 and theirs.get_embedding_dimension() == 32
    assert np.allclose(theirs.encode(TEXTS), made.embed(TEXTS), atol=1e-5)
    theirs.save(str(tmp_path / "theirs"))  # in the layout of its version 6
    opened = SentenceVectors.from_directory(tmp_path / "theirs")
    assert (opened.encoder.pooling, opened.normalized, opened.longest) == (pooling, normalized, 40)
    assert np.allclose(opened.embed(TEXTS), made.embed(TEXTS), atol=1e-5)


def test_the_files_are_those_of_the_packaged_encoder(vectors, tmp_path):
    """The layout that sentence-transformers reads, as others have written it."""
    try:
        theirs = ALL_MINILM.directory()
    except PackageError as error:
        pytest.skip(str(error))
    SentenceVectors(vectors.encoder, vectors.tokenizer, True).save(tmp_path)
    assert json.loads((tmp_path / "modules.json").read_text()) == json.loads((theirs / "modules.json").read_text())
    for name in ("1_Pooling/config.json", "sentence_bert_config.json", "config_sentence_transformers.json"):
        assert json.loads((tmp_path / name).read_text()).keys() == json.loads((theirs / name).read_text()).keys()
    opened = SentenceVectors.from_directory(theirs)
    assert opened.normalized and opened.longest == 256 and opened.encoder.pooling == "mean"
    asked, like, other = opened.embed(["How do I get a new password?", "I forgot my password.", "It rains."])
    assert like @ asked > other @ asked and np.allclose(np.linalg.norm(asked), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("modules.json", "{", "read"),
        ("modules.json", "[1]", "object"),
        ("modules.json", '[{"type": "a.LSTM"}]', "LSTM"),
        ("modules.json", '[{"type": "a.Normalize"}, {"type": "a.Pooling"}]', "must come as"),
        ("modules.json", '[{"type": "a.Pooling", "path": "../x"}]', "within"),
        ("1_Pooling/config.json", '{"pooling_mode_lasttoken": true}', "pooling_mode_lasttoken"),
        ("1_Pooling/config.json", '{"pooling_mode": ["cls", "mean"]}', "cls, mean"),
        ("1_Pooling/config.json", "{}", "nothing"),
        ("sentence_bert_config.json", '{"max_seq_length": "x"}', "max_seq_length"),
    ],
)
def test_what_is_not_known_is_refused_by_name(vectors, tmp_path, file, content, why):
    vectors.save(tmp_path)
    (tmp_path / file).write_text(content)
    with pytest.raises(checkpoint.CheckpointError, match=why):
        SentenceVectors.from_directory(tmp_path)
