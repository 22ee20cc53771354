"""Pooling, and the directory that sentence-transformers opens: against that library and the packaged encoder."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from minibert import checkpoint
from minibert.inside.geometry.vectors import sentence_vectors
from minibert.model import Batch
from minibert.sentence_vectors.encoder import SentenceEncoder, SentenceVectors
from minibert.sentence_vectors.packaged import ALL_MINILM, PackageError

TEXTS = ["a b c", "z", "", "a long one " * 30]


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


def test_layers_are_their_mean(vectors):
    bert = vectors.encoder.bert
    every = sentence_vectors(bert, vectors.tokenizer, TEXTS, ("mean",))["mean"]
    for layers, expected in (((1, -1), (every[1] + every[2]) / 2), ((0,), every[0]), ((-1,), every[2]), ((), every[2])):
        encoder = SentenceEncoder(bert, layers=layers).eval()
        assert np.allclose(replace(vectors, encoder=encoder).embed(TEXTS), expected, atol=1e-5)
    assert SentenceEncoder(bert, layers=(2, -1)).layers == ()
    with pytest.raises(ValueError, match="layers are 0"):
        SentenceEncoder(bert, layers=(3,))


@pytest.mark.parametrize(
    ("pooling", "normalized", "layers", "dimensions"),
    [
        ("mean", False, (), None),
        ("cls", True, (), None),
        ("max", False, (), None),
        ("mean", False, (), 9),
        ("mean", True, (1, -1), 8),
    ],
)
def test_sentence_transformers_computes_the_same_from_what_is_saved(
    vectors, sentences, tmp_path, pooling, normalized, layers, dimensions
):
    from sentence_transformers import SentenceTransformer

    encoder = SentenceEncoder(vectors.encoder.bert, pooling, layers).eval()
    made = SentenceVectors(encoder, vectors.tokenizer, longest=40)
    made = replace(made.whitened(sentences, dimensions) if dimensions else made, normalized=normalized)
    for _ in range(2):  # also over what is there
        made.save(tmp_path / "ours")
    expected, width = made.embed(TEXTS), dimensions or 32
    atol = 1e-3 * np.abs(expected).max() if dimensions else 1e-5
    theirs = SentenceTransformer(str(tmp_path / "ours"), device="cpu")
    assert theirs.max_seq_length == 40 and expected.shape == (4, width) and theirs.get_embedding_dimension() == width
    assert np.allclose(theirs.encode(TEXTS), expected, atol=atol)
    theirs.save(str(tmp_path / "theirs"))  # in the layout of its version 6
    for folder in ("ours", "theirs"):
        again = SentenceVectors.from_directory(tmp_path / folder)
        kept = (again.encoder.pooling, again.encoder.layers, again.normalized, again.longest)
        assert kept == (pooling, encoder.layers, normalized, 40)
        assert (again.whitening and again.whitening.dimensions) == dimensions
        assert np.allclose(again.embed(TEXTS), expected, atol=atol)
    assert SentenceVectors.from_directory(tmp_path / "ours", "cls").whitening is None  # was not fitted on


def test_the_files_are_those_of_the_packaged_encoder(vectors, tmp_path):
    """The layout that sentence-transformers reads, as others have written it."""
    try:
        theirs = ALL_MINILM.directory()
    except PackageError as error:
        pytest.skip(str(error))
    replace(vectors, normalized=True).save(tmp_path)
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
        ("2_Pooling/config.json", '{"pooling_mode_lasttoken": true}', "pooling_mode_lasttoken"),
        ("2_Pooling/config.json", '{"pooling_mode": ["cls", "mean"]}', "cls, mean"),
        ("2_Pooling/config.json", "{}", "nothing"),
        ("sentence_bert_config.json", '{"max_seq_length": "x"}', "max_seq_length"),
        ("3_Dense/config.json", '{"activation_function": "torch.nn.modules.activation.Tanh"}', "without an activation"),
        ("3_Dense/config.json", '{"activation_function": "torch.nn.modules.linear.Identity"}', "with its bias"),
        ("3_Dense/model.safetensors", "x", "cannot be read"),
        ("1_WeightedLayerPooling/config.json", '{"layer_start": 9}', "must be a layer from 0 to 2"),
        ("1_WeightedLayerPooling/config.json", '{"layer_start": 1}', r"must have the shape \(2,\)"),
    ],
)
def test_what_is_not_known_is_refused_by_name(small_checkpoint, sentences, tmp_path, file, content, why):
    SentenceVectors.from_directory(small_checkpoint, layers=(0,)).whitened(sentences, 4).save(tmp_path)
    assert (tmp_path / file).exists()
    (tmp_path / file).write_text(content)
    with pytest.raises(checkpoint.CheckpointError, match=why):
        SentenceVectors.from_directory(tmp_path)
