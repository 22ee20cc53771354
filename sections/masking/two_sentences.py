"""One blank in two sentences, compared over the whole vocabulary."""

from functools import partial

import streamlit as st

from sections.masking.bars import around, panel, show_bars
from sections.masking.subject import MAX_CHARS, Inputs, expected
from ui.figures import figure
from ui.inputs import example_pills, sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread
from ui.model_cache import version_of
from ui.model_widgets import warn_untrained
from ui.source import show_source
from ui.text import literal, visible
from ui.translations import _

MOVERS = 24  # most tokens labelled in the figure


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.predictions.cloze import expectations

    loaded = inputs.loaded
    warn_untrained(inputs.model)
    mask_id = loaded.tokenizer.mask_id
    chooser = st.container()  # shown above the fields, filled after them
    rows, panels = [], []
    for column, key, start in zip(st.columns(2), "ab", inputs.pairs[0], strict=True):
        name = key.upper()
        with column:
            text = sentence_input(
                key,
                [],
                default=start,
                label=_("Sentence {name}, with a [MASK]").format(name=name),
                max_chars=MAX_CHARS,
                blanks=True,
            )
            encoding = loaded.tokenizer.encode(text, max_length=loaded.config.longest, truncation="head")
            warn_unread(encoding, inputs.model, text)
            places = [i for i, number in enumerate(encoding.ids) if number == mask_id]
            if not places:
                st.info(
                    _("Write `[MASK]` in sentence {name} where the blank should be.").format(name=name),
                    icon=":material/edit:",
                )
            else:
                if len(places) > 1:
                    st.caption(_("The first of {n} blanks is compared.").format(n=len(places)))
                rows.append(expected(inputs.model, encoding.ids, places[:1])[0])
                title = f"{name}{_(': ')}{around(encoding.tokens, places[0])}"
                panels.append(panel(loaded.tokenizer, rows[-1], 5, title, {}))
    now = (st.session_state["a"], st.session_state["b"])
    with chooser:
        example_pills(
            "two",
            [literal(_difference(*pair)) for pair in inputs.pairs],
            inputs.pairs.index(now) if now in inputs.pairs else None,
            partial(_use_pair, inputs.pairs),
            title=_("Pairs"),
            suffix="pair",
            label_visibility="visible",
        )
    if len(rows) == 2:
        finding = _("Expected first: “{a}” in A, “{b}” in B").format(a=panels[0].tokens[0], b=panels[1].tokens[0])
        show_bars(panels, "pair-bars", finding)
        lesson.show("One blank, two sentences", title=False)
        _show_cloud(rows, _visible(inputs.model, version_of(inputs.model), loaded.tokenizer.vocab))
    show_source(expectations, find="log_softmax", label=_("The code behind every bar and every point"))


@st.cache_resource(show_spinner=False, max_entries=8)
def _visible(model: str, version: int, _vocab) -> list[str]:
    return [visible(token) for token in _vocab]


def _show_cloud(rows: list, tokens: list[str]) -> None:
    """Every vocabulary token by its probability in A and in B, and the divergence of both distributions."""
    from minibert.inside.predictions.cloze import kl_divergence, shifts
    from plots.masking import percent, two_contexts

    log_p, log_q = rows
    forth, back = kl_divergence(log_p, log_q), kl_divergence(log_q, log_p)
    for column, label, value in zip(
        st.columns(3),
        ("KL(A‖B)", "KL(B‖A)", _("entries of the vocabulary")),
        (_("{x:.3f} nats").format(x=forth), _("{x:.3f} nats").format(x=back), f"{len(tokens):,}"),
        strict=True,
    ):
        column.metric(label, value)
    movers = shifts(log_p, log_q).topk(min(MOVERS, len(tokens))).indices.tolist()
    movers = [i for i in movers if log_p[i] != log_q[i]]
    if not movers:
        st.info(_("Both sentences are the same to the model: every token is as likely in one as in the other."))
        return
    first = movers[0]
    times = float((log_p[first] - log_q[first]).abs().exp())
    figure(
        partial(
            two_contexts,
            tokens,
            log_p,
            log_q,
            movers,
            axes=(_("probability in A"), _("probability in B")),
            names=(_("every token"), _("likelier in A"), _("likelier in B")),
            title=_("What tells them apart most: “{word}”, {times:,.1f} times as likely in {name}").format(
                word=tokens[first], times=times, name="A" if log_p[first] > log_q[first] else "B"
            ),
        ),
        _(
            "Every token of the vocabulary by its probability in A and in B. KL(A‖B) {forth:.3f} nats, KL(B‖A) "
            "{back:.3f} nats. The tokens that differ most: {tokens}."
        ).format(forth=forth, back=back, tokens=_(", ").join(tokens[i] for i in movers[:5])),
        "two-contexts",
        wide=True,
        data=lambda: {
            _("token"): [tokens[i] for i in movers],
            _("probability in A"): [percent(float(log_p[i].exp())) for i in movers],
            _("probability in B"): [percent(float(log_q[i].exp())) for i in movers],
        },
    )


def _difference(a: str, b: str) -> str:
    """A short name for two sentences: the words they do not share."""
    ours, theirs = a.rstrip(".").split(), b.rstrip(".").split()
    return f"{' '.join(w for w in ours if w not in theirs)} / {' '.join(w for w in theirs if w not in ours)}"


def _use_pair(pairs: list[tuple[str, str]], index: int) -> None:
    st.session_state["a"], st.session_state["b"] = pairs[index]
