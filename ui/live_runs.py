"""Runs as most lessons show them: progress rows above, figures below, and shares over the steps."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import streamlit as st

from ui.figures import figure
from ui.runs import going, live, own_runs, send_input, state_rows
from ui.text import literal, visible
from ui.translations import _

Lines = Mapping[str, Sequence[tuple[int, float]]]  # name → (step, value)s


def step_and_speed(step: dict) -> str:
    """A run's step and tokens per second, for `ui.runs.state_rows`."""
    return _(" · step {step:,} · {speed:,.0f} tokens/s").format(step=step["step"], speed=step["tokens_per_second"])


def follow_runs(
    runs: Sequence,
    draw: Callable[[list], None],
    hint: str,
    *,
    speed: Callable[[dict], str] = step_and_speed,
    message: list | None = None,
) -> None:
    """Progress rows of these runs and `draw` below them; without a run, `hint`. speed: see `ui.runs.state_rows` ·
    message: the user's input, sent to the active runs."""
    if not runs:
        st.markdown(hint)
        return
    if message is not None:
        send_input(runs, message)
    live(tuple(run.id for run in runs), draw, lambda shown: state_rows(going(shown), speed))


def newest_of_each(kind: str, names: Iterable[str]) -> list:
    """This browser's newest run of the kind `kind/name` for each name, in the order of the names."""
    newest = {run.kind.rpartition("/")[2]: run for run in reversed(own_runs(kind))}
    return [newest[name] for name in names if name in newest]


def show_over_steps(lines: Lines, axis: str, alt: str, key: str, *, name: str, value: str = "", wide=False) -> None:
    """Shares over the steps, one line each. axis: title of the shares · alt: text alternative with a place for {told},
    the last share of each line · name, value: headers of the table, `value` by default "right"."""
    from plots.to_write import over_steps

    last = _("; ").join(f"{line}{_(': ')}{points[-1][1]:.0%}" for line, points in lines.items())
    rows = [
        {name: line, _("step"): step, value or _("right"): f"{share:.1%}"}
        for line, points in lines.items()
        for step, share in points
    ]
    figure(over_steps(lines, (_("step"), axis)), alt.format(told=last), key, data=rows, wide=wide)


def metrics_by_step(runs: Mapping[str, Sequence[tuple[int, Mapping[str, float]]]]) -> list[dict]:
    """Table rows: run → (step, metrics)s."""
    return [
        {_("run"): name, _("step"): step, **{metric: round(value, 3) for metric, value in metrics.items()}}
        for name, points in runs.items()
        for step, metrics in points
    ]


def answers_of(run) -> list[dict]:
    """What a run has answered to the user's input so far, oldest first."""
    return [event["answers"][0] for event in run.events() if event["event"] == "sample"]


def with_cosines(lines: Iterable[tuple[str, float]]) -> str:
    """Such as "first line (0.91) · second (0.87)", as Markdown."""
    return " · ".join(f"{literal(visible(line, spaces=False))} ({cosine:.2f})" for line, cosine in lines)
