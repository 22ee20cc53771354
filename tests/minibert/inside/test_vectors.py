"""Vectors and angles: against transformers' hidden states, scikit-learn and scipy."""

import numpy as np
import pytest
import torch
import transformers
from scipy.stats import spearmanr
from sklearn.metrics import silhouette_score
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from minibert.inside.geometry import vectors
from minibert.inside.geometry.vectors import agreement, closest_pair, cosine_matrix, nearest, separability, word_overlap

TEXTS = ["dog bit man", "a", "the cat sat on the mat, then left", "cab"]


def test_sentences_and_words_are_transformers_hidden_states_pooled(small_checkpoint, loaded):
    model = transformers.AutoModel.from_pretrained(small_checkpoint).eval()
    with torch.no_grad():
        rows = [torch.tensor([loaded[1].encode(text).ids]) for text in TEXTS]
        theirs = [torch.cat(model(row, output_hidden_states=True).hidden_states).numpy() for row in rows]  # (L+1, T, H)
    ours = vectors.sentence_vectors(*loaded, TEXTS)
    for number, hidden in enumerate(theirs):
        for pooling, wanted in {"cls": hidden[:, 0], "mean": hidden.mean(1), "max": hidden.max(1)}.items():
            np.testing.assert_allclose(ours[pooling][:, number], wanted, atol=2e-5)
    spans = [[(4, 7), (0, 3)], [], [(4, 7)], [(0, 3)]]
    ours = vectors.span_vectors(*loaded, TEXTS, spans)
    assert ours.shape == (3, 4, 32)
    expected = [theirs[0][:, 4:7], theirs[0][:, 1:4], theirs[2][:, 4:7], theirs[3][:, 1:4]]  # a piece a letter
    for place, hidden in enumerate(expected):
        np.testing.assert_allclose(ours[:, place], hidden.mean(1), atol=2e-5)


def test_what_is_not_read_is_nan(loaded):
    long = "a" * 30 + " " + "b" * 40 + " c"  # 64 positions end within the second word
    ours = vectors.span_vectors(*loaded, [long, "a \x00 b"], [[(0, 30), (72, 73)], [(2, 3)]])
    assert np.isnan(ours[0]).all(-1).tolist() == [False, True, True]


def test_the_cosine_matrix_is_scikit_learns():
    x = np.random.default_rng(0).normal(size=(7, 5))
    np.testing.assert_allclose(cosine_matrix(x), cosine_similarity(x), atol=1e-12)
    assert cosine_matrix(np.zeros((2, 3))).tolist() == [[0, 0], [0, 0]]
    assert closest_pair(np.array([[1, 0.2, -0.5], [0.2, 1, 0.9], [-0.5, 0.9, 1]])) == (1, 2)
    assert closest_pair(-np.ones((4, 4))) == (0, 1)


def test_the_nearest_alike_are_those_of_scikit_learns_classifier():
    rng = np.random.default_rng(1)
    x, labels = rng.normal(size=(20, 6)), rng.choice(["a", "b", "c"], 20)
    near = NearestNeighbors(n_neighbors=2, metric="cosine").fit(x).kneighbors(x, return_distance=False)[:, 1]
    assert vectors.nearest_alike(x, labels).tolist() == (labels[near] == labels).tolist()
    points = np.array([[1.0, 0], [0.9, 0.1], [0, 1], [-1, 0]])
    assert [i for i, _ in nearest(points, points[0], 2, leave_out=0)] == [1, 2]
    assert nearest(points, points[0] * 7, 1)[0] == (0, pytest.approx(1.0))
    assert len(nearest(points, points[0], 9, leave_out=0)) == 3


def test_mean_cosine_is_that_of_all_pairs_and_anisotropy_what_goes_with_the_mean():
    points = np.random.default_rng(0).normal(size=(9, 5)) + 1
    pairs = cosine_similarity(points)[~np.eye(9, dtype=bool)]
    assert vectors.mean_cosine(points) == pytest.approx(pairs.mean(), abs=1e-12)
    with pytest.raises(ValueError, match="two"):
        vectors.mean_cosine(points[:1])
    spread = np.random.default_rng(0).normal(size=(400, 30))
    assert abs(vectors.anisotropy(spread).plain) < 0.01
    narrow = vectors.anisotropy(spread + 5)
    assert narrow.plain > 0.9 and narrow.strongest > 0.9 and abs(narrow.centred) < 0.01


def test_separability_is_scikit_learns():
    rng = np.random.default_rng(1)
    labels = ["a"] * 7 + ["b"] * 8
    points = rng.normal(size=(15, 6)) + np.array([[1.0] * 6] * 7 + [[0.2] * 6] * 8)
    ours = separability(points, labels)
    knn = KNeighborsClassifier(1, metric="cosine", algorithm="brute")
    assert ours.nearest == pytest.approx(cross_val_score(knn, points, labels, cv=LeaveOneOut()).mean())
    assert ours.silhouette == pytest.approx(silhouette_score(points, labels, metric="cosine"))
    assert ours.chance == pytest.approx((7 * 6 + 8 * 7) / (15 * 14))
    for bad in (["a"] * 15, list("abcdefghijklmno")):
        with pytest.raises(ValueError, match="tell apart"):
            separability(points, bad)


def test_a_token_is_nearest_to_its_own_embedding(loaded):
    model, tokenizer = loaded
    row = model.bert.embeddings.token.weight[tokenizer.ids["q"]].detach().numpy()
    found = vectors.nearest_tokens(model, tokenizer, row, 3)
    assert found[0][0] == "q" and found[0][1] > found[1][1]
    assert not any(token.startswith("[") for token, _ in found)


def test_agreement_is_spearmans_and_overlap_the_share_of_words_in_common():
    rng = np.random.default_rng(2)
    left, right, scores = rng.normal(size=(2, 12, 4)) + 1, rng.normal(size=(2, 12, 4)) + 1, rng.random(12)
    for layer in range(2):
        a, b = left[layer], right[layer]
        said = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
        assert agreement(left, right, scores)[layer] == pytest.approx(spearmanr(said, scores).statistic)
    assert agreement(left, right, scores) != agreement(left, right, scores, centre=True)
    assert agreement(np.ones((1, 12, 4)), np.ones((1, 12, 4)), scores) == [0.0]
    assert word_overlap([(["a", "b"], ["b", "c"]), ([], []), (["x"], ["x"])]) == [pytest.approx(1 / 3), 0.0, 1.0]
