"""Every question's own answer is right and its wrong answers are not, on many sheets; numbers against others'."""

import math
from dataclasses import fields

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from examination import compute, count, masks, mistake, order, predict
from examination.bank import load_bank
from examination.kinds import as_text, generate, mark
from examination.numbers import number_text, parse_number
from examination.open_question import OpenAnswer
from minibert.config import BertConfig
from minibert.count import parameters
from minibert.heads import BertForSequenceClassification
from minibert.model import Block, FeedForward, SelfAttention
from minibert.seq2seq.decoder import DecoderBlock
from ui.model_cache import load

SEEDS = 100
QUESTIONS = {question.id: question for part in load_bank() for question in part.questions}


@pytest.mark.parametrize("name", QUESTIONS)
def test_its_own_answer_is_right_and_its_wrong_answers_are_not(name):
    question = QUESTIONS[name]
    drawn = set()
    for seed in range(SEEDS):
        task = generate(question, seed)
        assert mark(task, task.right).right, (seed, task.right, mark(task, task.right).comments)
        assert task.wrong, seed
        for wrong in task.wrong:
            given = mark(task, wrong.answer)
            assert not given.right and given.comments, (seed, wrong)
            assert 0 <= given.points < given.of
        assert mark(task, None).points == 0 and not mark(task, None).right
        assert "{{" not in task.text + task.why
        assert as_text(task, task.right).strip() and as_text(task, None) == ""
        drawn.add(repr([getattr(task, field.name) for field in fields(task) if field.name != "question"]))
    assert len(drawn) > 2 or question.kind == "open", "every sheet has the same"
    assert generate(question, SEEDS - 1) == task  # a sheet's number decides everything


def matrix(given) -> np.ndarray:
    return np.array([[float(cell.replace("−", "-")) for cell in row] for row in given.cells])


def task_of(name: str, seed: int):
    return generate(QUESTIONS[name], seed)


@pytest.mark.parametrize("seed", range(5))
def test_attention_s_numbers_are_numpy_s_and_the_norm_s_is_torch_s(seed):
    task = task_of("attention-score", seed)
    q, k = map(matrix, task.given)
    scores = q @ k.T / math.sqrt(q.shape[1])
    assert np.isclose(scores, task.fields[0].value).any()
    for name, closed in (("attention-row", [-1]), ("attention-softmax", [])):
        task = task_of(name, seed)
        powers = np.exp(matrix(task.given[0])[0])
        powers[closed] = 0
        np.testing.assert_allclose([field.value for field in task.fields], powers / powers.sum(), atol=1e-9)
    task = task_of("attention-output", seed)
    weights, values = map(matrix, task.given)
    np.testing.assert_allclose([field.value for field in task.fields], (weights @ values)[0], atol=1e-6)
    task = task_of("residual-norm", seed)
    x, added, gain, bias = torch.tensor(matrix(task.given[0]))
    place = int(task.fields[0].label.split()[1]) - 1
    assert F.layer_norm(x + added, (4,), gain, bias, 1e-12)[place].item() == pytest.approx(task.fields[0].value)


def number(of: str, size: dict) -> int:
    counted = parameters(BertConfig(*(size[letter] for letter in "VHLAFP")))
    return count.COUNTED[of](counted, size)[0]


def test_counts_are_those_of_models_that_are_built():
    parts = {"attention": SelfAttention, "feed_forward": FeedForward, "block": Block, "decoder_block": DecoderBlock}
    with torch.device("meta"):
        for size in QUESTIONS["block-parameters"].settings.sizes:
            config = BertConfig(*(size[letter] for letter in "VHLAFP"))
            for of, part in parts.items():
                assert number(of, size) == sum(p.numel() for p in part(config).parameters())
            head = BertForSequenceClassification(config, [str(k) for k in range(size["K"])])
            new = [p.numel() for name, p in head.named_parameters() if not name.startswith("bert.")]
            assert number("classifier", size) == sum(new)
    base = {"L": 12, "H": 768, "A": 12, "F": 3072, "V": 30522, "P": 512, "K": 2}
    assert number("pretraining", base) == 110_106_428


@pytest.mark.parametrize("name", [name for name, one in QUESTIONS.items() if one.kind == "predict"])
def test_the_model_does_what_the_bank_says(name):
    """Else the right explanation would explain what does not happen."""
    drawn = {task.experiment: task for task in (task_of(name, seed) for seed in range(60))}
    for experiment, task in drawn.items():
        first, second = predict.probabilities(load(task.model), task)
        assert (first > second) == (experiment.higher == "first"), (task.text, first, second)
        assert max(first, second) > 1.1 * min(first, second), "too close to explain"
    assert len(drawn) == len(QUESTIONS[name].settings.experiments)


@pytest.mark.parametrize("name", [name for name, one in QUESTIONS.items() if one.kind == "mistake"])
def test_a_mistake_is_seen_in_what_the_code_gives(name):
    drawn = {task.mistake.code: task for task in (task_of(name, seed) for seed in range(60))}
    for task in drawn.values():
        right = mistake.outputs(task, task.corrected())
        assert mistake.outputs(task, task.lines) != right
        assert not any("Error" in output.text for output in right)
    assert len(drawn) == len(QUESTIONS[name].settings.mistakes)


def test_a_row_of_numbers_is_marked_number_by_number_and_a_misunderstanding_named_once():
    task = task_of("attention-output", 1)
    given = mark(task, (task.right[0], "1000"))
    assert (given.points, given.of) == (1, 2) and "number 2" in given.comments[0]
    assert "can be read" in mark(task, (task.right[0], "two")).comments[0]
    task = task_of("attention-row", 1)
    for wrong in task.wrong:
        (said,) = mark(task, wrong.answer).comments
        assert wrong.what in said
    # Rounding within the tolerance is accepted.
    task = task_of("attention-score", 0)
    value = task.fields[0].value
    assert mark(task, [number_text(value + 0.009, 3)]).right
    assert not mark(task, [number_text(value + 0.02, 3)]).right
    assert "±0.01" in compute.accepted(task)


def test_each_wrong_cell_of_a_mask_costs_and_extremes_earn_nothing():
    task = task_of("causal-mask", 0)
    some = sorted(task.right)[3]
    one_wrong = mark(task, task.right - {some})
    closed = len(task.cells - task.right)
    assert one_wrong.points == pytest.approx(2 * (1 - 1 / closed), abs=0.01)
    assert f"row {some[0] + 1}, column {some[1] + 1}" in one_wrong.comments[-1]
    for answer in (frozenset(), task.cells):
        assert mark(task, answer).points == 0
    assert mark(task, {*task.right, (99, 99)}).right  # no cell of this mask


@pytest.mark.parametrize("seed", range(20))
def test_masks_are_what_each_pattern_says(seed):
    padding, causal, cross, prefix = (task_of(f"{n}-mask", seed) for n in ("padding", "causal", "cross", "prefix"))
    for task in (padding, cross):
        assert task.right == {(i, j) for i, j in task.cells if task.columns[j] != masks.PAD}
        assert masks.PAD in task.columns and masks.PAD not in task.rows
    assert causal.right == {(i, j) for i, j in causal.cells if j <= i}
    pairs = prefix.question.settings.pairs
    start = next(len(one.split()) for one, other in pairs if f"{one} {other}" == " ".join(prefix.rows))
    assert prefix.right == {(i, j) for i, j in prefix.cells if j < start or start <= j <= i}


def test_pairs_of_steps_count():
    task = task_of("decoder-block-order", 0)
    assert mark(task, (1, 0, 2, 3, 4, 5)).points == pytest.approx(2 * 13 / 15, abs=0.01)
    assert mark(task, (5, 4, 3, 2, 1, 0)).points == mark(task, (0, 0, 2, 3, 4, 5)).points == 0
    assert sorted(task.start) == list(range(6)) and task.start != task.right
    assert order.as_text(task, task.right).startswith("1. Masked self-attention")


def test_the_input_is_the_tokenizer_s_and_copying_earns_nothing():
    tokenizer = load("mini-en").tokenizer
    for seed in range(10):
        task = task_of("pair-input", seed)
        tokens = task.right["tokens"].split()
        encodings = [tokenizer.encode(*pair) for pair in task.question.settings.pairs]
        encoding = next(one for one in encodings if one.tokens == tokens[: len(one)])
        assert task.right["segments"].split()[: len(encoding)] == list(map(str, encoding.segments))
        assert task.right["mask"].split() == ["1"] * len(encoding) + ["0"] * (len(tokens) - len(encoding))
        assert set(tokens) <= set(task.pieces)
        given = mark(task, task.right | {"segments": " ".join("0" for _token in tokens)})
        assert given.points == pytest.approx(2, abs=0.01) and "second sentence" in given.comments[0]
    task = task_of("masked-input", 0)
    assert mark(task, {"labels": " ".join("–" for _ in task.right["labels"].split())}).points == 0
    dashes = {name: row.replace("–", "-100") for name, row in task.right.items()}
    assert mark(task, dashes).right


def test_a_prediction_is_asked_for_but_need_not_come_true():
    task = task_of("both-sides", 0)
    right = [mark(task, task.right._replace(predicted=one)).right for one in ("first", "second", None)]
    assert right == [True, True, False]
    # And an open question is marked by the student alone.
    task = task_of("rnn-open", 0)
    given = mark(task, OpenAnswer("Because.", (0, 2, 99)))
    assert (given.points, given.of, given.by_student) == (2, len(task.rubric), True)
    assert mark(task, OpenAnswer("  ", (0, 1))).points == 0


@pytest.mark.parametrize(
    ("text", "whole", "number"),
    [
        ("0.35", False, 0.35), ("0,35", False, 0.35), ("−1.5", False, -1.5), (" 7/20 ", False, 0.35),
        (".5", False, 0.5), ("1e-3", False, 0.001), ("110,106,428", True, 110106428), ("110 106 428", True, 110106428),
        ("1.024", True, 1024), ("1.024", False, 1.024), ("12", True, 12), ("", False, None), ("1/0", False, None),
        ("nan", False, None), ("inf", False, None), ("٣", False, None), ("9" * 50, True, None), ("1_0", False, None),
    ],
)  # fmt: skip
def test_numbers_are_read_as_students_type_them(text, whole, number):
    assert parse_number(text, whole=whole) == number
