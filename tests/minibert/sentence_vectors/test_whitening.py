"""Whitening: against scikit-learn's PCA, by what must hold of what comes out, and as sentence-transformers reads it."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from minibert.sentence_vectors.encoder import SentenceEncoder, SentenceVectors
from minibert.sentence_vectors.whitening import Whitening

TEXTS = [f"{a} {b}{c}" for a in "abcdef" for b in "uvwxyz" for c in "kl"]


@pytest.fixture(scope="module")
def cone():
    """Far from the origin, and longer in some directions than in others."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(400, 12)) @ rng.normal(size=(12, 12)) + 20 * rng.normal(size=12)


@pytest.mark.parametrize("dimensions", [None, 5, 1])
def test_it_is_sklearns_pca_up_to_the_sign_of_a_direction(cone, dimensions):
    ours = Whitening.fit(cone, dimensions)(cone)
    theirs = PCA(dimensions or 12, whiten=True, svd_solver="full").fit_transform(cone)
    signs = np.sign((ours * theirs).sum(0))
    assert np.allclose(ours * signs, theirs, atol=1e-8)
    assert np.allclose(np.cov(ours.T), np.eye(dimensions or 12), atol=1e-9)


def test_the_first_columns_are_a_fit_with_fewer(cone):
    whole, few = Whitening.fit(cone), Whitening.fit(cone, 4)
    assert np.array_equal(whole.first(4).matrix, few.matrix) and whole.first(4).dimensions == 4
    assert np.allclose(whole(cone)[:, :4], few(cone))
    for dimensions in (0, 13):
        with pytest.raises(ValueError, match="from 1 to"):
            whole.first(dimensions)


def test_fewer_sentences_than_numbers_span_one_direction_less_and_lie_all_equally_far_apart(cone):
    """The trap: whitened by themselves alone, N sentences become the corners of a regular simplex."""
    few = cone[:6]
    whitening = Whitening.fit(few)
    assert whitening.dimensions == 5
    out = whitening(few)
    out = out / np.linalg.norm(out, axis=1, keepdims=True)
    assert np.allclose((out @ out.T)[~np.eye(6, dtype=bool)], -1 / 5)


@pytest.mark.parametrize(
    ("change", "dimensions", "why"),
    [
        (lambda x: x[:1], None, "two"),
        (lambda x: x[0], None, "two"),
        (lambda x: x[:6], 6, "5 directions"),
        (lambda x: x, 0, "0"),
        (lambda x: x, 13, "13"),
        (lambda x: x[[0, 0, 0]], None, "0 directions"),
        (lambda x: x * np.nan, None, "finite"),
    ],
)
def test_what_cannot_be_whitened_is_said(cone, change, dimensions, why):
    with pytest.raises(ValueError, match=why):
        Whitening.fit(change(cone), dimensions)


@pytest.mark.parametrize(("layers", "dimensions", "normalized"), [((), 9, False), ((1, -1), 8, True)])
def test_sentence_transformers_computes_the_same_from_what_is_saved(
    small_checkpoint, tmp_path, layers, dimensions, normalized
):
    from sentence_transformers import SentenceTransformer

    plain = SentenceVectors.from_directory(small_checkpoint, layers=layers)
    made = plain.whitened(TEXTS, dimensions)
    made = SentenceVectors(made.encoder, made.tokenizer, normalized, 40, made.whitening)
    made.save(tmp_path / "ours")
    expected = made.embed(TEXTS[:5])
    width = made.whitening.dimensions
    assert expected.shape == (5, width) and (dimensions in (None, width))
    atol = 1e-3 * np.abs(expected).max()
    theirs = SentenceTransformer(str(tmp_path / "ours"), device="cpu")
    assert theirs.get_embedding_dimension() == width
    assert np.allclose(theirs.encode(TEXTS[:5]), expected, atol=atol)
    theirs.save(str(tmp_path / "theirs"))
    for folder in ("ours", "theirs"):
        again = SentenceVectors.from_directory(tmp_path / folder)
        kept = (again.encoder.layers, again.normalized, again.whitening.dimensions)
        assert kept == (made.encoder.layers, normalized, width)
        assert np.allclose(again.embed(TEXTS[:5]), expected, atol=atol)
    assert SentenceVectors.from_directory(tmp_path / "ours", "cls").whitening is None  # was not fitted on


def test_layers_are_their_mean(small_checkpoint):
    from minibert.inside.vectors import sentence_vectors

    plain = SentenceVectors.from_directory(small_checkpoint)
    every = sentence_vectors(plain.encoder.bert, plain.tokenizer, TEXTS[:4], ("mean",))["mean"]
    for layers, expected in (((1, -1), (every[1] + every[2]) / 2), ((0,), every[0]), ((-1,), every[2]), ((), every[2])):
        encoder = SentenceEncoder(plain.encoder.bert, layers=layers).eval()
        assert np.allclose(SentenceVectors(encoder, plain.tokenizer).embed(TEXTS[:4]), expected, atol=1e-5)
    assert SentenceEncoder(plain.encoder.bert, layers=(2, -1)).layers == ()
    with pytest.raises(ValueError, match="layers are 0"):
        SentenceEncoder(plain.encoder.bert, layers=(3,))


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("3_Dense/config.json", '{"activation_function": "torch.nn.modules.activation.Tanh"}', "without an activation"),
        ("3_Dense/config.json", '{"activation_function": "torch.nn.modules.linear.Identity"}', "with its bias"),
        ("3_Dense/model.safetensors", "x", "cannot be read"),
        ("1_WeightedLayerPooling/config.json", '{"layer_start": 9}', "must be a layer from 0 to 2"),
        ("1_WeightedLayerPooling/config.json", '{"layer_start": 1}', r"must have the shape \(2,\)"),
    ],
)
def test_files_that_are_not_whitening_are_refused(small_checkpoint, tmp_path, file, content, why):
    from minibert.checkpoint import CheckpointError

    SentenceVectors.from_directory(small_checkpoint, layers=(0,)).whitened(TEXTS, 4).save(tmp_path)
    (tmp_path / file).write_text(content)
    with pytest.raises(CheckpointError, match=why):
        SentenceVectors.from_directory(tmp_path)
