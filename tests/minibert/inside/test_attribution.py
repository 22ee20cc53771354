"""Attributions against autograd by hand, the papers' formulas, captum, enumeration, shap, and worked examples."""

import math
from itertools import permutations, product

import numpy as np
import pytest
import torch
from captum.attr import IntegratedGradients
from scipy.stats import spearmanr

from minibert.inside.explanations import attribution
from minibert.inside.explanations.attributed_blanks import AttributedBlank
from minibert.inside.explanations.attribution import (
    METHODS,
    REPLACEMENTS,
    Case,
    attributions,
    nothing_left,
    probability,
    rollout,
)
from minibert.model import Batch

TEXT = "the film, was not bad"


@pytest.fixture(scope="module")
def case(answering):
    return Case.of(answering("classification"), TEXT)


def test_words_are_what_stands_between_spaces(case, letters):
    assert [word.text for word in case.words] == ["the", "film,", "was", "not", "bad"]
    assert all(TEXT[word.start :].startswith(word.text) for word in case.words)
    places = [place for word in case.words for place in word.places]
    assert places == list(range(1, len(case.features.ids) - 1))  # every token but [CLS] and [SEP], once
    assert len(case.words[0].places) == 3  # the test vocabulary spells

    def words(text):
        return [word.text for word in attribution.words_of(letters.encode(text), [text])]

    assert words("我喜欢 nlp吗？") == ["我", "喜", "欢", "nlp", "吗", "？"]
    cleaned = "co\u00adoperate cafe\u0301s now"  # a soft hyphen; an accent written after its letter
    assert words(cleaned) == cleaned.split()


def test_a_pair_and_metadata_beside_the_text(answering):
    case = Case.of(answering("pair"), {"text": "a dog", "pair": "no dog"})
    assert [(word.text, word.segment) for word in case.words] == [("a", 0), ("dog", 0), ("no", 1), ("dog", 1)]
    assert all(np.isfinite(value).all() for value in attributions(case, "cut", steps=4).values())
    beside = answering("classification", metadata=("kind",), metadata_values={"kind": ["x", "y"]})
    case = Case.of(beside, "a bad film")
    assert case.features.metadata == (0,) and np.isfinite(attribution.gradient_times_input(case)).all()


def test_the_class_is_the_likeliest_unless_asked_and_log_odds_are_those_of_the_softmax(case):
    (answer,) = case.predictor.predict([TEXT])
    assert case.label == answer["label"]
    assert probability(case.score) == pytest.approx(answer["probabilities"][case.label], abs=0.02)  # bfloat16 there
    other = Case.of(case.predictor, TEXT, next(label for label in case.predictor.labels if label != case.label))
    assert other.label != case.label
    assert rollout(other) == pytest.approx(rollout(case))  # which never looks at the class
    logits = torch.tensor([[0.3, -1.0, 2.0], [5.0, 1.0, 0.0]])
    odds, p = attribution.log_odds(logits, 1), logits.softmax(1)[:, 1]
    torch.testing.assert_close(odds, (p / (1 - p)).log())
    assert probability(odds.numpy()) == pytest.approx(p.numpy())


@pytest.mark.parametrize(
    ("task", "given", "target"),
    [("classification", " ", None), ("classification", "a", "never"), ("similarity", {"text": "a", "pair": "b"}, None)],
)
def test_what_cannot_be_explained_is_refused(answering, task, given, target):
    with pytest.raises(ValueError, match=r"no word|no class|not for"):
        Case.of(answering(task), given, target)


def test_what_stands_in_for_a_word(case):
    tokenizer = case.predictor.tokenizer
    gone = [False, True, False, False, False]
    places = set(case.words[1].places)
    for replacement, token in (("mask", tokenizer.mask_id), ("pad", tokenizer.pad_id)):
        ids = case.without(gone, replacement).ids
        assert [i for i, (a, b) in enumerate(zip(ids, case.features.ids, strict=True)) if a != b] == sorted(places)
        assert {ids[i] for i in places} == {token}
    assert Case.of(case.predictor, "the was not bad").features.ids == case.without(gone, "cut").ids
    with pytest.raises(ValueError, match="mask, pad, cut"):
        case.without(gone, "hole")


def test_batches_and_padding_change_no_value(case, monkeypatch):
    present = np.array([[True] * 5, [True, False, True, True, False], [False] * 5])
    together = case.values(present, "cut")
    monkeypatch.setattr(attribution, "TOKENS_AT_ONCE", 1)
    assert case.values(present, "cut") == pytest.approx(together, abs=1e-5)
    assert together[0] == pytest.approx(case.score, abs=1e-5)
    without = Case.of(case.predictor, "the was not bad", case.label)
    assert case.values(np.arange(5)[None] != 1, "cut")[0] == pytest.approx(without.score, abs=1e-5)


def test_gradient_times_input_by_hand(case):
    """Through the model's ordinary forward pass, with the gradient taken at the embedding table."""
    model = case.predictor.model
    ids, kept = torch.tensor([case.features.ids]), {}

    def watch(name, x):
        if name == "embeddings.token":
            x.retain_grad()
            kept["vectors"] = x
        return x

    logits = model(Batch(ids, torch.tensor([case.features.segments])), watch).logits[0]
    others = [i for i in range(len(logits)) if i != case.target]
    score = logits[case.target] - logits[others].logsumexp(0)
    score.backward()
    model.zero_grad()
    by_token = (kept["vectors"].grad * model.bert.embeddings.token.weight[ids]).sum(-1)[0].detach()
    expected = [float(by_token[list(word.places)].sum()) for word in case.words]
    assert attribution.gradient_times_input(case) == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert float(score) == pytest.approx(case.score, abs=1e-5)
    assert any(abs(value) > 1e-3 for value in expected)


def test_methods_answer_in_the_same_words_leave_nothing_on_the_model_and_agree_by_spearman(case):
    values = attributions(case)
    assert tuple(values) == METHODS and {value.shape for value in values.values()} == {(len(case.words),)}
    assert all(weight.grad is None for weight in case.predictor.model.parameters())
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in case.predictor.model.modules())
    found = attribution.agreement(values)  # is Spearman's
    for (i, a), (j, b) in product(enumerate(values), repeat=2):
        x, y = (np.abs(values[a]), np.abs(values[b])) if "rollout" in (a, b) else (values[a], values[b])
        assert found[i, j] == pytest.approx(spearmanr(x, y).statistic, abs=1e-5)
    assert np.isnan(attribution.agreement({name: value[:2] for name, value in values.items()})[0, 1])


def ten_line_sum(case, replacement, steps):
    """Integrated gradients with midpoints, as the paper's equation 3 reads."""
    x, baseline = attribution.token_vectors(case), attribution.baseline_vectors(case, replacement)
    total = torch.zeros_like(x)
    for k in range(steps):
        at = (baseline + (k + 0.5) / steps * (x - baseline)).requires_grad_()
        total += torch.autograd.grad(attribution.from_vectors(case, at).sum(), at)[0]
    return case.per_word(((x - baseline) * total / steps).sum(-1)[0])


@pytest.mark.parametrize("replacement", REPLACEMENTS)
def test_a_word_left_out_is_a_fall_and_all_words_add_up_to_the_fall_of_all(case, replacement):
    fall = [case.score - float(case.values(np.arange(5)[None] != i, replacement)[0]) for i in range(5)]
    assert attribution.leave_one_out(case, replacement) == pytest.approx(fall, abs=1e-5)
    found = attribution.integrated_gradients(case, replacement, steps=128)
    assert found.score == pytest.approx(case.score, abs=1e-5)
    assert found.start == pytest.approx(nothing_left(case, replacement, gradients=True))
    assert found.values == pytest.approx(ten_line_sum(case, replacement, 128), rel=1e-3, abs=1e-5)
    assert found.values.sum() == pytest.approx(found.score - found.start, abs=2e-3)
    assert found.error == pytest.approx(abs(found.values.sum() - (found.score - found.start)))
    assert abs(found.score - found.start) > 0.01  # else nothing is shown
    nothing = nothing_left(case, replacement, gradients=False)
    assert attribution.shapley(case, replacement).sum() == pytest.approx(case.score - nothing, abs=1e-4)


@pytest.mark.parametrize("rule", ["riemann_middle", "gausslegendre"])
@pytest.mark.parametrize("replacement", REPLACEMENTS)
def test_integrated_gradients_are_those_of_captum(case, replacement, rule, monkeypatch):
    captum = IntegratedGradients(lambda vectors: attribution.from_vectors(case, vectors))
    vectors, baseline = attribution.token_vectors(case), attribution.baseline_vectors(case, replacement)
    per_number = captum.attribute(vectors, baselines=baseline, n_steps=11, method=rule)
    monkeypatch.setattr(attribution, "TOKENS_AT_ONCE", 3 * vectors.size(1))  # 11 points in four parts
    found = attribution.integrated_gradients(case, replacement, steps=11, rule=rule).values
    assert found == pytest.approx(case.per_word(per_number.sum(-1)[0].detach()), abs=1e-5)


def test_the_path_goes_from_what_the_model_would_read_to_what_it_reads(case):
    for replacement in ("mask", "pad"):
        read = nothing_left(case, replacement, gradients=False)
        assert nothing_left(case, replacement, gradients=True) == pytest.approx(read, abs=1e-5)
    zero = attribution.baseline_vectors(case, "cut")[0]
    assert zero[1:-1].abs().sum() == 0
    torch.testing.assert_close(zero[[0, -1]], attribution.token_vectors(case)[0, [0, -1]])
    path = attribution.along_the_path(case, "mask", 401)
    assert path[-1] == pytest.approx(case.score, abs=1e-5)
    assert path[0] == pytest.approx(nothing_left(case, "mask", gradients=True), abs=1e-5)
    backward = (path[-1] - path[-2]) * 400
    assert attribution.slope_at_the_end(case, "mask") == pytest.approx(backward, rel=0.05, abs=1e-2)
    errors = attribution.completeness_errors(case, "mask", (2, 8, 32), "riemann_middle")
    assert errors[0] > errors[1] > errors[2]


def test_rollout_of_a_worked_example_and_as_shares_of_one(case, answering):
    """Two heads whose mean is known; two layers, multiplied by hand."""
    first = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])  # mean [[½, ½], [0, 1]]
    second = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]])
    # ½ mean + ½ I: [[¾, ¼], [0, 1]] and [[½, ½], [½, ½]]; their product, the later one on the left:
    expected = torch.tensor([[0.375, 0.625], [0.375, 0.625]])
    torch.testing.assert_close(attribution.rolled_out([first, second]), expected)
    assert not torch.allclose(attribution.rolled_out([second, first]), expected)
    values = rollout(case)
    assert (values > 0).all() and 0.2 < values.sum() < 1
    assert not np.allclose(rollout(Case.of(answering("classification", pooling="mean"), TEXT)), values)


def test_exact_shapley_is_the_mean_over_all_orders():
    worth = np.random.default_rng(0).normal(size=16)
    by_orders = np.zeros(4)
    for order in permutations(range(4)):
        number = 0
        for player in order:
            by_orders[player] += worth[number + 2**player] - worth[number]
            number += 2**player
    found = attribution.exact_shapley(lambda present: worth[present @ (2 ** np.arange(4))], 4)
    assert found == pytest.approx(by_orders / math.factorial(4))
    either = attribution.exact_shapley(lambda present: present[:, :2].any(1).astype(float), 3)
    assert either == pytest.approx([0.5, 0.5, 0.0])  # two that each suffice share the credit


@pytest.mark.release
def test_shap_comes_near_enumeration(case, monkeypatch):
    exact = attribution.shapley(case)
    monkeypatch.setattr(attribution, "EXACT_WORDS", 0)
    sampled = attribution.shapley(case, permutations=400)
    assert sampled.sum() == pytest.approx(exact.sum(), abs=1e-4)
    assert sampled == pytest.approx(exact, abs=0.1 * np.abs(exact).max() + 1e-3)
    few, again = (attribution.shapley(case, permutations=2) for _ in range(2))
    assert few == pytest.approx(again)  # seeded


def test_the_deletion_test_takes_the_best_word_first(case):
    values = {"a": np.array([0.1, 3.0, -1.0, 0.2, 0.0]), "b": np.arange(5.0)}
    test = attribution.deletion_test(case, values, orders=4, seed=1)
    left = np.array([[word not in [1, 3, 0, 4, 2][:k] for word in range(5)] for k in range(6)])
    assert test.methods["a"] == pytest.approx(probability(case.values(left)), abs=1e-5)
    assert test.random.shape == (4, 6)
    ends = [*(curve[[0, -1]] for curve in test.methods.values()), *test.random[:, [0, -1]]]
    assert all(end == pytest.approx(ends[0], abs=1e-5) for end in ends)
    assert test.fall("a") == pytest.approx(np.mean(test.methods["a"][0] - test.methods["a"]))
    assert len(test.random_falls) == 4


@pytest.fixture
def blank(model, letters):
    return AttributedBlank.at(model, letters, "a dog [MASK] home.")


def test_a_guess_is_the_likeliest_token_at_the_blank(model, letters, blank):
    assert [word.text for word in blank.words] == ["a", "dog", "home."]  # the blank is what is asked
    place = blank.features.ids.index(letters.mask_id)
    with torch.inference_mode():
        wanted = model(Batch(torch.tensor([blank.features.ids]))).mlm_logits[0, place].softmax(-1)
    assert blank.label == letters.vocab[int(wanted.argmax())] == blank.likeliest(3)[0]
    assert probability(blank.score) == pytest.approx(float(wanted.max()), rel=1e-4)
    assert AttributedBlank.at(model, letters, "a dog [MASK] home.", "b").label == "b"
    values = attributions(blank, steps=128)
    assert tuple(values) == METHODS and all(len(value) == 3 for value in values.values())
    start = nothing_left(blank, "mask", gradients=False)
    assert values["shapley"].sum() == pytest.approx(blank.score - start, abs=1e-4)
    start = nothing_left(blank, "mask", gradients=True)
    assert values["integrated"].sum() == pytest.approx(blank.score - start, abs=0.02)


@pytest.mark.parametrize("replacement", REPLACEMENTS)
def test_a_guess_is_read_at_the_blank_wherever_it_moves(model, letters, blank, replacement):
    gone = [True, False, True]
    row = blank.without(gone, replacement)
    place = row.ids.index(letters.mask_id) if replacement == "cut" else blank.place
    with torch.inference_mode():
        logits = model(Batch(torch.tensor([row.ids]))).mlm_logits[:, place]
    value = blank.values(~np.array([gone, [False] * 3]), replacement)[0]
    assert value == pytest.approx(float(attribution.log_odds(logits, blank.target)), abs=1e-4)


@pytest.mark.parametrize("given", [("a dog",), ("[MASK] a [MASK]",), ("[MASK]",), ("a [MASK]", "never seen")])
def test_what_is_no_guess_is_refused(model, letters, given):
    with pytest.raises(ValueError, match=r"are 0|are 2|no word|no token"):
        AttributedBlank.at(model, letters, *given)
