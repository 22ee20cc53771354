"""`count`: parameters of a configuration, exactly."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from examination.entry import Entry
from examination.numbers import number_text, parse_number
from examination.task import ExamQuestion, ExamTask, Mark, Wrong, mark_of, no_answer, texts
from examination.words import _

if TYPE_CHECKING:
    from minibert.count import ParameterCount


@dataclass(frozen=True)
class CountSettings:
    of: str
    sizes: tuple[dict[str, int], ...]


@dataclass(frozen=True)
class CountTask(ExamTask):
    """formula: how to compute the number, shown with the mark."""

    number: int
    formula: str
    numbers_wrong: tuple[tuple[int, str], ...]


def read(entry: Entry) -> CountSettings:
    of = entry.one_of("of", list(COUNTED))
    sizes = []
    for table in entry.tables("sizes", 1):
        size = {letter: table.integer(letter, default, 1) for letter, default in _defaults(table).items()}
        table.close()
        if size["H"] % size["A"]:
            raise table.error(f"H = {size['H']} does not divide evenly among A = {size['A']} heads")
        sizes.append(size)
    return CountSettings(of, tuple(sizes))


def _defaults(table: Entry) -> dict[str, int]:
    hidden = table.table.get("H", 768)
    return {"L": 12, "H": 768, "A": 12, "F": 4 * hidden if isinstance(hidden, int) else 1, "V": 30522, "P": 512, "K": 2}


def generate(question: ExamQuestion, rng: random.Random, values: dict[str, str]) -> CountTask:
    from minibert.config import BertConfig
    from minibert.count import parameters

    settings: CountSettings = question.settings
    size = rng.choice(settings.sizes)
    config = BertConfig(size["V"], size["H"], size["L"], size["A"], size["F"], size["P"])
    right, formula, wrong = COUNTED[settings.of](parameters(config), size)
    names = values | {letter: f"{n:,}".replace(",", "{,}") for letter, n in size.items()}  # as LaTeX needs it
    differing = tuple((number, what) for number, what in dict(wrong).items() if number != right)
    return CountTask(
        question,
        *texts(question, names),
        number_text(right, 0),
        tuple(Wrong(number_text(number, 0), what) for number, what in differing),
        right,
        f"{formula} = {right:,}",
        differing,
    )


def mark(task: CountTask, answer: str | None) -> Mark:
    if not answer or not answer.strip():
        return no_answer(task)
    given = parse_number(answer, whole=True)
    if given is None:
        return mark_of(task, 0, _("That is not a number that can be read."))
    if given == task.number:
        return mark_of(task, 1)
    why = next((what for number, what in task.numbers_wrong if number == given), _("Not the number."))
    return mark_of(task, 0, why)


def _bias(count: ParameterCount, *prefixes: str) -> int:
    """Biases in the parts with these prefixes: the single letter at the end of `H·F + F`."""
    parts = [p for p in count.parts if p.name.startswith(prefixes) and " + " in p.formula]
    return sum(part.letters[part.formula.split(" + ")[-1]] * part.times for part in parts)


def _formula(count: ParameterCount, *prefixes: str, times: bool = False) -> str:
    """The parts' formulas with their numbers, equal ones combined."""
    terms: dict[str, int] = {}
    for part in count.parts:
        if part.name.startswith(prefixes):
            terms[part.numbers] = terms.get(part.numbers, 0) + (part.times if times else 1)
    return " + ".join(f"{n}·({text})" if n > 1 else f"({text})" for text, n in terms.items())


def _without_bias() -> str:
    return _("The biases are missing: a linear layer from n to m numbers has n·m + m parameters.")


def _heads_multiply() -> str:
    return _("Heads do not multiply the matrices: each head uses D = H/A of their H rows.")


Counted = tuple[int, str, list[tuple[int, str]]]


def _attention(count: ParameterCount, size: dict[str, int]) -> Counted:
    one = count.of("block.attn.") // size["L"]
    wrong = [
        (one * size["A"], _heads_multiply()),
        (one - _bias(count, "block.attn.") // size["L"], _without_bias()),
        (one * 3 // 4, _("There are four matrices: query, key, value, and the output that mixes the heads.")),
    ]
    return one, _formula(count, "block.attn."), wrong


def _feed_forward(count: ParameterCount, size: dict[str, int]) -> Counted:
    one = count.of("block.mlp.") // size["L"]
    wrong = [
        (one - _bias(count, "block.mlp.") // size["L"], _without_bias()),
        (one // 2, _("There are two matrices: from H to F and back from F to H.")),
        (one * size["L"], _("That is all layers together; one was asked for.")),
    ]
    return one, _formula(count, "block.mlp."), wrong


def _norms(count: ParameterCount) -> int:
    return sum(part.one for part in count.parts if part.name.startswith("block.") and part.group == "norms")


def _block(count: ParameterCount, size: dict[str, int]) -> Counted:
    attention = count.of("block.attn.") // size["L"]
    bias = _bias(count, "block.attn.", "block.mlp.") // size["L"]
    wrong = [
        (count.block - _norms(count), _("Each of the two LayerNorms has a gain and a bias: 2·H each.")),
        (count.block - bias, _without_bias()),
        (count.block + (size["A"] - 1) * attention, _heads_multiply()),
    ]
    return count.block, _formula(count, "block."), wrong


def _embeddings(count: ParameterCount, size: dict[str, int]) -> Counted:
    number = count.of("embeddings.")
    wrong = [
        (number - count.of("embeddings.norm"), _("The LayerNorm behind the sum has 2·H parameters.")),
        (number - count.of("embeddings.segment"), _("The two segment vectors are missing: 2·H.")),
        (number - count.of("embeddings.position"), _("BERT's positions are learned: P·H parameters.")),
    ]
    return number, _formula(count, "embeddings."), wrong


def _pretraining(count: ParameterCount, size: dict[str, int]) -> Counted:
    tied = size["V"] * size["H"]
    wrong = [
        (
            count.pretraining + tied,
            _("The decoder of the MLM head *is* the token embedding: it must not be counted twice."),
        ),
        (count.with_pooler, _("That is the encoder with its pooler; the two pre-training heads are missing.")),
        (count.pretraining - size["V"], _("The decoder has a bias for each entry of the vocabulary: V.")),
    ]
    return count.pretraining, _formula(count, "", times=True), wrong


def _decoder_block(count: ParameterCount, size: dict[str, int]) -> Counted:
    """A block of an encoder–decoder's decoder: minibert.seq2seq.decoder.DecoderBlock."""
    attention, norm = count.of("block.attn.") // size["L"], 2 * size["H"]
    number = count.block + attention + norm
    wrong = [
        (count.block, _("That is an encoder block: cross-attention and its LayerNorm are missing.")),
        (count.block + attention, _("The LayerNorm of cross-attention is missing: 2·H.")),
        (count.block + norm, _("Cross-attention has matrices of its own: 4·(H² + H).")),
    ]
    text = f"{_formula(count, 'block.')} + {_formula(count, 'block.attn.')} + {_formula(count, 'block.attn_norm')}"
    return number, text, wrong


def _classifier(count: ParameterCount, size: dict[str, int]) -> Counted:
    """The new layer over [CLS]: minibert.heads.BertForSequenceClassification."""
    hidden, classes = size["H"], size["K"]
    number = hidden * classes + classes
    wrong = [
        (hidden * classes, _without_bias()),
        (number + count.of("pooler"), _("The pooler comes from pre-training; only the layer over it is new.")),
        (count.with_pooler + number, _("That is the whole model; only what is new was asked for.")),
    ]
    return number, f"{hidden}·{classes} + {classes}", wrong


COUNTED: dict[str, Callable[[ParameterCount, dict[str, int]], Counted]] = {
    "attention": _attention,
    "feed_forward": _feed_forward,
    "block": _block,
    "decoder_block": _decoder_block,
    "embeddings": _embeddings,
    "pretraining": _pretraining,
    "classifier": _classifier,
}


def as_text(task: CountTask, answer: str | None) -> str:
    return answer or ""
