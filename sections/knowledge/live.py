"""Live training in this lesson: the button, its runs, and their metrics by step."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from ui.figures import figure
from ui.live_runs import follow_runs
from ui.runs import manager, own_runs, show_refusal
from ui.translations import _, pgettext


def train(
    kind: str, label: str, most: int, usual: int, text: str, begin: Callable[[int], None], draw: Callable[[list], None]
) -> None:
    """kind: of the runs · label: of the button · most, usual: steps, maximum and default · text: the user's, sent to
    active runs · begin: submits the runs, each with its own kind · draw: shows the newest run of each kind."""
    manager().warm_up()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key=f"asked-{kind}"):
        steps = st.slider(_("Steps"), 50, most, usual, 50, key=f"{kind}-steps", width=240)
        if st.button(label, type="primary", icon=":material/play_arrow:", key=f"train-{kind}"):
            begin(int(steps))
    show_refusal()
    newest: dict = {}
    for run in own_runs(kind):
        newest.setdefault(run.kind, run)
    hint = _("**No run yet.** The first points stand here some seconds after the click.")
    follow_runs(list(newest.values())[::-1], draw, hint, message=[text])


def measured(run) -> list[dict]:
    return [event for event in run.events() if event["event"] == "eval"]


def draw_lines(lines: Mapping[str, Sequence[tuple[int, float]]], title: str, key: str) -> None:
    """Shares by step, with the last value of each in words."""
    from plots.to_write import over_steps

    lines = {name: marks for name, marks in lines.items() if marks}
    if not lines:
        st.caption(_("The stories are being written …"))
        return
    last = _("; ").join(f"{name} {marks[-1][1]:.0%}" for name, marks in lines.items())
    figure(
        over_steps(lines, (_("step"), title)),
        _("{title}, over the steps. Last: {told}.").format(title=title, told=last),
        key,
        data=[
            {pgettext("in a chart", "line"): name, _("step"): step, _("share"): f"{share:.1%}"}
            for name, marks in lines.items()
            for step, share in marks
        ],
    )
