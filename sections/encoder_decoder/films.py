"""The frames of the picture, with both halves, the encoder or the decoder lit: every number comes from a model."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from sections.encoder_decoder.trained import gpt
from ui.model_cache import load
from ui.text import visible
from ui.translations import _

if TYPE_CHECKING:
    from minibert.toy.seq2seq import Decoding, Trained

ROWS = 11  # most rows (tokens) of the picture
GIVEN = 4  # most words that a decoder alone goes on from


@dataclass(frozen=True)
class Film:
    """sources: the encoder's input, one token per row, and reads: its attention, (S, S) · steps: the frames, the first
    before anything is written; all but the last have the `row` written · rows: of the longer side · table: the same in
    numbers · given: rows that stand there from the beginning."""

    sources: list[str]
    reads: list[list[float]]
    steps: list[dict[str, Any]]
    rows: int
    table: list[dict[str, Any]]
    given: Sequence[dict[str, Any]] = ()


def _rounded(values: Any) -> list:
    return [round(value, 4) if isinstance(value, float) else _rounded(value) for value in values]


def _mean(decoding: Decoding, part: str) -> list[list[float]]:
    """Mean attention over heads and blocks: each row still sums to 1."""
    return _rounded(decoding.attention(part).mean((0, 1)).tolist())


def _most_seen(reads: list[list[float]]) -> tuple[int, float]:
    """The place at which the others look most, and with what share of their attention, on average."""
    of = [statistics.fmean(row[b] for a, row in enumerate(reads) if a != b) for b in range(len(reads))]
    place = max(range(len(of)), key=of.__getitem__)
    return place, of[place]


def _right(trained: Trained, decoding: Decoding) -> list[bool]:
    """For each predicted word, whether it is right."""
    from minibert.toy.seq2seq import EOS, REORDERINGS

    right = [*REORDERINGS[trained.task](decoding.source[:-1]), EOS]
    said = decoding.said
    return [at < len(right) and word == right[at] for at, word in enumerate(said)]


def both(trained: Trained, words: Sequence[str]) -> Film:
    """The encoder reads; the decoder writes, with cross-attention for each word."""
    decoding = trained.decode(words)
    said, right = [visible(word) for word in decoding.said], _right(trained, decoding)
    sources = [visible(word) for word in decoding.source]
    cross, own = _mean(decoding, "decoder.cross"), _mean(decoding, "decoder.attn")
    probs = decoding.probs.max(-1).values.tolist()
    reads = _mean(decoding, "encoder.attn")
    place, looks = _most_seen(reads)
    finding = _("The encoder has read all {n} words: they look most at “{place}”, {share:.0%} on average")
    steps = [{"finding": finding.format(n=len(words), place=sources[place], share=looks)}]
    for row, (word, p) in enumerate(zip(said, probs, strict=True)):
        most = max(range(len(sources)), key=cross[row].__getitem__)
        finding = _("Word {n}: by cross-attention it looks at “{place}” ({share:.0%}) and writes “{word}” ({p:.1%})")
        finding = finding.format(n=row + 1, place=sources[most], share=cross[row][most], word=word, p=p)
        steps.append(_written(row, word, p, right[row], finding, own[row]) | {"cross": cross[row]})
    finding = _("{right} of {n} words right: each was looked up by cross-attention, {share:.0%} of it on one word")
    count = len(decoding.source)
    share = sum(map(max, cross)) / len(cross)
    steps.append({"finding": finding.format(right=sum(right), n=count, share=share)})
    table = [
        {_("it writes"): word, _("probability"): p, **{f"{n} · {s}": w for n, (s, w) in enumerate(pairs, 1)}}
        for word, p, pairs in zip(said, probs, ([*zip(sources, row, strict=True)] for row in cross), strict=True)
    ]
    return Film(sources, reads, steps, max(len(sources), len(said)), table)


def decoder(text: str) -> Film:
    """A small GPT, trained alone, goes on from the first words of a text."""
    import torch

    from minibert.inside.heads.arithmetic import all_probs, record
    from minibert.inside.predictions.generation import go_on
    from minibert.model import Batch

    model, tokenizer = gpt()
    start = tokenizer.encode(text).ids[: GIVEN + 1]  # [CLS] first
    start = [i for i in start if i != tokenizer.sep_id]
    new = go_on(model, start, ROWS + 1 - len(start), sorted(tokenizer.special_ids))
    ids = [*start, *(i for i, _p in new[:-1])]
    own = _rounded(all_probs(record(model.bert, Batch(torch.tensor([ids]))))[:, 0].mean((0, 1)).tolist())
    words = [visible(tokenizer.vocab[i]) for i in start[1:]]
    given = [{"row": row, "word": word, "share": ""} for row, word in enumerate(words)]
    steps: list[dict[str, Any]] = [{"finding": _("Your first words: “{words}”. How does it go on?")}]
    steps[0]["finding"] = steps[0]["finding"].format(words=" ".join(words))
    said = [visible(tokenizer.vocab[i]) for i, _p in new]
    for row, (word, (_i, p)) in enumerate(zip(said, new, strict=True), len(words)):
        finding = _("Word {n}: from the words before it, it writes “{word}” ({p:.1%})").format(
            n=row + 1, word=word, p=p
        )
        steps.append(_written(row, word, p, None, finding, own[row]))
    finding = _("It went on: “{words}”. No word saw a later one")
    steps.append({"finding": finding.format(words=" ".join(said))})
    table = [{_("it writes"): word, _("probability"): p} for word, (_i, p) in zip(said, new, strict=True)]
    return Film([], [], steps, ROWS, table, given)


def _written(row: int, word: str, p: float, right: bool | None, finding: str, own: list[float]) -> dict[str, Any]:
    return {"row": row, "word": word, "share": f"{p:.1%}", "right": right, "finding": finding, "own": own[: row + 1]}


@dataclass(frozen=True)
class FilledBlank:
    """One masked token: its row, the prediction and its probability, the token's own, and the attention of [MASK]."""

    row: int
    guess: str
    p: float
    own: float
    looks: list[float]


@st.cache_data(show_spinner=False, max_entries=200)
def blanks(model: str, version: int, text: str) -> tuple[int, list[str], list[list[float]], list[FilledBlank]]:
    """How many tokens are read; of the first ROWS the tokens, their attention (mean over the last block's heads), and
    one `FilledBlank` for each word."""
    from minibert.inside.geometry.vectors import encoder_of
    from minibert.inside.heads.arithmetic import all_probs, record
    from minibert.inside.model_input import ModelInput
    from minibert.inside.predictions.cloze import expectations

    loaded = load(model)
    reading = ModelInput.of(loaded.tokenizer, text, None, loaded.config.longest)
    encoder = encoder_of(loaded.model)

    def looks(one: ModelInput) -> list[list[float]]:
        return _rounded(all_probs(record(encoder, one.batch()))[-1, 0, :, :ROWS, :ROWS].mean(0).tolist())

    blanks_found = []
    for row in (row for row in reading.words if row < ROWS):
        if any(map(str.isalnum, reading.tokens[row])):
            hidden = reading.hiding(row)
            probs = expectations(loaded.model, hidden.ids, [row])[0].exp()
            best = int(probs.argmax())
            own = probs[reading.ids[row]].item()
            blanks_found.append(
                FilledBlank(row, loaded.tokenizer.vocab[best], probs[best].item(), own, looks(hidden)[row])
            )
    return reading.length, list(reading.tokens[:ROWS]), looks(reading), blanks_found


def encoder(
    title: str, count: int, tokens: list[str], reads: list[list[float]], blanks_found: list[FilledBlank]
) -> Film:
    """BERT fills one blank after another, each with context from both sides. title: display name of the model; the
    others are what `blanks` returns."""
    shown = [visible(token) for token in tokens]
    finding = _("BERT is this half: {model} reads all {n} tokens at once, and every one of them sees both sides")
    steps: list[dict[str, Any]] = [{"finding": finding.format(model=title, n=count)}]
    table, right = [], 0
    for blank in blanks_found:
        word, guess = shown[blank.row], visible(blank.guess)
        fits = blank.guess == tokens[blank.row]
        right += fits
        finding = _("“{word}” hidden: from both sides it expects “{guess}” ({p:.1%})").format(
            word=word, guess=guess, p=blank.p
        )
        if not fits:
            finding += _("; “{word}” itself {own:.1%}").format(word=word, own=blank.own)
        step = {"row": blank.row, "word": guess, "share": f"{blank.p:.1%}", "right": fits, "finding": finding}
        steps.append(step | {"looks": blank.looks})
        table.append(
            {_("hidden"): word, _("it expects"): guess, _("probability"): blank.p, _("of the word"): blank.own}
        )
    finding = _("{right} of {n} blanks filled right, each from both sides; it cannot go on writing")
    steps.append({"finding": finding.format(right=right, n=len(blanks_found))})
    return Film(shown, reads, steps, len(tokens), table)
