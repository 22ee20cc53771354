"""Which words a classifier's prediction depends on: five attribution methods, and a deletion test that compares them.

They explain the log-odds of a class, log p − log(1 − p): for two classes the difference of the logits. Attributions are
in that unit, per word: pieces of a word are summed. Only attention rollout has no unit: it gives shares.

REPLACEMENTS are what can take the place of a removed word: "mask" and "pad" are those tokens, attended to like any
other; "cut" shortens the sequence, and for gradient methods, which cannot, puts a zero vector there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from minibert.finetune.predictor import Predictor
from minibert.inside.explanations.interventions import repeated
from minibert.inside.geometry.vectors import encoder_of
from minibert.model import Batch, Bert, Tap, no_tap
from minibert.tasks.features import Features
from minibert.tasks.sequences import ClassTask
from minibert.text.characters import is_cjk
from minibert.tokenizer import Encoding, Tokenizer
from minibert.training.statistics import rank_correlation

METHODS = ("gradient", "integrated", "leave_one_out", "shapley", "rollout")
REPLACEMENTS = ("mask", "pad", "cut")
EXACT_WORDS = 10  # up to here all 2ⁿ subsets are evaluated; beyond, Shapley values are sampled
TOKENS_AT_ONCE = 2**13


@dataclass(frozen=True)
class WordSpan:
    """A word as written in the text (a character, in Chinese). start: offset in its text · places: of its tokens."""

    text: str
    segment: int
    start: int
    places: tuple[int, ...]


def words_of(encoding: Encoding, texts: Sequence[str]) -> list[WordSpan]:
    """Words between spaces, and each Chinese character alone; [CLS] and [SEP] belong to no word."""
    words: list[WordSpan] = []
    end = None  # (segment, offset) where the word before ends
    for place, (start, stop) in enumerate(encoding.offsets):
        segment = encoding.segments[place]
        if encoding.words[place] is None:
            end = None
            continue
        text = texts[segment]
        before_end = end[1] if end and end[0] == segment else start  # what cleaning removed may lie between, as accents
        spaced = not end or end[0] != segment or re.search(r"\s", text[before_end:start])
        if not spaced and not is_cjk(text[start]) and not is_cjk(text[before_end - 1]):
            before = words.pop()
            words.append(WordSpan(text[before.start : stop], segment, before.start, (*before.places, place)))
        else:
            words.append(WordSpan(text[start:stop], segment, start, (place,)))
        end = (segment, stop)
    return words


@dataclass(frozen=True)
class Case:
    """One prediction to explain: the model's input, its words, and the class."""

    predictor: Predictor
    features: Features
    encoding: Encoding
    words: tuple[WordSpan, ...]
    target: int

    @classmethod
    def of(cls, predictor: Predictor, given: str | Mapping, target: str | None = None) -> Case:
        """given: as for `Predictor.predict` · target: a class, by default the likeliest. ValueError for other tasks,
        for an unknown class, and for a text without words."""
        task, options = predictor.task, predictor.options
        if not isinstance(task, ClassTask):
            raise ValueError(f"attribution is for tasks that answer with a class, not for {task.name!r}")
        example = task.example(given)
        features = replace(predictor.features([example])[0], target=None)
        texts = task.inputs(example)
        encoding = predictor.tokenizer.encode(
            *texts, max_length=options.max_length, truncation=options.truncation, budgets=options.budgets
        )
        if list(encoding.ids) != list(features.ids):
            raise ValueError("this model reads more than the text in its row: its words cannot be told apart here")
        words = words_of(encoding, texts)
        if not words:
            raise ValueError("there is no word to explain")
        case = cls(predictor, features, encoding, tuple(words), 0)
        labels = list(predictor.labels)
        if target is not None and target not in labels:
            raise ValueError(f"the model has no class {target!r}; it has {', '.join(labels)}")
        best = int(case.logits([features])[0].argmax()) if target is None else labels.index(target)
        return replace(case, target=best)

    # Overridden for other kinds of predictions: see attributed_blanks.

    @property
    def labels(self) -> Sequence[str]:
        """The classes, in the order of `logits`."""
        return self.predictor.labels

    @property
    def tokenizer(self) -> Tokenizer:
        return self.predictor.tokenizer

    @property
    def bert(self) -> Bert:
        return encoder_of(self.predictor.model)

    def batch(self, rows: Sequence[Features]) -> Batch:
        return self.predictor.task.batch(rows, self.tokenizer.pad_id)

    def answers(self, batch: Batch, tap: Tap = no_tap) -> Tensor:
        """The logits of variants of this input: (B, classes) float32."""
        return self.predictor.model(batch, tap).logits.float()

    def read_at(self, length: int) -> list[int]:
        """Positions whose last hidden states the prediction is computed from."""
        return [0] if self.predictor.options.pooling == "cls" else list(range(length))

    # Common to all kinds.

    @property
    def label(self) -> str:
        return self.labels[self.target]

    @cached_property
    def score(self) -> float:
        """The log-odds of the class for the whole input."""
        return float(self.values(np.ones((1, len(self.words)), dtype=bool))[0])

    def logits(self, rows: Sequence[Features]) -> Tensor:
        """(N, classes) float32, in order."""
        size = max(1, TOKENS_AT_ONCE // max(row.length for row in rows))
        with torch.inference_mode():
            parts = [self.answers(self.batch(rows[i : i + size])) for i in range(0, len(rows), size)]
        return torch.cat(parts)

    def without(self, gone: Sequence[bool], replacement: str) -> Features:
        """The model's input with the words that are `gone` removed."""
        places = {place for word, away in zip(self.words, gone, strict=True) if away for place in word.places}
        ids, segments = self.features.ids, self.features.segments
        if replacement == "cut":
            kept = [i for i in range(len(ids)) if i not in places]
            return replace(self.features, ids=[ids[i] for i in kept], segments=[segments[i] for i in kept])
        token = self.stand_in(replacement)
        return replace(self.features, ids=[token if i in places else ids[i] for i in range(len(ids))])

    def stand_in(self, replacement: str) -> int:
        if replacement not in REPLACEMENTS:
            raise ValueError(f"what stands in for a word is one of {', '.join(REPLACEMENTS)}, not {replacement!r}")
        return self.tokenizer.mask_id if replacement == "mask" else self.tokenizer.pad_id

    def values(self, present: np.ndarray, replacement: str = "mask") -> np.ndarray:
        """The log-odds with only some words present. present: (N, words) bool → (N,) float64."""
        different, back = np.unique(present, axis=0, return_inverse=True)
        logits = self.logits([self.without(~row, replacement) for row in different])
        return log_odds(logits, self.target).double().numpy()[back.reshape(-1)]

    def per_word(self, per_token: Tensor) -> np.ndarray:
        """(T,) → (words,): each word the sum of its tokens."""
        return np.array([float(per_token[list(word.places)].double().sum()) for word in self.words])


def log_odds(logits: Tensor, target: int) -> Tensor:
    """log p − log(1 − p) of a class. logits: (N, classes) → (N,)."""
    others = logits.index_fill(1, torch.tensor(target), -math.inf)
    return logits[:, target] - others.logsumexp(1)


def probability(score: np.ndarray) -> np.ndarray:
    """The probability for log-odds."""
    return 1 / (1 + np.exp(-np.asarray(score)))


# --- gradients --------------------------------------------------------------------------------------------------------


def from_vectors(case: Case, vectors: Tensor) -> Tensor:
    """The log-odds with these in place of the input's token embeddings. vectors: (N, T, H) → (N,), differentiable.

    A tap inserts them: hooks would act in the sessions of others, who share the model."""
    batch = repeated(case.batch([case.features]), len(vectors))
    logits = case.answers(batch, lambda name, x: vectors if name == "embeddings.token" else x)
    return log_odds(logits, case.target)


def token_vectors(case: Case) -> Tensor:
    """The token embeddings of the input: (1, T, H)."""
    return case.bert.embeddings.get_parameter("token.weight")[torch.tensor([list(case.features.ids)])].detach()


def baseline_vectors(case: Case, replacement: str) -> Tensor:
    """`token_vectors` with every word replaced; [CLS] and [SEP] stay. (1, T, H)."""
    vectors = token_vectors(case).clone()
    places = [place for word in case.words for place in word.places]
    if replacement == "cut":
        vectors[:, places] = 0.0
    else:
        vectors[:, places] = case.bert.embeddings.get_parameter("token.weight")[case.stand_in(replacement)].detach()
    return vectors


def gradient_times_input(case: Case) -> np.ndarray:
    """∂score/∂vector · vector, summed over the H numbers of each token (Shrikumar et al. 2016) → (words,)."""
    vectors = token_vectors(case).requires_grad_()
    with torch.enable_grad():
        (gradient,) = torch.autograd.grad(from_vectors(case, vectors).sum(), vectors)  # (1, T, H)
    return case.per_word((gradient * vectors.detach()).sum(-1)[0])


@dataclass(frozen=True)
class Integrated:
    """Integrated gradients of one input. values: (words,) · start: the score of the baseline · score: of the input."""

    values: np.ndarray
    start: float
    score: float

    @property
    def error(self) -> float:
        """How far the sum is from what it must be, score − start (completeness, Sundararajan et al. 2017, §3)."""
        return float(abs(self.values.sum() - (self.score - self.start)))


def points_of(rule: str, steps: int) -> tuple[Tensor, Tensor]:
    """(places, weights), (steps,) each, of a sum that approximates the integral from 0 to 1."""
    if rule == "riemann_middle":
        return (torch.arange(steps) + 0.5) / steps, torch.full((steps,), 1 / steps)
    if rule == "gausslegendre":
        places, weights = map(torch.from_numpy, np.polynomial.legendre.leggauss(steps))  # from −1 to 1
        return ((1 + places) / 2).float(), (weights / 2).float()
    raise ValueError(f"unknown rule {rule!r}")


def integrated_gradients(
    case: Case, replacement: str = "mask", *, steps: int = 32, rule: str = "riemann_middle"
) -> Integrated:
    """(x − baseline) · the mean gradient on the straight line between them (Sundararajan et al. 2017, equation 1).

    rule: how `points_of` places and weighs the `steps` points, "riemann_middle" or "gausslegendre"."""
    vectors, baseline = token_vectors(case), baseline_vectors(case, replacement)
    mean, at_once = torch.zeros_like(vectors), max(1, TOKENS_AT_ONCE // vectors.size(1))
    for share, weight in zip(*(part.view(-1, 1, 1).split(at_once) for part in points_of(rule, steps)), strict=True):
        points = (baseline + share * (vectors - baseline)).requires_grad_()  # (n, T, H)
        with torch.enable_grad():
            (gradient,) = torch.autograd.grad(from_vectors(case, points).sum(), points)
        mean += (weight * gradient).sum(0)
    per_token = ((vectors - baseline) * mean).sum(-1)[0]  # (T,)
    start, score = along_the_path(case, replacement, 2)
    return Integrated(case.per_word(per_token), float(start), float(score))


def along_the_path(case: Case, replacement: str = "mask", points: int = 41) -> np.ndarray:
    """The score at `points` even steps from the baseline to the input, both included: (points,)."""
    vectors, baseline = token_vectors(case), baseline_vectors(case, replacement)
    share = torch.linspace(0, 1, points)[:, None, None]
    with torch.inference_mode():
        return from_vectors(case, baseline + share * (vectors - baseline)).double().numpy()


def slope_at_the_end(case: Case, replacement: str = "mask") -> float:
    """Slope of the score at the end of the path, the input: ∂score/∂vector · (x − baseline)."""
    vectors, baseline = token_vectors(case), baseline_vectors(case, replacement)
    share = torch.ones(1, 1, 1, requires_grad=True)
    with torch.enable_grad():
        score = from_vectors(case, baseline + share * (vectors - baseline))
        return float(torch.autograd.grad(score.sum(), share)[0])


def completeness_errors(case: Case, replacement: str, steps: Sequence[int], rule: str) -> list[float]:
    """The error of integrated gradients with each number of steps."""
    return [integrated_gradients(case, replacement, steps=count, rule=rule).error for count in steps]


def nothing_left(case: Case, replacement: str, *, gradients: bool) -> float:
    """The score without any word. gradients: at `baseline_vectors`; otherwise of the input with all words removed."""
    if gradients:
        return float(along_the_path(case, replacement, 2)[0])
    return float(case.values(np.zeros((1, len(case.words)), dtype=bool), replacement)[0])


# --- attention --------------------------------------------------------------------------------------------------------


def rolled_out(probs: Sequence[Tensor]) -> Tensor:
    """Attention rollout (Abnar and Zuidema 2020, §3): Π (½ mean over heads + ½ I), the last layer on the left.

    probs: one (A, T, T) per layer, rows sum to 1 → (T, T), row i: the share of each input in position i."""
    total = torch.eye(probs[0].size(-1), dtype=probs[0].dtype)
    for layer in probs:
        total = (layer.mean(0) + torch.eye(layer.size(-1), dtype=layer.dtype)) / 2 @ total
    return total


def rollout(case: Case) -> np.ndarray:
    """Rollout to the positions of `read_at`: the row of [CLS], or of a [MASK], or with pooling the mean of all rows.

    → (words,), shares of 1, none negative, the same for every class; those of [CLS] and [SEP] are left out."""
    probs: list[Tensor] = []

    def watch(name: str, x: Tensor) -> Tensor:
        if name.endswith(".attn.probs"):
            probs.append(x[0].double())
        return x

    with torch.inference_mode():
        case.answers(case.batch([case.features]), watch)
        total = rolled_out(probs)
        row = total[case.read_at(len(total))].mean(0)  # (T,)
    return case.per_word(row)


# --- taking words away ------------------------------------------------------------------------------------------------


def leave_one_out(case: Case, replacement: str = "mask") -> np.ndarray:
    """How far the score falls when this word alone is taken away → (words,)."""
    words = len(case.words)
    return case.score - case.values(~np.eye(words, dtype=bool), replacement)


def shapley(case: Case, replacement: str = "mask", *, permutations: int = 10, seed: int = 0) -> np.ndarray:
    """What a word adds, averaged over every order in which the words could come (Shapley 1953) → (words,).

    Up to EXACT_WORDS words: all subsets. More: `permutations` orders, each forwards and backwards, with `shap`
    (Lundberg and Lee 2017). Either way the sum is score − score without any word."""
    words = len(case.words)
    if words <= EXACT_WORDS:
        return exact_shapley(lambda present: case.values(present, replacement), words)
    import shap

    explainer = shap.explainers.Permutation(
        lambda rows: case.values(rows > 0.5, replacement), shap.maskers.Independent(np.zeros((1, words))), seed=seed
    )
    return explainer(np.ones((1, words)), max_evals=permutations * (2 * words + 1), silent=True).values[0]


def exact_shapley(value: Callable[[np.ndarray], np.ndarray], players: int) -> np.ndarray:
    """Σ over subsets S without i of |S|! (n − |S| − 1)! / n! · (v(S + i) − v(S)) → (players,).

    value: (N, players) bool → (N,), called once with all 2ⁿ subsets."""
    number = np.arange(2**players)
    present = (number[:, None] >> np.arange(players)) & 1  # (2ⁿ, n)
    worth, size = value(present.astype(bool)), present.sum(1)
    weight = np.array([math.factorial(s) * math.factorial(players - s - 1) for s in range(players)])
    weight = weight / math.factorial(players)
    result = np.empty(players)
    for i in range(players):
        without = number[present[:, i] == 0]
        result[i] = (weight[size[without]] * (worth[without + 2**i] - worth[without])).sum()
    return result


# --- methods side by side ---------------------------------------------------------------------------------------------


def attributions(case: Case, replacement: str = "mask", *, steps: int = 32, seed: int = 0) -> dict[str, np.ndarray]:
    """Every method's values, (words,) each, in the order of METHODS."""
    return {
        "gradient": gradient_times_input(case),
        "integrated": integrated_gradients(case, replacement, steps=steps).values,
        "leave_one_out": leave_one_out(case, replacement),
        "shapley": shapley(case, replacement, seed=seed),
        "rollout": rollout(case),
    }


def agreement(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Spearman's ρ between the methods' rankings of the words: (methods, methods), NaN for fewer than three words.

    Rollout has no sign: it is compared with the others' absolute values."""
    names = list(values)
    result = np.eye(len(names))
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if i != j:
                x, y = torch.as_tensor(values[a]), torch.as_tensor(values[b])
                result[i, j] = rank_correlation(*((x.abs(), y.abs()) if "rollout" in (a, b) else (x, y)))
    return result


@dataclass(frozen=True)
class Deletion:
    """The probability of the class as words are taken away, none … all. methods: (words + 1,) each, the word with the
    highest value first · random: (orders, words + 1)."""

    methods: dict[str, np.ndarray]
    random: np.ndarray

    def fall(self, name: str) -> float:
        """The mean over the curve of how far it lies below its start: higher is a better ranking (Samek et al. 2017,
        equation 12)."""
        return fall(self.methods[name])

    @property
    def random_falls(self) -> np.ndarray:
        """(orders,)"""
        return np.array([fall(curve) for curve in self.random])


def fall(curve: np.ndarray) -> float:
    return float(np.mean(curve[0] - curve))


def deletion_test(
    case: Case, values: Mapping[str, np.ndarray], replacement: str = "mask", *, orders: int = 20, seed: int = 0
) -> Deletion:
    """Take the words away in each method's order, and in `orders` random ones."""
    rng = np.random.default_rng(seed)
    words = len(case.words)
    rows = [np.argsort(-value, kind="stable") for value in values.values()]
    rows += [rng.permutation(words) for _ in range(orders)]
    rank = np.array([np.argsort(order) for order in rows])  # (rows, words): the step that removes each word
    present = rank[:, None, :] >= np.arange(words + 1)[None, :, None]  # (rows, words + 1, words)
    curves = probability(case.values(present.reshape(-1, words), replacement)).reshape(len(rows), words + 1)
    return Deletion(dict(zip(values, curves, strict=False)), curves[len(values) :])
