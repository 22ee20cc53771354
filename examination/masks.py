"""`mask`: open the cells of an attention mask: which row may look at which column."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple

from examination.entry import Entry
from examination.task import ExamQuestion, ExamTask, Mark, Wrong, mark_of, no_answer, texts
from examination.words import _

Cells = frozenset[tuple[int, int]]  # (row, column), from 0, where attention is allowed
MOST = 8  # tokens on a side
PAD = "[PAD]"


class MaskPattern(NamedTuple):
    """A drawn mask: tokens of rows (queries) and columns (keys), open cells; wrong: (open cells, misunderstanding)."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    open: Cells
    wrong: tuple[tuple[Cells, str], ...]


@dataclass(frozen=True)
class MasksSettings:
    pattern: str
    pairs: tuple[tuple[str, str], ...]
    padding: tuple[int, ...]


@dataclass(frozen=True)
class MaskTask(ExamTask):
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def cells(self) -> Cells:
        return _grid(len(self.rows), len(self.columns))


def read(entry: Entry) -> MasksSettings:
    pattern = entry.one_of("pattern", list(PATTERNS))
    pairs = entry.pairs("pairs")
    for first, second in pairs:
        for text in (first, second):
            if not 2 <= len(text.split()) <= MOST - 1:
                raise entry.error(f"{text!r} in `pairs` has {len(text.split())} words; write 2 to {MOST - 1}")
    return MasksSettings(pattern, pairs, entry.integers("padding", optional=True) or (1, 2))


def generate(question: ExamQuestion, rng: random.Random, values: dict[str, str]) -> MaskTask:
    settings: MasksSettings = question.settings
    first, second = (tuple(text.split()) for text in rng.choice(settings.pairs))
    pattern = PATTERNS[settings.pattern](first, second, rng.choice(settings.padding), rng)
    names = values | {"first": " ".join(first), "second": " ".join(second)}
    return MaskTask(
        question,
        *texts(question, names),
        pattern.open,
        tuple(Wrong(cells, what) for cells, what in pattern.wrong if cells != pattern.open),
        pattern.rows,
        pattern.columns,
    )


def mark(task: MaskTask, answer: Collection[tuple[int, int]] | None) -> Mark:
    """Each wrong cell costs 1/n, n being the smaller of the numbers of open and of closed cells. So opening nothing and
    opening everything both earn nothing."""
    if answer is None:
        return no_answer(task)
    chosen = frozenset(answer) & task.cells
    missing, extra = task.right - chosen, chosen - task.right
    fewer = min(len(task.right), len(task.cells - task.right)) or 1
    comments = [next((wrong.what for wrong in task.wrong if wrong.answer == chosen), "")]
    for cells, words in (
        (missing, _("Closed, but should be open: {cells}.")),
        (extra, _("Open, but should be closed: {cells}.")),
    ):
        if cells:
            comments.append(words.format(cells=_named(task, cells)))
    return mark_of(task, 1 - len(missing | extra) / fewer, *comments)


def _named(task: MaskTask, cells: Cells, most: int = 3) -> str:
    """`cat → dog (row 2, column 3)`, the first few."""
    named = [
        _("`{row}` → `{column}` (row {i}, column {j})").format(
            row=task.rows[i], column=task.columns[j], i=i + 1, j=j + 1
        )
        for i, j in sorted(cells)[:most]
    ]
    if len(cells) > most:
        named.append(_("and {n} more").format(n=len(cells) - most))
    return _(", ").join(named)


def _grid(rows: int, columns: int) -> Cells:
    return frozenset((i, j) for i in range(rows) for j in range(columns))


def _cells(mask, rows: int) -> Cells:
    """The open cells of the first `rows` rows of a mask of minibert.attention_masks, (1, 1, T or 1, S)."""
    expanded = mask[0, 0].expand(rows, -1) if mask.size(2) == 1 else mask[0, 0, :rows]
    return frozenset((int(i), int(j)) for i, j in expanded.nonzero().tolist())


def _without_rows(cells: Cells, closed: Collection[int]) -> Cells:
    return frozenset(cell for cell in cells if cell[1] not in closed)


def _padding(first, second, padding, rng) -> MaskPattern:
    """BERT's mask: one sentence with [CLS], [SEP] and one word as [MASK], then padding. Rows: the real tokens."""
    import torch

    from minibert.attention_masks import causal_mask, padding_mask

    words = list(first)[: MOST - 2 - padding]
    hidden = rng.randrange(len(words))
    words[hidden] = "[MASK]"
    row = ("[CLS]", *words, "[SEP]")
    columns = (*row, *[PAD] * padding)
    real = torch.tensor([[token != PAD for token in columns]])
    right = _cells(padding_mask(real), len(row))
    causal = _cells(causal_mask(len(columns)), len(row))
    return MaskPattern(
        row,
        columns,
        right,
        (
            (_grid(len(row), len(columns)), _("No mask at all: words would mix in vectors of padding.")),
            (causal, _("That is the causal mask of a decoder: BERT looks to both sides.")),
            (
                _without_rows(right, [hidden + 1]),
                _("[MASK] is a token like any other here: it hides a word, not itself."),
            ),
            (_without_rows(right, [0, len(row) - 1]), _("[CLS] and [SEP] are real tokens: only padding is closed.")),
        ),
    )


def _causal(first, second, padding, rng) -> MaskPattern:
    """A decoder's mask: [BOS] and the words so far."""
    import torch

    from minibert.attention_masks import causal_mask, padding_mask

    tokens = ("[BOS]", *second)[:MOST]
    n = len(tokens)
    right = _cells(causal_mask(n), n)
    transposed = frozenset((j, i) for i, j in right)
    diagonal = frozenset((i, i) for i in range(n))
    everything = _cells(padding_mask(torch.ones(1, n, dtype=torch.bool)), n)
    return MaskPattern(
        tokens,
        tokens,
        right,
        (
            (transposed, _("Rows look at columns: this lets each position see what comes after it.")),
            (right - diagonal, _("A position may see itself: its word is known, the *next* one is predicted.")),
            (everything, _("That is an encoder: each position could copy the next word instead of predicting it.")),
        ),
    )


def _cross(first, second, padding, rng) -> MaskPattern:
    """Cross-attention: the target's positions attend to the source, which is padded to the length of its batch."""
    import torch

    from minibert.attention_masks import padding_mask

    source = (*first[: MOST - 1 - padding], "[EOS]")
    columns = (*source, *[PAD] * padding)
    rows = ("[BOS]", *second)[: MOST - 1]
    right = _cells(padding_mask(torch.tensor([[token != PAD for token in columns]])), len(rows))
    causal = frozenset((i, j) for i, j in right if j <= i)
    return MaskPattern(
        rows,
        columns,
        right,
        (
            (causal, _("The whole source is known before the first word is written: nothing of it is future.")),
            (_grid(len(rows), len(columns)), _("The padding of the source must stay closed in cross-attention, too.")),
        ),
    )


def _prefix(first, second, padding, rng) -> MaskPattern:
    """One stack for source and target (UniLM): the source is bidirectional, the target causal."""
    import torch

    from minibert.attention_masks import causal_mask, prefix_mask

    source, target = first[: MOST // 2], second[: MOST // 2]
    tokens = (*source, *target)
    n, start = len(tokens), len(source)
    right = _cells(prefix_mask((torch.arange(n) >= start).long()[None]), n)
    separate = frozenset((i, j) for i, j in right if (i >= start) == (j >= start))
    return MaskPattern(
        tokens,
        tokens,
        right,
        (
            (_cells(causal_mask(n), n), _("The source is all there from the start: it may look at itself both ways.")),
            (_grid(n, n), _("The target must not see its own future.")),
            (separate, _("The target has to look at the source: that is what it is to say in other words.")),
        ),
    )


PATTERNS: dict[str, Callable[..., MaskPattern]] = {
    "padding": _padding,
    "causal": _causal,
    "cross": _cross,
    "prefix": _prefix,
}


def as_text(task: MaskTask, answer: Collection[tuple[int, int]] | None) -> str:
    """One line per row, ■ for open and □ for closed."""
    if answer is None:
        return ""
    rows = ["".join("■" if (i, j) in answer else "□" for j in range(len(task.columns))) for i in range(len(task.rows))]
    return "\n".join(f"{row} {name}" for row, name in zip(rows, task.rows, strict=True))
