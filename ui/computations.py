"""Results that take a while and belong to nobody: computed once for all on the server, as a job, and found again."""

import hashlib
from collections.abc import Callable

import streamlit as st

from ui.runs import COMPUTED, manager, redraw_until, state_in_words, stop, submit
from ui.text import literal
from ui.translations import _
from ui.visitor import owner


def fingerprint(*parts: object) -> str:
    """A name for what is computed from `parts`: bytes, or anything whose repr says all of it."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:24]


def computed(name: str):
    """The run that computes, or has computed, `name`, whoever began it; None if there is none that may yet succeed."""
    return next((run for run in _runs(name) if not run.over or run.state == "finished"), None)


def name_of(run) -> str:
    """What a run computes: the `name` that `compute` was given."""
    return run.kind.removeprefix(f"{COMPUTED}/")


def show_failure(name: str) -> None:
    """Why this browser's last try to compute `name` failed, if it did and nobody's has succeeded."""
    own = [run for run in _runs(name) if run.owner.startswith(owner())]
    if computed(name) is None and own and own[0].state in ("failed", "lost"):
        st.error(literal(own[0].error or _("failed")), icon=":material/error:")


def _runs(name: str) -> list:
    return [run for run in manager().runs() if run.kind == f"{COMPUTED}/{name}"]


def compute(name: str, target: str, *arguments, title: str):
    """Begin to compute `name`: as `ui.runs.submit` does, but kept apart from the browser's own trainings, so that the
    ones do not push out the others. None if it is refused; a run that someone else has begun meanwhile is returned."""
    kind, whose = f"{COMPUTED}/{name}", f"{owner()}-{COMPUTED}"
    return computed(name) or submit(target, *arguments, title=title, kind=kind, owner=whose)


def follow(names: tuple[str, ...], draw: Callable[[list], None]) -> None:
    """Show how far these computations are, those that go on with a button to stop it, and call `draw` with all of them,
    again and again until the last one ends; then the whole page runs once more."""

    def rows_and(runs: list) -> None:
        for run in runs:
            _row(run)
        draw(runs)

    redraw_until(lambda: [run for run in map(computed, names) if run], lambda run: run.over, rows_and)


def _row(run) -> None:
    if run.over:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"run-{run.id}"):
        said = _("computing") if run.state == "running" else state_in_words(run)
        st.progress(run.progress, text=f"{literal(run.title)}: **{said}**")
        if run.owner.startswith(owner()):
            st.button(_("Stop"), key=f"stop-{run.id}", icon=":material/stop:", on_click=stop, args=(run,))
