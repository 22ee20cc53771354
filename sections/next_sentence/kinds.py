"""Topic against coherence: all kinds of B, judged by the model and by topic alone."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from sections.next_sentence.subject import Inputs, bundled, kind_names, short_names
from ui.figures import figure, legend
from ui.first_views import first_view
from ui.lesson import Lesson
from ui.model_cache import language_read, load, version_of
from ui.model_widgets import warn_untrained
from ui.source import show_source
from ui.state import follow_link, set_url, url_int
from ui.translations import _

if TYPE_CHECKING:
    import numpy as np


@st.cache_data(show_spinner=False, max_entries=24)
def measured(model: str, version: int, sentences: int):
    from minibert.inside.predictions.next_sentence import judge, measure

    def stored(*asked) -> "np.ndarray":
        return first_view("next_sentence", "judged", model, asked[-1], lambda: {"probs": judge(*asked)})["probs"]

    loaded = load(model)
    documents = bundled(language_read(model))
    return measure(loaded.model, loaded.tokenizer, *documents, sentences=sentences, judge=stored)


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.predictions.next_sentence import TopicOverlap, measure
    from minibert.training.statistics import wilson
    from plots.next_sentence import Share, judged_next
    from plots.theme import GREY

    model = inputs.model
    warn_untrained(model)
    sentences = passages()
    with st.spinner(_("Judging all pairs …")):
        result = measured(model, version_of(model), sentences)
    names = kind_names()
    shares: dict[str, list[Share]] = {_("the model"): [], _("topic only"): []}
    table = []
    for kind in result.rows:
        *counts, n = result.judged_next(kind)
        cells = []
        for judge_name, count in zip(shares, counts, strict=True):
            low, high = wilson(count, n)
            shares[judge_name].append(Share(count / n, low, high))
            cells.append(f"{count}\u00a0=\u00a0{count / n:.1%} ({low * 100:.0f}\u2060–\u2060{high:.0%})")
        *wins, n = result.ranked_higher(kind)
        ranks = ["–", "–"] if kind == "next" else [f"{win / n:.1%}" for win in wins]
        table.append([short_names()[kind], str(n), *cells, *ranks])
    labels = [f"{names[kind]} " for kind in result.rows]
    legend([(GREY, "▌", _("what would be right"))])
    figure(
        partial(judged_next, labels, shares, [float(kind == "next") for kind in result.rows], _("judged “next”")),
        " ".join(
            _("{kind}: judged “next” by the model {a:.0%}, by topic only {b:.0%}.").format(
                kind=names[kind], a=one.value, b=other.value
            )
            for kind, one, other in zip(result.rows, *shares.values(), strict=True)
        ),
        "kinds",
        title=_finding(result, model),
    )
    lesson.show("Topic against coherence", title=False)
    heads = [_("B is"), _("pairs"), _("model: “next”"), _("topic only: “next”")]
    heads += [_("model: true B higher"), _("topic only: true B higher")]
    with st.container(key="kinds-table"):
        st.markdown("\n".join(f"| {' | '.join(row)} |" for row in (heads, [":--", *["--:"] * 5], *table)))
    _conclude(result)
    lesson.show("What you see")
    show_source(measure, label=_("The code that measured this"))
    show_source(TopicOverlap, label=_("The judge that knows no order"))


def passages() -> int:
    if follow_link("sentences") or st.session_state.get("sentences") not in (1, 2, 3):
        st.session_state["sentences"] = url_int("sentences", 2, 1, 3)
    chosen = st.segmented_control(_("Sentences in A and in B"), [1, 2, 3], key="sentences", required=True)
    set_url("sentences", chosen, default=2)
    return chosen


def _finding(result, model: str) -> str:
    """The finding in one line: how often the model says “next” to true pairs, and where topic or order is wrong."""
    shares = {}
    for kind in ("next", "swapped", "elsewhere"):
        count, _topic, n = result.judged_next(kind)
        shares[kind] = count / n
    return _(
        "“Next”, says {model}: true pairs {next:.0%}, swapped {swapped:.0%}, another topic {elsewhere:.0%}"
    ).format(model=model, **shares)


def _conclude(result) -> None:
    from minibert.training.statistics import wilson

    head, topic = result.accuracy("elsewhere")
    lines = [
        _(
            "**Topic.** On BERT's own question, true continuation or another topic, the model is right in "
            "**{model:.1%}** of the cases, topic alone in **{topic:.1%}** (both kinds weighing the same)."
        ).format(model=head, topic=topic)
    ]
    for kind, title, what in (
        ("swapped", _("Order."), _("the same two passages swapped")),
        ("apart", _("Adjacency."), _("a passage from elsewhere in the same document")),
    ):
        wins, _topic, n = result.ranked_higher(kind)
        low, high = wilson(wins, n)
        verdict = _("That is more than guessing.") if low > 0.5 else _("That is less than guessing.")
        if round(low, 2) <= 0.5 <= round(high, 2):  # as shown: pairs of one document make the true interval wider
            verdict = _("That may be chance.")
        lines.append(
            _(
                "**{title}** It gives the true pair more than {what} in **{wins:g} of {n}** cases, {share:.1%} (95% "
                "interval {low:.0%} – {high:.0%}). {verdict}"
            ).format(title=title, what=what, wins=wins, n=n, share=wins / n, low=low, high=high, verdict=verdict)
        )
    st.markdown("\n".join(f"- {line}" for line in lines))
