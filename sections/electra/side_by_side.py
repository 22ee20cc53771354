"""The central picture: the generator's samples at the masked positions, and the discriminator's verdicts."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from sections.electra.subject import Inputs, networks
from ui.figures import in_words
from ui.limits import say_left_out
from ui.page import picture
from ui.pairs import names_html, warn_unknown
from ui.text import visible
from ui.translations import _

MOST = 60  # tokens
GUESSES = 4  # of the generator's predictions, per masked position


@dataclass(frozen=True)
class ReplacedSentence:
    """One draw on the sentence. one: `replaced.Replaced` · vocab: token by id · special: by position."""

    one: object
    vocab: Sequence[str]
    special: Sequence[bool]

    @property
    def places(self) -> list[int]:
        return [i for i, special in enumerate(self.special) if not special]


def show(inputs: Inputs) -> None:
    with picture():
        drawn = draw(inputs)
        if drawn is None:
            st.info(_("Type a sentence."), icon=":material/edit:")
            return
        st.markdown(f"**{finding(drawn)}**")
        st.html(columns_html(drawn))
        in_words(finding(drawn), "drawn-words", lambda: table(drawn))
        tokens = [drawn.vocab[drawn.one.original[place]] for place in drawn.places]
        warn_unknown(tokens)
        say_left_out(len(networks(inputs.pair)[2].encode(inputs.text)) - len(drawn.special))
        if "[UNK]" in tokens and not inputs.pair.further:
            st.caption(
                _("The discriminator has read stories of the toy world alone: outside it, true words look replaced.")
            )


def draw(inputs: Inputs) -> ReplacedSentence | None:
    """Mask, replace and judge the sentence; None if it has no token."""
    from minibert.inside.relatives.replaced import places_to_hide, replaced

    discriminator, generator, tokenizer = networks(inputs.pair)
    encoding = tokenizer.encode(inputs.text, max_length=MOST, truncation="head")
    places = places_to_hide(encoding.special, inputs.rate / 100, inputs.seed)
    if not places:
        return None
    one = replaced(
        generator,
        discriminator,
        encoding.ids,
        places,
        tokenizer.mask_id,
        temperature=inputs.temperature,
        seed=inputs.seed,
    )
    return ReplacedSentence(one, tokenizer.vocab, encoding.special)


def verdicts() -> dict[str, str]:
    return {
        "found": _("✓ found"),
        "missed": _("✗ missed"),
        "alarm": _("✗ false alarm"),
        "right": _("= as it was"),
        "quiet": "",
    }


def verdict(drawn: ReplacedSentence, place: int) -> str:
    """A key of `verdicts`."""
    replaced, suspected = drawn.one.replaced[place], drawn.one.suspicion[place] > 0.5
    if replaced:
        return "found" if suspected else "missed"
    if suspected:
        return "alarm"
    return "right" if drawn.one.hidden[place] else "quiet"


def columns_html(drawn: ReplacedSentence) -> str:
    """The rows' names and a column per token, as safe HTML: every colour comes with a word or a number."""
    names = _("the text"), _("what the generator makes of it"), _("the discriminator: was this token replaced?")
    one, words, columns = drawn.one, verdicts(), [names_html(names)]
    for place in drawn.places:
        was, now = (html.escape(visible(drawn.vocab[ids[place]])) for ids in (one.original, one.read))
        share = float(one.guesses[place][one.read[place]]) if one.hidden[place] else None
        under = f"<small>{html.escape(percent(share))}</small>" if share is not None else ""
        css = ' class="hid"' if one.hidden[place] else ""
        said, suspected = words[verdict(drawn, place)], html.escape(percent(one.suspicion[place]))
        columns.append(
            f'<li{css}><span class="was"><bdi>{was}</bdi></span><span class="read"><bdi>{now}</bdi>{under}</span>'
            f'<span class="says" style="--p:{one.suspicion[place]:.3f}"><span>{suspected}</span>'
            f"<b>{html.escape(said)}</b></span></li>"
        )
    label = html.escape(_("the text, what the generator makes of it, and P(replaced), token by token"))
    return f'<ol class="mb-electra" aria-label="{label}">{"".join(columns)}</ol>'


def percent(share: float) -> str:
    return f"{share:.0%}".replace("%", "\u00a0%") if share >= 0.01 else "<\u00a01\u00a0%"


def finding(drawn: ReplacedSentence) -> str:
    """The draw in one line."""
    found = [verdict(drawn, place) for place in drawn.places]
    hidden = sum(drawn.one.hidden[place] for place in drawn.places)
    replaced = found.count("found") + found.count("missed")
    words = _(
        "{hidden} hidden, {right} of them filled with the right word. Of {replaced} replaced tokens the discriminator "
        "finds {found}; of {original} original ones it suspects {alarms}."
    )
    return words.format(
        hidden=hidden,
        right=hidden - replaced,
        replaced=replaced,
        found=found.count("found"),
        original=len(found) - replaced,
        alarms=found.count("alarm"),
    )


def table(drawn: ReplacedSentence) -> list[dict]:
    """One row per token."""
    one, words = drawn.one, verdicts()
    rows = []
    for place in drawn.places:
        best = one.guesses[place].topk(GUESSES) if one.hidden[place] else None
        guesses = (
            _(", ").join(
                f"{visible(drawn.vocab[i])} {percent(p)}"
                for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)
            )
            if best is not None
            else ""
        )
        rows.append(
            {
                _("text"): visible(drawn.vocab[one.original[place]]),
                _("hidden"): "[MASK]" if one.hidden[place] else "",
                _("the generator’s guesses"): guesses,
                _("read"): visible(drawn.vocab[one.read[place]]),
                _("P(replaced)"): percent(one.suspicion[place]),
                "": words[verdict(drawn, place)],
            }
        )
    return rows
