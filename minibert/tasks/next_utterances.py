"""Choosing the next reply: dialogues, the Ubuntu Dialogue Corpus (Lowe et al. 2015), Douban (Wu et al. 2017). Replies
are scored as the paper scores choices (Devlin et al. 2019, §4.4); the metrics use the rank of the right one."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import Any, ClassVar

from minibert.tasks.choices import Choices
from minibert.tasks.given import extra_given, fields, some_text, texts_listed
from minibert.tasks.guess import Sureness
from minibert.tasks.input_rows import InputRow
from minibert.tasks.tables import Source, columns, header_of, lines_of, rows_of, table

CANDIDATES = 5  # replies per example, where the file does not list them
MOST = 100  # replies, or turns, of an input
RECALL_AT = (1, 2, 5)
TURN = re.compile(r"(\w[\w .'’-]{0,29}): +(?! )([^\t]*[^\t ])")  # NAME: what was said
END_OF_TURN, END_OF_UTTERANCE = "__eot__", "__eou__"  # the Ubuntu Dialogue Corpus marks both
GIVEN = "ground truth utterance"  # the right reply's column
DISTRACTOR = re.compile(r"distractor_\d+")


@dataclass(frozen=True)
class ReplyExample:
    """A dialogue so far, turn by turn, and candidate replies. label: index of the right one, None if unknown.

    The replies are called choices, as in other tasks where one of several is right.
    """

    turns: tuple[str, ...]
    choices: tuple[str, ...]
    label: int | None = None
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def marks(self) -> tuple[str, ...]:
        return ()

    @property
    def context(self) -> str:
        """The first turn, which all examples of one dialogue share."""
        return self.turns[0]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """What the model reads: the turns with [SEP] between, and each reply."""
        return [(" [SEP] ".join(self.turns), choice) for choice in self.choices]


# --- files ------------------------------------------------------------------------------------------------------------


def read_dialogues(source: Source) -> list[ReplyExample]:
    """`NAME: what was said`, one turn per line, a blank line between dialogues; consecutive lines of one speaker are
    one turn. Every turn but the first is a right reply; the wrong replies are drawn from other dialogues of the
    file."""
    dialogues = list(dialogues_of(source))
    pool = list(dict.fromkeys(reply for turns in dialogues for reply in turns[1:]))
    examples = [
        with_drawn(tuple(turns[:end]), turns[end], pool, set(turns), f"{number} {end}")
        for number, turns in enumerate(dialogues)
        for end in range(1, len(turns))
    ]
    if dialogues and None in examples:
        source.problem(None, None, "there is no reply of another dialogue to choose from")
    return [example for example in examples if example is not None]


def dialogues_of(source: Source) -> Iterator[list[str]]:
    """The turns of each dialogue. A dialogue with a malformed line or without a reply is a problem and skipped."""
    lines = [(number, line.strip()) for number, line in lines_of(source.text)]
    for blank, group in groupby(lines, key=lambda line: not line[1]):
        if blank:
            continue
        dialogue = list(group)
        found = [TURN.fullmatch(line) for _, line in dialogue]
        for (number, _), turn in zip(dialogue, found, strict=True):
            if turn is None:
                source.problem(number, 1, "expected `NAME: what was said`; its dialogue is passed over")
        said_by = [turn for turn in found if turn is not None]
        if len(said_by) < len(found):
            continue
        speakers = groupby(said_by, key=lambda turn: turn.group(1))
        turns = [" ".join(turn.group(2) for turn in said) for _, said in speakers]
        if len(turns) > 1:
            yield turns
        else:
            source.problem(dialogue[0][0], None, "a dialogue of one turn has no reply")


def with_drawn(
    turns: tuple[str, ...], right: str, pool: Sequence[str], barred: Collection[str], seed: str
) -> ReplyExample | None:
    """The right reply at a random place among others drawn from `pool`; the same seed gives the same draw. None if
    there are no others. pool: distinct texts · barred: texts that must not be drawn."""
    rng = random.Random(seed)
    drawn = rng.sample(pool, min(CANDIDATES - 1 + len(barred), len(pool)))
    drawn = [reply for reply in drawn if reply not in barred][: CANDIDATES - 1]
    return among(turns, right, drawn, rng) if drawn else None


def among(turns: tuple[str, ...], right: str, others: Sequence[str], rng: random.Random) -> ReplyExample:
    """The right reply at a random place among the others."""
    label = rng.randrange(len(others) + 1)
    return ReplyExample(turns, (*others[:label], right, *others[label:]), label)


def read_ubuntu(source: Source) -> list[ReplyExample]:
    """Ubuntu Dialogue Corpus 2: Context, Ground Truth Utterance, Distractor_0 …; of its training set (Context,
    Utterance, Label) only the right replies are read, and wrong ones drawn for each."""
    (_, header), *rows = table(source.text, source.name, source)
    wrong = [name for name in header_of(header) if DISTRACTOR.fullmatch(name)]
    wanted = {"context": ("context",), **{name: (name,) for name in wrong}}
    wanted |= {"reply": (GIVEN,)} if wrong else {"reply": ("utterance",), "label": ("label",)}
    at = columns(header, wanted, source)
    found = []  # (line, turns, right reply, wrong replies)
    for row in rows_of(rows, at, source, header, len(header)):
        label = row.cells.get("label", "1")
        turns = tuple(turn for part in row.cells["context"].split(END_OF_TURN) if (turn := unmarked(part)))
        right, others = unmarked(row.cells["reply"]), [unmarked(row.cells[name]) for name in wrong]
        if label not in ("0", "1", "0.0", "1.0"):
            source.problem(row.line, at["label"] + 1, f"the label is {label!r}, not 0 or 1")
        elif not turns:
            source.problem(row.line, at["context"] + 1, "the context has no turn")
        elif right in others:
            source.problem(row.line, at[wrong[others.index(right)]] + 1, "the right reply stands among the wrong ones")
        elif float(label):
            found.append((row.line, turns, right, others))
    if wrong:  # in the file the right one is always the first
        return [among(turns, right, others, random.Random(line)) for line, turns, right, others in found]
    pool = list(dict.fromkeys(right for _, _, right, _ in found))
    drawn = [with_drawn(turns, right, pool, {right}, str(line)) for line, turns, right, _ in found]
    return [example for example in drawn if example is not None]


def unmarked(text: str) -> str:
    """The text without the corpus's end-of-turn and end-of-utterance marks."""
    return " ".join(text.replace(END_OF_TURN, " ").replace(END_OF_UTTERANCE, " ").split())


def read_grouped(source: Source) -> list[ReplyExample]:
    """Douban, E-commerce: label (1 or 0), turns and a reply, tab-separated; consecutive lines with the same turns are
    one example."""
    rows = []
    for line, cells in table(source.text, source.name, source):
        cells = [cell.strip() for cell in cells]
        if len(cells) < 3:
            source.problem(line, len(cells) + 1, f"{len(cells)} columns where a label, turns and a reply stand")
        elif cells[0] not in ("0", "1"):
            source.problem(line, 1, f"the label is {cells[0]!r}, not 0 or 1")
        elif "" in cells:
            source.problem(line, cells.index("") + 1, "a turn or the reply is empty")
        else:
            rows.append((line, cells))
    examples = []
    for turns, lines in groupby(rows, key=lambda row: row[1][1:-1]):
        group = list(lines)
        right = [i for i, (_, cells) in enumerate(group) if cells[0] == "1"]
        if len(right) != 1 or len(group) < 2:
            why = f"of {len(group)} replies to these turns {len(right)} are right, where one of several must be"
            source.problem(group[0][0], 1, why)
        else:
            examples.append(ReplyExample(tuple(turns), tuple(cells[-1] for _, cells in group), right[0]))
    return examples


# --- the task ---------------------------------------------------------------------------------------------------------


class NextUtterances(Choices):
    """One score per reply, softmax over the replies, as for choices; all replies are ranked. A dialogue that is too
    long loses its beginning: the last turn says most."""

    name = "next-utterance"
    order = 100
    example_type = ReplyExample
    too_long = "own"
    metric = "recall_at_1"
    readers: ClassVar = {"dialogues": read_dialogues, "ubuntu": read_ubuntu, "grouped": read_grouped}
    endings = ("txt", "csv", "tsv")
    companions = ()
    bulky = ("turns", "choices")
    example_input: ClassVar = {
        "turns": ["Is this seat taken?", "No, please sit down."],
        "choices": ["Thank you.", "Two lemons and a lime."],
    }
    given_texts = ("turns", "choices")

    def recognises(self, form) -> Sureness:
        sure = {"dialogues": Sureness.SYNTAX, "ubuntu": Sureness.HEADER, "grouped": Sureness.COLUMNS}
        return sure.get(self.guess_format(form.text, form.name) or "", Sureness.NO)

    def guess_format(self, text, name) -> str | None:
        lines = [line.strip() for line in text.split("\n", 200)[:200] if line.strip()]
        if sum(bool(TURN.fullmatch(line)) for line in lines) > len(lines) / 2:
            return "dialogues"
        header = header_of(lines[0].split("\t" if "\t" in lines[0] else ",")) if lines else []
        if "context" in header and {GIVEN, "utterance"} & set(header):
            return "ubuntu"
        rows = [line.split("\t") for line in lines]
        labelled = sum(row[0] in ("0", "1") for row in rows) > len(rows) / 2
        several = any(len(one) > 3 and one[1:-1] == other[1:-1] for one, other in pairwise(rows))
        return "grouped" if labelled and several else None

    def example(self, given) -> Any:
        try:
            turns, choices = given["turns"], given["choices"]
        except (TypeError, KeyError):
            turns = choices = None
        if not (texts_listed(turns) and texts_listed(choices) and len(turns) >= 1 and 2 <= len(choices) <= MOST):
            raise ValueError(f"the input must be an object with turns and 2 to {MOST} choices, both lists of texts")
        return ReplyExample(tuple(turns), tuple(choices), extra=extra_given(given))

    def features(self, tokenizer, examples, labels, options) -> list[Any]:
        return super().features(tokenizer, examples, labels, replace(options, truncation="tail"))

    def rows(self, tokenizer, example, labels, options) -> list[InputRow]:
        return super().rows(tokenizer, example, labels, replace(options, truncation="tail"))

    def inputs(self, example) -> dict[str, Any]:
        return {"turns": list(example.turns)}

    def decode(self, outputs, features, examples, labels, options) -> list[dict]:
        """`ranking`: indices of the replies, best first."""
        answers = super().decode(outputs, features, examples, labels, options)
        return [{**one, "ranking": ranked(one["probabilities"])} for one in answers]

    def score(self, predictions, examples) -> dict[str, float]:
        """R@k, the share of examples whose right reply ranks among the first k, for every k below the number of
        replies; and the mean reciprocal rank."""
        ranks = [rank_of(said, example.label) for said, example in zip(predictions, examples, strict=True)]
        most = max(len(example.choices) for example in examples)
        recall = {f"recall_at_{k}": sum(rank <= k for rank in ranks) / len(ranks) for k in RECALL_AT if k < most}
        return {**recall, "mean_reciprocal_rank": sum(1 / rank for rank in ranks) / len(ranks)}

    def grade(self, prediction, example) -> float:
        """1 / the rank of the right reply."""
        return 1 / rank_of(prediction, example.label)

    def input_schema(self, most, columns=()) -> dict:
        turns = {"type": "array", "items": some_text(most), "minItems": 1, "maxItems": MOST}
        return fields({"turns": turns, "choices": {**turns, "minItems": 2}}, columns)

    def texts(self, example) -> list[str | tuple[str, ...]]:
        return list(example.turns)

    def with_texts(self, example, texts, origins) -> Any:
        return replace(example, turns=tuple(texts))


def ranked(scores: Sequence[float]) -> list[int]:
    """Indices of the scores, the highest first."""
    return sorted(range(len(scores)), key=lambda i: -scores[i])


def rank_of(prediction: dict[str, Any], label: int) -> int:
    """The place of reply `label` in the ranking, from 1."""
    return prediction["ranking"].index(label) + 1
