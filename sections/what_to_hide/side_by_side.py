"""The central picture: one text masked in six ways, and the model's prediction at each masked position."""

import html
from collections.abc import Mapping

import streamlit as st

from sections.what_to_hide.subject import Inputs, vocabulary
from ui.figures import in_words
from ui.limits import warn_unread_text
from ui.model_cache import load
from ui.model_registry import title_of
from ui.page import picture
from ui.text import literal, one_by_one, visible
from ui.translations import _
from ui.window import say_drawn

MOST = 26  # tokens drawn, few enough to see six rows at once


def ways() -> dict[str, tuple[str, str]]:
    """Kind of the masked units, and the models that mask so."""
    return {
        "piece": (_("pieces"), "BERT, RoBERTa"),
        "word": (_("words"), "BERT-wwm"),
        "phrase": (_("phrases"), _("ERNIE, stage 2")),
        "entity": (_("names"), _("ERNIE, stage 3")),
        "span": (_("spans"), "SpanBERT"),
        "similar": (_("similar words"), "MacBERT"),
    }


def show(inputs: Inputs) -> None:
    with picture():
        rows_drawn = draw(inputs)
        if rows_drawn is None:
            st.info(_("Type a sentence."), icon=":material/edit:")
            warn_unread_text(inputs.model, inputs.text)
            return
        reading, rows = rows_drawn
        tokenizer = load(inputs.model).tokenizer
        st.markdown(f"**{literal(finding(rows))}**")
        st.html(rows_html(reading, rows, tokenizer.vocab))
        in_words(finding(rows), "drawn-words", lambda: table(rows, tokenizer.vocab))
        warn_unread_text(inputs.model, inputs.text)
        say_drawn(reading.encoding.special.count(False), len(drawn(reading)), follows=False)
        words = [
            _(
                "Struck out: a hidden token; under it what the model reads (? is [MASK]) and what it guesses. "
                "A line joins what may fall together. Guesses: {model}."
            ).format(model=literal(title_of(inputs.model)))
        ]
        if dice := chance(rows["similar"], reading, tokenizer, vocabulary(inputs.model).similar):
            words.append(_("Among the similar words drawn at random: {told}.").format(told=literal(dice)))
        if "[UNK]" in reading.encoding.tokens:
            words.append(_("Words outside the vocabulary are read as [UNK] and never hidden."))
        st.caption(one_by_one(*words))


def draw(inputs: Inputs):
    """(the tokenized text, kind → minibert.inside.predictions.hidden_text.Hidden); None if it has no token. All of a
    text is read; what is hidden is among the tokens drawn."""
    from minibert.inside.predictions.hidden_text import KINDS, guessed, hide, read

    loaded, vocab = load(inputs.model), vocabulary(inputs.model)
    reading = read(loaded.tokenizer, vocab, inputs.text, loaded.model.config.longest, inputs.chinese, MOST)
    if all(reading.kept):
        return None
    rows = [hide(reading, kind, vocab, inputs.rate / 100, inputs.seed) for kind in KINDS]
    results = guessed(loaded.model, rows, loaded.tokenizer.pad_id)
    return reading, dict(zip(KINDS, results, strict=True))


def drawn(reading) -> list[int]:
    """The places in the picture."""
    return [place for place, special in enumerate(reading.encoding.special[: reading.end]) if not special]


def rows_html(reading, rows: Mapping, vocab) -> str:
    """One row per masking, as safe HTML: the original token struck out, below it the input token and the prediction."""
    rows_drawn, words = [], ways()
    for kind, one in rows.items():
        unit_of = {
            place: number
            for number, (start, end) in enumerate(reading.units.get(kind, []))
            if end - start > 1
            for place in range(start, end)
        }
        cells = [
            cell(one, place, vocab, place - 1 in unit_of and unit_of.get(place) == unit_of[place - 1])
            for place in drawn(reading)
        ]
        what, who = words[kind]
        name = f"<b>{html.escape(what)}</b><small>{html.escape(who)}</small>"
        label = html.escape(f"{what}{_(': ')}{score(one)}")
        rows_drawn.append(
            f'<li><span class="way">{name}</span><ol aria-label="{label}">{"".join(cells)}</ol>'
            f'<span class="score">{html.escape(score(one))}</span></li>'
        )
    return f'<ul class="mb-hide">{"".join(rows_drawn)}</ul>'


def cell(one, place: int, vocab, joined: bool) -> str:
    """One token of a row. joined: in the same unit as the token before."""
    css = ["joined"] if joined else []
    token = visible(vocab[one.read[place]])
    if (target := one.asked[place]) is None:
        return f'<li class="{" ".join(css)}"><span class="now"><bdi>{html.escape(token)}</bdi></span></li>'
    guess, share = one.said[place]
    right = guess == target
    shown = "?" if vocab[one.read[place]] == "[MASK]" else token
    mark, css = ("✓" if right else "✗"), [*css, "hid"]
    title = html.escape(f"{visible(vocab[target])} → {token}; {visible(vocab[guess])} {share:.0%}")
    return (
        f'<li class="{" ".join(css)}" title="{title}"><s><bdi>{html.escape(visible(vocab[target]))}</bdi></s>'
        f'<span class="now"><bdi>{html.escape(shown)}</bdi></span>'
        f'<span class="said"><bdi>{html.escape(visible(vocab[guess]))}</bdi> {mark}</span></li>'
    )


def score(one) -> str:
    return _("{right} of {n} right").format(right=one.right, n=len(one.places))


def chance(one, reading, tokenizer, similar) -> str:
    """Which replacements of the last row are no similar words: one word in ten, and a word without a near one."""
    vocab = tokenizer.vocab
    places = one.random(tokenizer.mask_id, similar, reading.units["similar"])
    return _(", ").join(f"{visible(vocab[one.asked[place]])} → {visible(vocab[one.read[place]])}" for place in places)


def finding(rows: Mapping) -> str:
    """The easiest way and the hardest, by the share of hidden tokens that are guessed."""
    shares = {kind: one.right / len(one.places) for kind, one in rows.items() if one.places}
    if not shares:
        return _("Nothing is hidden")
    best, worst = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    (name, easy), (other, hard) = ((ways()[kind][0], rows[kind]) for kind in (best, worst))
    if shares[best] == shares[worst]:
        return _("Hidden in six ways: {a} of {n} guessed in each").format(a=easy.right, n=len(easy.places))
    return _("Hidden as {name}: {a} of {n} tokens guessed; as {other}: {b} of {m}").format(
        name=name, a=easy.right, n=len(easy.places), other=other, b=hard.right, m=len(hard.places)
    )


def table(rows: Mapping, vocab) -> list[dict]:
    words = ways()
    return [
        {
            _("hidden"): words[kind][0],
            _("text"): visible(vocab[one.asked[place]]),
            _("read"): visible(vocab[one.read[place]]),
            _("guess"): visible(vocab[one.said[place][0]]),
            _("probability"): f"{one.said[place][1]:.0%}",
            "": "✓" if one.said[place][0] == one.asked[place] else "✗",
        }
        for kind, one in rows.items()
        for place in one.places
    ]
