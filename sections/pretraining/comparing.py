"""All curves, several runs side by side, and how their settings differ."""

import json
from functools import partial

import streamlit as st

from sections.pretraining.curves import draw_curves, main_question, question_names
from sections.pretraining.trainings import SHOWN, Training, all_trainings, chosen_trainings, run_ids, trainings_now
from ui.figures import figure
from ui.inputs import distinct
from ui.lesson import Lesson
from ui.runs import live
from ui.text import literal, visible
from ui.translations import _

MOST_COMPARED = 5


def show(lesson: Lesson, text) -> None:
    everything = all_trainings()
    chosen = chosen_trainings(everything)
    if len(everything) > 1:
        st.session_state["shown"] = [one.key for one in chosen]
        names = distinct({key: visible(one.name, spaces=False) for key, one in everything.items()})
        st.multiselect(
            _("Runs side by side"),
            list(everything),
            format_func=names.get,
            key="shown",
            max_selections=MOST_COMPARED,
            on_change=_keep,
        )

    def draw(runs: list) -> None:
        drawn = trainings_now(chosen, runs)
        if drawn:
            draw_curves(drawn)
            kinds(drawn)
            compare(drawn)

    live(run_ids(chosen), draw)
    lesson.show("What the curves say", title=False)


def _keep() -> None:
    st.session_state[SHOWN] = st.session_state["shown"]


def kinds(shown: list[Training]) -> None:
    from plots.pretraining import right_by_kind

    shares = {}
    for one in shown:
        metrics = (one.latest("eval") or {}).get("metrics", {})
        if by_kind := {name.split(".")[1]: share for name, share in metrics.items() if name.startswith("determined.")}:
            shares[one.name] = by_kind
    if not shares:
        return
    with st.expander(_("Which determined words are learned first?"), icon=":material/sort:"):
        first = next(iter(shares.values()))
        listed = _(", ").join(f"{kind} {share:.0%}" for kind, share in sorted(first.items(), key=lambda item: -item[1]))
        figure(
            partial(right_by_kind, shares, _("right, on stories never trained on")),
            _("Share of determined words right, by what determines them: {told}.").format(told=listed),
            "kinds",
            data=[{_("run"): name, **by_kind} for name, by_kind in shares.items()],
        )


def compare(shown: list[Training]) -> None:
    if len(shown) < 2:
        return
    older = {"optimization.optimizer": "adamw", "relative": "bert"}  # defaults for runs recorded without these settings
    flat = [older | flattened(one.settings) for one in shown]
    names = [
        name
        for name in dict.fromkeys(name for values in flat for name in values)
        if len({json.dumps(values.get(name)) for values in flat}) > 1
    ]
    words, main = setting_names(), main_question(shown)
    rows = []
    for one, values in zip(shown, flat, strict=True):
        step, metrics = one.latest("step"), (one.latest("eval") or {}).get("metrics", {})
        row = {_("run"): literal(one.name)}
        row |= {words.get(name, name): "–" if values.get(name) is None else f"{values[name]}" for name in names}
        if step:
            row |= {_("steps"): f"{step['step']:,}", _("tokens"): f"{step['tokens']:,}"}
            row[_("seconds")] = f"{step['seconds']:.0f}"
        loss = step["parts"].get(f"{main}_loss") if step else None  # "–" for a model with another objective
        row[_("{kind} loss").format(kind=question_names()[main])] = "–" if loss is None else f"{loss:.2f}"
        row[_("determined words")] = f"{metrics['determined']:.1%}" if "determined" in metrics else "–"
        row[_("loss on text kept apart")] = f"{metrics[f'{main}_loss']:.2f}" if f"{main}_loss" in metrics else "–"
        rows.append(row)
    st.markdown("### " + _("Side by side"))
    with st.container(key="comparison"):
        listed = [name for name in rows[0] if any(row.get(name, "–") != "–" for row in rows)]
        st.table([{name: row.get(name, "–") for name in listed} for row in rows], border="horizontal")


def setting_names() -> dict[str, str]:
    return {
        "relative": _("relative of BERT"),
        "preset": _("size"),
        "minutes": _("minutes"),
        "steps": _("step budget"),
        "vocab_size": _("vocabulary size requested"),
        "input_format": _("input"),
        "nsp_weight": _("NSP weight"),
        "start": _("start"),
        "seed": _("seed"),
        "masking.rate": _("hidden"),
        "optimization.optimizer": _("optimizer"),
        "optimization.learning_rate": _("learning rate"),
    }


def flattened(settings: dict) -> dict:
    """Nested settings with dotted names."""
    flat = {}
    for name, value in settings.items():
        flat |= {f"{name}.{k}": v for k, v in value.items()} if isinstance(value, dict) else {name: value}
    return flat
