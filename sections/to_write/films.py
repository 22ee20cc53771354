"""The frames of the picture: the attention mask, and the second text written token by token."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from plots.attention import number
from sections.to_write.subject import MOST_GIVEN, MOST_READ, Inputs, Writer, network, words_of
from ui.text import visible
from ui.translations import _

TOP = 5  # predictions shown per step


@dataclass(frozen=True)
class WritingSteps:
    """tokens: of both texts, one row and column each · source: number of tokens of the first text · mask: one row of 0
    and 1 per token · steps: the frames, the first before anything is written · others: alternative texts with their ln
    P."""

    tokens: list[str]
    source: int
    mask: list[str]
    steps: list[dict[str, Any]]
    others: list[tuple[str, float]] = field(default_factory=list)


def film(inputs: Inputs, mask: str) -> WritingSteps | None:
    """The film for a mask; None without a first text."""
    read = list(words_of(inputs.read, MOST_READ))
    if not read:
        return None
    source = ["[CLS]", *read, "[SEP]"]
    given_text = None if inputs.given is None else tuple(words_of(inputs.given, MOST_GIVEN))
    written, guesses, others = written_by(inputs.writer, inputs.writer.version, tuple(read), given_text, inputs.way)
    tokens = [*source, *written]
    rows = looks(mask, len(source), len(written))
    if mask != "seq2seq":
        return WritingSteps(tokens, len(source), rows, [{"finding": still(mask, len(tokens))}])
    steps: list[dict[str, Any]] = [
        {"finding": _("The {n} tokens that are read see each other; nothing is written yet").format(n=len(source))}
    ]
    total = 0.0
    for place, (word, (p, best)) in enumerate(zip(written, guesses, strict=True)):
        if p is None:
            finding = _("“{word}” sees {n} tokens to read and {own} already written; no model here knows it")
        else:
            finding = _("[MASK] sees {n} tokens to read and {own} already written: “{word}”, {p:.0%}")
            total += math.log(max(p, 1e-12))
        finding = finding.format(n=len(source), own=place, word=word, p=p)
        steps.append({"finding": finding, "row": place, "word": word, "p": p, "guesses": best})
    steps.append({"finding": whole(written, total, all(p is not None for p, _best in guesses))})
    return WritingSteps(tokens, len(source), rows, steps, others)


def whole(written: list[str], total: float, known: bool) -> str:
    text = " ".join(word for word in written if word != "[SEP]")
    if not known:
        return _("“{text}”: the mask is the same in every language").format(text=text)
    share = f"{math.exp(total):.1%}" if total > math.log(0.001) else _("less than 0.1%")
    return _("“{text}” has probability {p}, the product of {n} factors (ln P = {total})").format(
        text=text, p=share, n=len(written), total=number(total)
    )


def still(mask: str, count: int) -> str:
    """The description of a mask under which nothing is written."""
    return {
        "both_ways": _("Both ways, in a third of the batches: each of the {n} tokens sees all {n}, as in BERT"),
        "left_to_right": _("From the left, in a sixth: a token sees itself and those before it, as in GPT"),
        "right_to_left": _("From the right, in a sixth: a token sees itself and those behind it"),
    }[mask].format(n=count)


def looks(mask: str, source: int, written: int) -> list[str]:
    """The rows of the mask that the model itself computes for these segments."""
    import torch

    from minibert.model import Batch
    from minibert.relatives.unilm import SEGMENTS, by_segments

    first, second = SEGMENTS[mask]
    segments = torch.tensor([[first] * source + [second] * written])
    mask = by_segments(Batch(segments, segments))[0, 0]
    return ["".join(str(int(cell)) for cell in row) for row in mask]


@st.cache_data(show_spinner=False, max_entries=200, hash_funcs={Writer: lambda writer: str(writer.folder)})
def written_by(writer: Writer, version: int, read: tuple[str, ...], given_text: tuple[str, ...] | None, way):
    """→ (the written tokens as words, (P, the likeliest [(word, P)]) for each, other texts with ln P)."""
    from minibert.inside.predictions import writing
    from minibert.toy.answers import rules_for, spelled

    model, tokenizer = network(writer.folder)
    source = [tokenizer.cls_id, *(tokenizer.ids.get(word, tokenizer.unk_id) for word in read), tokenizer.sep_id]
    if given_text is not None:
        return given_by(model, tokenizer, source, given_text)
    rules = rules_for(tokenizer, most=16)
    if writer.ends == ".":
        rules = writing.Rules(tokenizer.mask_id, {tokenizer.ids["."]}, tokenizer.special_ids, 16)
    if way.name == "sample":
        texts = writing.samples(model, source, rules, [way.seed], way.temperature)
    else:
        texts = writing.beam(model, source, rules, way.width if way.name == "beam" else 1)
    best = texts[0]
    guesses = [
        (math.exp(p), [(visible(tokenizer.vocab[i]), share) for i, share in some])
        for p, some in zip(best.log_probs, best.guesses, strict=True)
    ]
    others = [(spelled(text.ids, tokenizer), text.score) for text in texts[1:]]
    return [tokenizer.vocab[i] for i in best.ids], guesses, others


def given_by(model, tokenizer, source: list[int], given_text: tuple[str, ...]):
    """The same result for a text given by the user: P of each token, None if any word is unknown."""
    from minibert.inside.predictions.writing import expected

    words = [*given_text, "[SEP]"]
    ids = [tokenizer.ids.get(word, tokenizer.unk_id) for word in words]
    known = tokenizer.unk_id not in [*source, *ids]
    guesses: list[tuple[float | None, list]] = []
    for place, i in enumerate(ids):
        if not known:
            guesses.append((None, []))
            continue
        log_probs = expected(model, source, ids[:place], tokenizer.mask_id)
        best = log_probs.topk(TOP)
        some = zip(best.indices.tolist(), best.values.exp().tolist(), strict=True)
        guesses.append((float(log_probs[i].exp()), [(visible(tokenizer.vocab[one]), share) for one, share in some]))
    return words, guesses, []
