"""Slow results that all users share: each is computed once per server, as a job, and then looked up by name."""

import hashlib
from collections.abc import Callable

import streamlit as st

from ui.errors import translated
from ui.runs import COMPUTED, manager, redraw_until, state_in_words, stop, submit
from ui.text import literal
from ui.translations import _
from ui.visitor import owner


def fingerprint(*parts: object) -> str:
    """A hash that names the result computed from `parts`: bytes, or objects whose repr is complete."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:24]


def running_or_done(name: str):
    """The run of any user that is computing, or has computed, `name`; None if there is none or all have failed."""
    return next((run for run in _runs(name) if not run.over or run.state == "finished"), None)


def name_of(run) -> str:
    """The `name` under which `compute` started this run."""
    return run.kind.removeprefix(f"{COMPUTED}/")


def show_failure(name: str) -> None:
    """Why this browser's last run for `name` failed, if it did and no other run is computing or has computed it."""
    own = [run for run in _runs(name) if run.owner.startswith(owner())]
    if running_or_done(name) is None and own and own[0].state in ("failed", "lost"):
        st.error(literal(translated(own[0].error or _("failed"))), icon=":material/error:")


def _runs(name: str) -> list:
    return [run for run in manager().runs() if run.kind == f"{COMPUTED}/{name}"]


def compute(name: str, target: str, *arguments, title: str):
    """Start computing `name`, like `ui.runs.submit`, but under an owner of its own, so that computations and trainings
    of a browser do not evict each other. Returns an existing run for `name` if there is one; None if refused."""
    kind, whose = f"{COMPUTED}/{name}", f"{owner()}-{COMPUTED}"
    return running_or_done(name) or submit(target, *arguments, title=title, kind=kind, owner=whose)


def follow(names: tuple[str, ...], draw: Callable[[list], None]) -> None:
    """Show the progress of these computations, with a stop button for this browser's own, and call `draw` with all of
    them, repeatedly until the last one ends; then rerun the whole page."""

    def rows_and(runs: list) -> None:
        for run in runs:
            _row(run)
        draw(runs)

    redraw_until(lambda: [run for run in map(running_or_done, names) if run], lambda run: run.over, rows_and)


def _row(run) -> None:
    if run.over:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"run-{run.id}"):
        said = _("computing") if run.state == "running" else state_in_words(run)
        st.progress(run.progress, text=f"{literal(run.title)}{_(': ')}**{said}**")
        if run.owner.startswith(owner()):
            st.button(_("Stop"), key=f"stop-{run.id}", icon=":material/stop:", on_click=stop, args=(run,))
