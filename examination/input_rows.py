"""`input`: write a model's input: tokens, segment ids, attention mask; or the two inputs of a Transformer."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from examination.entry import Entry
from examination.task import ExamQuestion, ExamTask, Mark, Wrong, mark_of, no_answer, texts
from examination.words import _
from minibert.folders import CHECKPOINTS

CHECKPOINT = CHECKPOINTS / "mini-en"
NOTHING = "–"  # the label at positions without a target
MOST_TYPED = 2_000  # characters read of a typed row
Rows = dict[str, tuple[str, ...]]


class InputForm(NamedTuple):
    """rows: name of each row → its cells · plain: the rows of somebody who understands nothing; only cells that differ
    from them earn points · pieces: tokens to choose from · names: for the text · wrong: misunderstandings."""

    rows: Rows
    plain: Rows
    pieces: tuple[str, ...]
    names: dict[str, str]
    wrong: tuple[tuple[Rows, str], ...]


@dataclass(frozen=True)
class InputRowsSettings:
    form: str
    pairs: tuple[tuple[str, str], ...]
    padding: tuple[int, ...]
    cut: tuple[int, ...]


@dataclass(frozen=True)
class InputTask(ExamTask):
    """right: name → its cells, joined by spaces · titles: the title of each row on screen."""

    plain: Rows
    pieces: tuple[str, ...]
    titles: dict[str, str]


def titles() -> dict[str, str]:
    return {
        "tokens": _("Tokens"),
        "segments": _("Segment ids"),
        "mask": _("Attention mask"),
        "encoder": _("Encoder input"),
        "decoder": _("Decoder input"),
        "labels": _("Labels"),
    }


def read(entry: Entry) -> InputRowsSettings:
    return InputRowsSettings(
        entry.one_of("form", list(FORMS)),
        entry.pairs("pairs"),
        entry.integers("padding", optional=True) or (0,),
        entry.integers("cut", optional=True) or (0,),
    )


def generate(question: ExamQuestion, rng: random.Random, values: dict[str, str]) -> InputTask:
    settings: InputRowsSettings = question.settings
    form = FORMS[settings.form](rng.choice(settings.pairs), settings, rng)
    names = values | form.names
    right = {name: " ".join(cells) for name, cells in form.rows.items()}
    wrong = [({name: " ".join(cells) for name, cells in rows.items()}, what) for rows, what in form.wrong]
    return InputTask(
        question,
        *texts(question, names),
        right,
        tuple(Wrong(rows, what) for rows, what in wrong if rows != right),
        form.plain,
        form.pieces,
        {name: titles()[name] for name in form.rows},
    )


def cells_of(text: str) -> list[str]:
    """The cells of a typed row. A dash of any kind is the label at positions without a target."""
    return [NOTHING if cell in ("-", "−", "—", "-100", "−100") else cell for cell in text[:MOST_TYPED].split()]


def mark(task: InputTask, answer: Mapping[str, str] | None) -> Mark:
    """All rows have equal weight. In a row each wrong cell costs 1/n, n being the cells that differ from `plain`."""
    typed = {name: cells_of((answer or {}).get(name, "")) for name in task.right}
    if not any(typed.values()):
        return no_answer(task)
    share, comments = 0.0, []
    for name, text in task.right.items():
        cells, expected = typed[name], text.split()
        errors = sum(a != b for a, b in zip_longest(cells, expected))
        to_know = sum(a != b for a, b in zip_longest(task.plain[name], expected)) or 1
        share += max(0, 1 - errors / to_know) / len(task.right)
        if cells == expected:
            continue
        if len(cells) != len(expected):
            found = _("{row}: {n} entries, {wanted} are needed.").format(
                row=task.titles[name], n=len(cells), wanted=len(expected)
            )
        else:
            at = next(i for i, (a, b) in enumerate(zip(cells, expected, strict=True)) if a != b)
            found = _("{row}: `{right}` belongs at place {n}.").format(
                row=task.titles[name], right=expected[at], n=at + 1
            )
        comments.append(found)
    whole = {name: " ".join(cells) for name, cells in typed.items()}
    what = next((wrong.what for wrong in task.wrong if wrong.answer == whole), "")
    return mark_of(task, 1 if not comments else share, what, *comments)


@lru_cache(maxsize=1)
def tokenizer():
    """The tokenizer of the English model in this repository."""
    from minibert.checkpoint import load_tokenizer

    return load_tokenizer(CHECKPOINT)


def _bert(pair: tuple[str, str], settings: InputRowsSettings, rng: random.Random) -> InputForm:
    """[CLS] A [SEP] B [SEP], truncated or padded."""
    a, b = pair
    whole = tokenizer().encode(a, b)
    cut, padding = rng.choice(settings.cut), rng.choice(settings.padding)
    encoding = tokenizer().encode(a, b, max_length=len(whole) - cut)
    n = len(encoding)
    tokens = (*encoding.tokens, *["[PAD]"] * padding)
    segments = tuple(map(str, (*encoding.segments, *[0] * padding)))
    mask = (*"1" * n, *"0" * padding)
    rows = {"tokens": tokens, "segments": segments, "mask": mask}
    end_of_a = encoding.tokens.index("[SEP]")
    early = tuple("1" if end_of_a <= i < n else "0" for i in range(n + padding))
    one_segment = tuple("0" for _cell in segments)
    unclosed = (*encoding.tokens[:-1], *["[PAD]"] * (padding + 1))
    masked_cls = ("0", *mask[1:])
    wrong = [
        (rows | {"segments": early}, _("The [SEP] behind the first sentence belongs to it: segment 0.")),
        (rows | {"segments": one_segment}, _("The second sentence and its [SEP] are segment 1.")),
        (rows | {"tokens": unclosed}, _("Each sentence ends with [SEP], the second one, too.")),
        (rows | {"mask": masked_cls}, _("[CLS] is a real token: everyone may look at it.")),
    ]
    if padding:
        wrong.append((rows | {"mask": ("1",) * len(mask)}, _("Padding has attention mask 0.")))
    if cut:
        head = (*whole.tokens[: n - 1], "[SEP]")
        wrong.append((rows | {"tokens": head}, _("“Longest first” takes from the longer sentence.")))
    pieces = ["[CLS]", "[SEP]", "[PAD]", "[MASK]"]
    pieces += [token for one in (a, b) for token in tokenizer().encode(one, add_special=False).tokens]
    names = {"first": a, "second": b, "length": str(n + padding), "whole": str(len(whole))}
    plain = {"tokens": (), "segments": one_segment, "mask": ("1",) * len(mask)}
    return InputForm(rows, plain, tuple(dict.fromkeys(pieces)), names, tuple(wrong))


def _transformer(pair: tuple[str, str], settings: InputRowsSettings, rng: random.Random) -> InputForm:
    """Source to the encoder, target shifted by one to the decoder, and the label of each position."""
    from minibert.toy.seq2seq import BOS, EOS, Words

    source, target = (text.split() for text in pair)
    words = Words.of([*source, *target])
    batch = words.batch([source], [target])

    def cells(ids) -> tuple[str, ...]:
        return tuple(words.entries[i] for i in ids[0].tolist())

    rows = {"encoder": cells(batch.ids), "decoder": cells(batch.target), "labels": cells(batch.labels)}
    together = (*source, EOS, *target, EOS)
    wrong = (
        (
            rows | {"decoder": (*target, EOS)},
            _("The decoder would read at each place the very word that it must say there: shift it by one."),
        ),
        (
            rows | {"labels": (BOS, *target)},
            _("Labels are one place ahead of the decoder's input, and end with [EOS]."),
        ),
        (rows | {"encoder": together}, _("The encoder reads the source alone; the target goes to the decoder.")),
    )
    pieces = tuple(dict.fromkeys((BOS, EOS, "[PAD]", *sorted({*source, *target}))))
    return InputForm(rows, dict.fromkeys(rows, ()), pieces, {"first": pair[0], "second": pair[1]}, wrong)


def _masked(pair: tuple[str, str], settings: InputRowsSettings, rng: random.Random) -> InputForm:
    """A sentence prepared for masked-language modelling: the corrupted tokens, and the labels."""
    import torch

    from minibert.corruption import MaskVocabulary, mask_tokens
    from minibert.inside.predictions.cloze import KEPT, MASKED, RANDOM, UNTOUCHED, fates

    vocab = MaskVocabulary.of(tokenizer())
    encoding = tokenizer().encode(*pair)
    ids, special = torch.tensor([encoding.ids]), torch.tensor([encoding.special])
    while True:  # until all three fates occur and random tokens are words
        generator = torch.Generator().manual_seed(rng.randrange(2**31))
        corrupted, labels = mask_tokens(ids, special, vocab, generator, rate=0.3, split=(0.4, 0.3, 0.3))
        fate = fates(ids[0], corrupted[0], labels[0], vocab.mask_id)
        new = [tokenizer().vocab[i] for i in corrupted[0].tolist()]
        drawn = [token for token, one in zip(new, fate, strict=True) if one == RANDOM]
        if {MASKED, RANDOM, KEPT} <= set(fate) and all(token.isascii() and token.isalpha() for token in drawn):
            break
    old = encoding.tokens
    rows = {
        "tokens": tuple(new),
        "labels": tuple(NOTHING if one == UNTOUCHED else token for token, one in zip(old, fate, strict=True)),
    }
    places = [(i, one) for i, one in enumerate(fate) if one != UNTOUCHED]
    words = {MASKED: _("becomes [MASK]"), KEPT: _("stays as it is")}
    fates_text = _("; ").join(
        _("place {n} (`{token}`) {fate}").format(
            n=i + 1, token=old[i], fate=words.get(one, _("becomes `{token}`").format(token=new[i]))
        )
        for i, one in places
    )
    only_mask = tuple(t if one in (MASKED, RANDOM) else NOTHING for t, one in zip(old, fate, strict=True))
    everything = tuple(NOTHING if token in ("[CLS]", "[SEP]") else token for token in old)
    all_masked = tuple("[MASK]" if one != UNTOUCHED else token for token, one in zip(old, fate, strict=True))
    corrupted_labels = tuple(NOTHING if one == UNTOUCHED else token for token, one in zip(new, fate, strict=True))
    wrong = (
        (rows | {"labels": only_mask}, _("The token that stays is predicted, too: it counts among the 15 %.")),
        (rows | {"labels": everything}, _("Only the chosen places have a label; the others have no loss.")),
        (rows | {"tokens": all_masked}, _("Not every chosen token becomes [MASK].")),
        (
            rows | {"labels": corrupted_labels},
            _("The label is the token that stood there, not the one that stands there now."),
        ),
    )
    pieces = tuple(dict.fromkeys(("[CLS]", "[SEP]", "[MASK]", *sorted({*old, *new} - {"[CLS]", "[SEP]", "[MASK]"}))))
    names = {"first": pair[0], "second": pair[1], "tokens": " ".join(f"`{t}`" for t in old), "fates": fates_text}
    plain = {"tokens": tuple(old), "labels": (NOTHING,) * len(old)}
    return InputForm(rows, plain, pieces, names, wrong)


FORMS: dict[str, Callable[[tuple[str, str], InputRowsSettings, random.Random], InputForm]] = {
    "bert": _bert,
    "transformer": _transformer,
    "masked": _masked,
}


def as_text(task: InputTask, answer: Mapping[str, str] | None) -> str:
    typed = answer or {}
    rows = [f"{title}{_(': ')}{typed[name][:MOST_TYPED]}" for name, title in task.titles.items() if typed.get(name)]
    return "\n".join(rows)
