"""SimBERT's two losses, alone and together: recorded results on LCQMC."""

import statistics

import streamlit as st

from minibert.experiments.results import by_arm, paired_difference
from ui.claim import PERCENT, made_with, records_of, signed
from ui.text import literal
from ui.translations import _, ngettext

EXPERIMENT = "simbert"


def arms() -> dict[str, str]:
    return {
        "as-is": _("nothing learned"),
        "finds": _("finding alone"),
        "writes": _("writing alone"),
        "both": _("SimBERT, both"),
    }


def show() -> None:
    records = records_of(EXPERIMENT)
    if not records:
        with st.container(border=True, key="no-results-simbert"):
            st.markdown(_("**No results of this experiment have been recorded here yet.** This makes them:"))
            st.code(f"python -m minibert experiment {EXPERIMENT} --seeds 3", "bash")
        return
    last, scale = records[-1], records[-1]["scale"]
    found = {arm: {s: PERCENT * v for s, v in by.items()} for arm, by in by_arm(records, "found").items()}
    nats = by_arm(records, "nats")
    share, cost = _("found, of {n:,}, in percent").format(n=scale["asked"]), _("nats a token of what is written")
    st.table(
        [
            {_("learned"): words, share: spread(found.get(arm), 1), cost: spread(nats.get(arm), 2)}
            for arm, words in arms().items()
        ]
    )
    lines = [
        line
        for base in ("finds", "writes")
        for line in (against(found, base, _("found, points"), 1), against(nats, base, _("nats a token"), 2))
        if line
    ]
    st.markdown("\n".join(f"- {line}" for line in lines), width=820)
    seeds = len({record["seed"] for record in records})
    st.caption(
        _(
            "Mean ± sd. From {start}, {steps} steps of {batch} pairs ({n}); learned from {learned:,} pairs of LCQMC’s "
            "development set that ask the same, asked of the first ones of its test set. {processor}, torch {torch}, "
            "{date}. Made with: {command}"
        ).format(
            start=literal(scale["begins_with"]),
            steps=scale["steps"],
            batch=scale["batch_size"],
            n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds),
            learned=last["examples"]["lcqmc"],
            **made_with(last),
        )
    )


def spread(by_seed: dict[int, float] | None, digits: int) -> str:
    values = list((by_seed or {}).values())
    if not values:
        return "–"
    sd = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.{digits}f}{sd}"


def against(values: dict[str, dict[int, float]], base: str, what: str, digits: int) -> str:
    """Both losses against one alone, paired by seed, in words; "" without common seeds."""
    one = paired_difference(values.get("both", {}), values.get(base, {}))
    if one is None:
        return ""
    half = "" if one.half is None else f" ± {one.half:.{digits}f}"
    return _("Both against {base}, {what}: {mean}{half} – **{verdict}**").format(
        base=arms()[base],
        what=what,
        mean=signed(one.mean) if digits == 1 else f"{one.mean:+.2f}".replace("-", "−"),
        half=half,
        verdict=_("a difference") if one.clear else _("within the spread of the seeds"),
    )
