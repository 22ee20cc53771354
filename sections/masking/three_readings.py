"""Why not always [MASK]: predictions at one position that holds [MASK], another token, or the token itself."""

import streamlit as st

from sections.masking.bars import panel, show_bars, show_legend
from sections.masking.subject import MAX_CHARS, Inputs, drawn, encode_whole, follow, last_word
from ui.inputs import counter, sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread
from ui.model_widgets import warn_untrained
from ui.predict import predict
from ui.state import follow_link, set_url, url_int
from ui.text import literal, visible
from ui.translations import _


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    _readings(inputs)
    lesson.show("Why not always [MASK]", title=False)


def _readings(inputs: Inputs) -> None:
    import torch

    from minibert.inside.predictions.cloze import expectations

    follow("probe", inputs.text)
    text = sentence_input(
        "probe", inputs.plain[1:], default=inputs.text, label=_("Sentence to look into"), max_chars=MAX_CHARS
    )
    loaded = inputs.loaded
    warn_untrained(inputs.model)
    encoding = encode_whole(inputs, text)
    if encoding is None:
        return
    warn_unread(encoding, inputs.model, text)
    tokenizer = loaded.tokenizer
    shown = drawn(len(encoding), "readings-from", last_word(encoding) if not all(encoding.special) else 1)
    candidates = [i for i in shown if not encoding.special[i]]
    if not candidates:
        st.info(_("Type at least one word that is not a special token."), icon=":material/edit:")
        return
    position = _position(encoding, candidates)
    swap = counter("swap", _("Another random token"), button="swap-again")

    true = encoding.ids[position]
    # Any token except special ones and the true one, so that the effect is visible.
    others = [i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids and i != true]
    other = others[int(torch.randint(len(others), (1,), generator=torch.Generator().manual_seed(swap)))]
    name, other_name = visible(tokenizer.vocab[true]), visible(tokenizer.vocab[other])
    panels, chances, first = [], [], []
    for shown, title in (
        (tokenizer.mask_id, _("it reads [MASK]")),
        (other, _("random: {token}").format(token=other_name)),
        (true, _("kept: {token}").format(token=name)),
    ):
        ids = list(encoding.ids)
        ids[position] = shown
        log_probs = expectations(loaded.model, ids, [position])[0]
        marked = {true: "true", other: "shown"} if shown == other else {true: "true"}
        panels.append(panel(tokenizer, log_probs, 5, title, marked))
        chances.append((float(log_probs[true].exp()), float(log_probs[other].exp())))
        first.append(int(log_probs.argmax()))
    question = _("It reads “{other}” where “{name}” stood. What does it expect there first?")
    question = question.format(other=literal(other_name), name=literal(name))
    options = {
        other: _("“{word}”, which it reads").format(word=other_name),
        true: _("“{word}”, which stood there").format(word=name),
        None: _("something else"),
    }
    right = list(options).index(first[1] if first[1] in options else None)
    about = f"{inputs.model} {text} {position} {other}"
    if not predict("taken-in", question, list(options.values()), right, about=about):
        return
    finding = _("Not misled: it reads “{word}” and expects “{best}”")
    if first[1] == other:
        finding = _("Misled: it reads “{word}” and expects it")
    show_bars(panels, "readings", finding.format(word=other_name, best=visible(tokenizer.vocab[first[1]])))
    show_legend("true", "shown")
    _show_chances(literal(name), literal(other_name), chances)


def _position(encoding, candidates: list[int]) -> int:
    start = last_word(encoding)
    start = start if start in candidates else candidates[-1]
    if follow_link("at") or st.session_state.get("at") not in candidates:
        requested = url_int("at", start, 0, len(encoding) - 1)
        st.session_state["at"] = requested if requested in candidates else start
    position = st.pills(
        _("Position"), candidates, format_func=lambda i: literal(visible(encoding.tokens[i])), key="at", required=True
    )
    set_url("at", position, default=start)
    return position


def _show_chances(name: str, other: str, chances: list[tuple[float, float]]) -> None:
    """Probabilities of the two tokens in the three cases, and a conclusion."""
    from plots.masking import percent

    (masked, _masked_other), (swapped, swapped_other), (kept, _kept_other) = chances
    st.markdown(
        _(
            "The probability of **{name}** is {masked} behind `[MASK]`, {kept} when the model reads the word itself, "
            "and {swapped} when it reads **{other}** there. To the word it reads, **{other}**, it gives "
            "{swapped_other}."
        ).format(
            name=name,
            other=other,
            masked=percent(masked),
            kept=percent(kept),
            swapped=percent(swapped),
            swapped_other=percent(swapped_other),
        )
    )
