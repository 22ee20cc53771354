"""The rows a model reads for one example, token by token: its segment, what is asked there, what was cut or filled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from minibert.tasks.base import Task
from minibert.tasks.metadata import metadata_prefix
from minibert.tasks.options import Options
from minibert.tasks.sequences import assembled
from minibert.tasks.tagging import pieces_of
from minibert.text.truncation import keep
from minibert.tokenizer import Tokenizer

START, END = "S", "E"
LATER, ELSEWHERE = "–", "↔"  # a later piece of a word; a word that another window is asked for


@dataclass(frozen=True)
class InputRow:
    """Parallel lists, one entry a token that is read or was cut; then `padding` times [PAD].

    asked: what the loss is told at the token: a tag, S, E, the class at [CLS] (where the new layer reads that), or "" ·
    cut: True for a token that did not fit · tokens_of: the passage or the words that the row holds, (first, after the
    last, of all), where there are windows · right: for choices, whether it is the one; None if that is unknown.
    """

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    segments: tuple[int, ...]
    asked: tuple[str, ...]
    cut: tuple[bool, ...]
    padding: int = 0
    tokens_of: tuple[int, int, int] | None = None
    right: bool | None = None

    @property
    def length(self) -> int:
        """Tokens that are read, without padding."""
        return len(self.ids) - sum(self.cut)


def input_rows(task: Task, tokenizer: Tokenizer, example: Any, labels: Any, options: Options) -> list[InputRow]:
    """How `task.features` reads the example; several rows for windows and choices, filled to the longest."""
    rows = _ROWS[task.name](task, tokenizer, example, labels, options)
    longest = max(row.length for row in rows)
    return [replace(row, padding=longest - row.length) for row in rows]


def row_of(tokenizer: Tokenizer, ids: Sequence[int], segments: Sequence[int], asked: Sequence[str] = ()) -> InputRow:
    tokens = tuple(tokenizer.vocab[i] for i in ids)
    return InputRow(tokens, tuple(ids), tuple(segments), tuple(asked) or ("",) * len(ids), (False,) * len(ids))


def text_row(tokenizer: Tokenizer, texts: Sequence[str], read: Sequence[int], options: Options) -> InputRow:
    """One or two texts with what was cut of them. read: the ids that are read, metadata tokens in front included."""
    pieces = tokenizer.encode_bulk(list(texts))
    for prefix in range(len(read)):  # metadata tokens stand between [CLS] and the text; as many as make the row agree
        front = read[1 : 1 + prefix]
        if assembled(tokenizer, pieces, options, front)[0] == list(read):
            break
    room = options.max_length - 1 - len(texts) - prefix
    kept = keep([len(text) for text in pieces], room, options.truncation, options.budgets)
    ids, segments, cut = [tokenizer.cls_id, *front], [0] * (1 + prefix), [False] * (1 + prefix)
    for segment, (text, stay) in enumerate(zip(pieces, map(set, kept), strict=True)):
        ids += [*text, tokenizer.sep_id]
        segments += [segment] * (len(text) + 1)
        cut += [*(i not in stay for i in range(len(text))), False]
    return replace(row_of(tokenizer, ids, segments), cut=tuple(cut))


def sequence_rows(task, tokenizer, example, labels, options) -> list[InputRow]:
    (features,) = task.features(tokenizer, [example], labels, options)
    row = text_row(tokenizer, task.inputs(example), features.ids, options)
    said = getattr(example, "label", None)
    score = getattr(example, "score", None)
    answer = said if said is not None else "" if score is None else f"{score:g}"
    return [replace(row, asked=(answer, *row.asked[1:]))] if options.pooling == "cls" else [row]


def choice_rows(task, tokenizer, example, labels, options) -> list[InputRow]:
    (features,) = task.features(tokenizer, [example], labels, options)
    rows = []
    for number, (pair, ids) in enumerate(zip(example.pairs, features.ids, strict=True)):
        right = None if example.label is None else number == example.label
        rows.append(replace(text_row(tokenizer, pair, ids, options), right=right))
    return rows


def tag_rows(task, tokenizer, example, labels, options) -> list[InputRow]:
    """A row a window."""
    tags = example.tags
    (pieces,) = pieces_of(tokenizer, [example])
    rows = []
    for features in task.features(tokenizer, [example], labels, options):
        asked = ["", *[ELSEWHERE] * (features.length - 2), ""]
        for position, word in features.words:
            end = min(position + len(pieces[word]), features.length - 1)
            asked[position:end] = ["?" if tags is None else tags[word], *[LATER] * (end - position - 1)]
        first, last = (features.words[0][1], features.words[-1][1] + 1) if features.words else (0, 0)
        row = row_of(tokenizer, features.ids, features.segments, asked)
        rows.append(replace(row, tokens_of=(first, last, len(example.words))))
    return rows


def intent_rows(task, tokenizer, example, labels, options) -> list[InputRow]:
    """A row of tags with the intent at [CLS]; the words that did not fit are cut."""
    (row,) = tag_rows(task, tokenizer, example, labels, options)
    (pieces,) = pieces_of(tokenizer, [example])
    lost = [piece for word in pieces[row.tokens_of[1] :] for piece in word]
    intent = (example.intent or "?") if options.pooling == "cls" else ""
    row = replace(row, asked=(intent, *row.asked[1:]), tokens_of=None)
    return [with_cut(tokenizer, row, len(row.ids) - 1, lost, row.segments[-1])]


def with_cut(tokenizer: Tokenizer, row: InputRow, at: int, lost: Sequence[int], segment: int) -> InputRow:
    """The row with tokens that did not fit shown where they would stand."""
    new = replace(row_of(tokenizer, lost, [segment] * len(lost)), cut=(True,) * len(lost))
    parts = {
        name: (*getattr(row, name)[:at], *getattr(new, name), *getattr(row, name)[at:])
        for name in ("tokens", "ids", "segments", "asked", "cut")
    }
    return replace(row, **parts)


def span_rows(task, tokenizer, example, labels, options) -> list[InputRow]:
    rows = []
    all_features = task.features(tokenizer, [example], labels, options)
    total = max(features.tokens[1] for features in all_features)
    (question,) = tokenizer.encode_bulk([metadata_prefix(example.extra, options) + example.question])
    lost = question[options.max_question :]
    for features in all_features:
        asked = [""] * features.length
        for letter, place in zip((START, END), features.target or (), strict=False):
            asked[place] = f"{asked[place]} {letter}".strip()
        row = row_of(tokenizer, features.ids, features.segments, asked)
        row = with_cut(tokenizer, row, features.first - 1, lost, 0)  # before the [SEP] after the question
        rows.append(replace(row, tokens_of=(*features.tokens, total)))
    return rows


_ROWS: dict[str, Callable[..., list[InputRow]]] = {
    "classification": sequence_rows,
    "pair": sequence_rows,
    "similarity": sequence_rows,
    "multilabel": sequence_rows,
    "tagging": tag_rows,
    "intent": intent_rows,
    "span": span_rows,
    "span-or-none": span_rows,
    "choice": choice_rows,
}
