"""Many clients at once: the gain from batching."""

import statistics
import uuid
from functools import partial
from pathlib import Path

import streamlit as st

from sections.service.subject import Served, predictor_of
from ui.figures import figure
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _

CLIENTS = (1, 8, 32)
ROUNDS = 3


@st.cache_data(show_spinner=False, max_entries=20)
def _measured(name: str, directory: Path | None, example: dict, click: str) -> dict[str, list]:
    """way → for each number of clients, the median of ROUNDS measurements. click: its id, part of the cache key."""
    from minibert.service.local_client import load
    from minibert.service.server import Limits

    predictor = predictor_of(name, directory)
    ways = {"single": Limits(batch=1, window=0.0), "batched": Limits()}
    with st.spinner(_("Asking …")):
        results: dict[str, list] = {way: [] for way in ways}
        for clients in CLIENTS:
            for way, limits in ways.items():
                rounds = [load(predictor, [example] * clients, limits) for _round in range(ROUNDS)]
                results[way].append(sorted(rounds, key=lambda one: one.seconds)[ROUNDS // 2])
        return results


@st.fragment
def show(lesson: Lesson, served: Served) -> None:
    lesson.show("Many clients at once", title=False)
    if st.button(_("Measure"), key="measure", icon=":material/speed:"):
        st.session_state["measured"] = uuid.uuid4().hex
    click = st.session_state.get("measured")
    if not click:
        st.markdown(_("Not measured yet: a second or two after the click."))
        return
    from plots.service import rates

    results = _measured(served.name, served.directory, served.example, click)
    words = {"single": _("one by one"), "batched": _("in batches")}
    drawn = {words[way]: [one.per_second for one in loads] for way, loads in results.items()}
    table = [
        {
            _("clients"): clients,
            _("served"): words[way],
            _("answers a second"): f"{one.per_second:,.0f}",
            _("median wait, ms"): f"{1000 * statistics.median(one.waits):.1f}",
            _("longest wait, ms"): f"{1000 * max(one.waits):.1f}",
            _("batches"): " + ".join(map(str, one.sizes[:8])) + (" + …" if len(one.sizes) > 8 else ""),
        }
        for i, clients in enumerate(CLIENTS)
        for way, loads in results.items()
        for one in loads[i : i + 1]
    ]
    last = {way: loads[-1].per_second for way, loads in results.items()}
    alt = _(
        "{n} clients at once: {single:,.0f} answers a second one by one, {batched:,.0f} in batches, {times:.1f} times "
        "as many."
    ).format(n=CLIENTS[-1], single=last["single"], batched=last["batched"], times=last["batched"] / last["single"])
    finding = _("{n} clients at once: {times:.1f} times as many answers in batches").format(
        n=CLIENTS[-1], times=last["batched"] / last["single"]
    )
    figure(
        partial(rates, CLIENTS, drawn, _("clients at once"), _("answers a second"), finding),
        alt,
        key="load",
        data=table,
    )
    st.markdown(f"**{alt}**", width=820)
    st.table(table)
    from minibert.service.server import Batcher

    show_source(Batcher.next_batch, label=_("How a batch is gathered"))
    show_source(Batcher.run, label=_("The one loop that has the model"))
