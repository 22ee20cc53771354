"""The server's training runs as used by pages: owners, progress, controls, and what this class has trained."""

import io
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import streamlit as st

from minibert.folders import CHECKPOINTS, models_folder, runs_folder
from ui.disk import warn_if_nearly_full
from ui.errors import translated
from ui.navigation import current_page, find_page, link_to
from ui.state import notes
from ui.text import literal
from ui.translations import _, ngettext
from ui.visitor import address, owner

_REFUSED, _GOING = "_refused", "_going"  # session_state keys
EVERYONE = "everyone"  # owner of the runs that the whole class shares
PRETRAINING = "pretraining"  # the kind of a run begins with the name of its page
OTHER_PAGES = {  # exceptions: first part of the kind → page
    "finetune": "output_layer",
    "to_write-answers": "to_write",
    "to_write-bart": "to_write",
    "to_write-corrector": "to_write",
    "what_to_hide-ernie2": "ernie2",
    "sentence_vectors-learn": "sentence_vectors",
    "sentence_vectors-simbert": "sentence_vectors",
    "cone-flow": "cone",
    "nezha-batches": "training_options",
    "xlnet-memory": "xlnet",
    "dialogue-learn": "dialogue",
    "few_labels-learn": "few_labels",
    "few_labels-ensemble": "few_labels",
    "smaller-cut": "smaller",
    "smaller-search": "smaller",
}
COMPUTED = "computed"  # first part of the kind of runs that train nothing: see ui/computations.py
REFRESH = 0.7  # seconds between updates of an active run
ANNOUNCE, MOST_ANNOUNCED = 2.0, 3  # in the sidebar: seconds between updates; lines
REFRESH_FIGURES = 1.0  # seconds, if figures are updated separately from the rows
MODEL_FILES = ("config.json", "model.safetensors")
VOCABULARIES = ("vocab.txt", "tokenizer.json")  # a model has at least one of them


@st.cache_resource(show_spinner=False)
def manager():
    """This server's job manager. MINIBERT_RUNS: where runs are kept; MINIBERT_SCHEDULER: a Dask cluster to use;
    MINIBERT_JOBS: the address of the job server, where this is one of several app servers."""
    directory = runs_folder()
    if server := os.environ.get("MINIBERT_JOBS"):
        from jobs.remote import RemoteManager

        return RemoteManager(server, directory)
    from jobs.manager import Manager

    return Manager(directory, scheduler=os.environ.get("MINIBERT_SCHEDULER"))


def weights_to_begin_with(checkpoint: Path):
    """A checkpoint as an argument of `submit`: its path if no run made it and the workers run on this machine, which
    saves each run two copies of 46 MB or more; otherwise an upload."""
    from jobs.files import Upload

    stays = checkpoint.parent in (CHECKPOINTS, models_folder())
    return str(checkpoint) if _work_here() and stays else Upload(checkpoint, deep=False)


def teachers() -> str | None:
    """Folder where fine-tuned distillation teachers are kept for reuse; None if workers run on other machines."""
    return str(runs_folder().resolve() / "teachers") if _work_here() else None


def _work_here() -> bool:
    """Whether the workers are processes of this machine."""
    host = os.environ.get("MINIBERT_JOBS", "").rpartition(":")[0]
    return not os.environ.get("MINIBERT_SCHEDULER") and host in ("", "127.0.0.1", "localhost")


def own_runs(kind: str) -> list:
    """This browser's runs whose kind is `kind` or begins with `kind/`, newest first."""
    return [run for run in manager().runs(owner()) if f"{run.kind}/".startswith(f"{kind}/")]


def submit(target: str, *arguments, **options):
    """Queue a run of this browser, like `Manager.submit`; None if it is refused: `show_refusal` shows the reason."""
    from jobs.manager import JobError

    try:
        return manager().submit(target, *arguments, **{"owner": owner(), "address": address(), **options})
    except JobError as error:
        note_refusal(error)
        return None


def note_refusal(reason: object) -> None:
    st.session_state[_REFUSED] = str(reason)


def show_refusal() -> None:
    """For use beside a button that starts a run: show, once, why the last run was refused, and warn if the disk is
    nearly full."""
    warn_if_nearly_full()
    if reason := st.session_state.pop(_REFUSED, None):
        st.error(literal(translated(reason)), icon=":material/hourglass_disabled:")


def settled(run) -> bool:
    """Whether a run is over and its files, if any, have arrived: those of a stopped run come a moment later."""
    return run.over and run.future is None


def complete(directory: Path) -> bool:
    """Whether a folder holds all files of a model: config, weights, vocabulary."""
    try:
        return _complete(directory, os.stat(directory).st_mtime_ns)
    except (FileNotFoundError, NotADirectoryError):
        return False


@lru_cache(maxsize=1024)
def _complete(directory: Path, changed: int) -> bool:
    """Cached, as a run of a page asks it of every model, some thirty times. changed: when a file came or went."""
    has = set(os.listdir(directory))
    return has.issuperset(MODEL_FILES) and not has.isdisjoint(VOCABULARIES)


def own_models(whose: str | None = None) -> list:
    """This browser's runs, or those of `whose`, that left a complete model, finished or stopped, newest first. Of a
    pre-training that was stopped and resumed only the last run is included: it continues the earlier ones."""
    if not runs_folder().is_dir():
        return []
    runs = [run for run in manager().runs(whose or owner()) if settled(run) and complete(run.result)]
    last = {run.kind: run.id for run in reversed(runs)}
    return [run for run in runs if not run.kind.startswith(f"{PRETRAINING}/") or last[run.kind] == run.id]


def live(ids: tuple[str, ...], draw: Callable[[list], None], rows: Callable[[list], None] | None = None) -> None:
    """Call `draw` with these runs repeatedly while one of them is active; rerun the whole page when the last one has
    ended. rows: drawn above, in a fragment of its own, so that a click on one of its buttons does not wait for the
    figures of `draw`."""
    redraw_until(lambda: runs_by_id(ids), settled, draw, rows)


def redraw_until(
    find: Callable[[], list],
    ended: Callable[[object], bool],
    draw: Callable[[list], None],
    rows: Callable[[list], None] | None = None,
) -> None:
    """Like `live`, for the runs returned by `find`, until all of them have `ended`."""
    going = not all(map(ended, find()))

    def over(runs: list) -> bool:
        return going and all(map(ended, runs))

    announced = False

    def look_at_rows() -> None:
        nonlocal announced
        runs = find()
        if announced:
            st.rerun()
        announced = over(runs)  # rerun at the next update: now, the final rows would never be sent
        rows(runs)

    def look() -> None:
        runs = find()
        if rows is None and over(runs):
            st.rerun()
        draw(runs)

    if rows is not None:
        st.fragment(look_at_rows, run_every=REFRESH if going else None)()
    st.fragment(look, run_every=(REFRESH if rows is None else REFRESH_FIGURES) if going else None)()


def runs_by_id(ids: tuple[str, ...]) -> list:
    """This browser's runs with these ids, without those deleted meanwhile."""
    return [run for run in (manager().get(run_id, owner()) for run_id in ids) if run]


def stop(run) -> None:
    """Cancel a run and wait up to 0.7 s, so that the redrawn page usually shows it as ended."""
    run.cancel()
    run.wait(timeout=0.7)


def state_in_words(run) -> str:
    words = {
        "queued": _("waiting, place {place}"),
        "starting": _("starting"),
        "running": _("training"),
        "storing": _("done; waits for room on the disk"),
        "finished": _("finished"),
        "failed": _("failed"),
        "cancelled": _("stopped"),
        "lost": _("lost"),
    }
    last = run.events()[-1:]
    if run.state == "running" and last and last[0].get("event") == "waiting":  # a full disk keeps it from saving
        return words["storing"]
    return words[run.state].format(place=run.position or 1)


def going(runs: Iterable) -> list:
    """Active runs and runs with an error, which `state_rows` shows."""
    return [run for run in runs if not run.over or run.error]


def evals(run) -> list[tuple[int, dict]]:
    """(step, metrics) of the run's "eval" events."""
    return [(event["step"], event["metrics"]) for event in run.events() if event["event"] == "eval"]


def by_title(runs: Iterable, select: Callable[[object], list]) -> dict[str, list]:
    """Title → `select(run)` for the runs where it is not empty; a repeated title gets a number."""
    titled: dict[str, list] = {}
    for run in runs:
        if some := select(run):
            titled[run.title if run.title not in titled else f"{run.title} · {len(titled) + 1}"] = some
    return titled


def send_input(runs: Iterable, message: list) -> None:
    """Send the user's input to each active run, unless it was the last one sent to it."""
    for run in runs:
        if not run.over and notes("told").get(run.id) != message:
            notes("told")[run.id] = message
            run.send(message)


def state_rows(
    runs: list,
    speed: Callable[[dict], str],
    *,
    actions: Callable[[object], None] = lambda run: None,
    title: Callable[[object], str] = lambda run: run.title,
) -> None:
    """A progress bar for each run with its state in words and a button to stop it.

    speed(step): text for the last "step" event of an active run · actions(run): draws more buttons beside it ·
    title(run): its name as plain text.
    """
    with st.container(key="run-states"):
        for run in runs:
            with st.container(horizontal=True, vertical_alignment="center", key=f"run-{run.id}"):
                step = run.latest("step")
                now = speed(step) if step and not run.over else ""
                st.progress(run.progress, text=f"{literal(title(run))}{_(': ')}**{state_in_words(run)}**{now}")
                if run.over:
                    st.empty()  # replaces the button at once; else it stays until the rest of the page is drawn
                else:
                    st.button(_("Stop"), key=f"stop-{run.id}", icon=":material/stop:", on_click=stop, args=(run,))
                if run.can_restart and not can_go_on(run):
                    st.button(
                        _("Again"), key=f"again-{run.id}", icon=":material/replay:", on_click=restart, args=(run,)
                    )
                actions(run)
            if run.error:
                st.error(literal(translated(run.error)), icon=":material/error:")
            elif run.tries and not run.over:
                st.caption(_("The process that ran it died; the run has restarted by itself."))


def can_go_on(run) -> bool:
    """Whether the run saved a training state from which its page can resume pre-training."""
    return (run.result / "resume").is_dir()


def restart(run) -> None:
    """Restart a run that was cut off."""
    from jobs.manager import JobError

    try:
        run.restart()
    except JobError as error:
        note_refusal(error)


def announce_runs() -> None:
    """In the sidebar of every page: links to the pages of this browser's active runs, and of runs that have ended
    since, until that page is opened; and how many runs were deleted. Call it after drawing the page, which may have
    started a run."""
    if not runs_folder().is_dir():
        return
    going = [run.id for run in _announced() if not run.over]
    known = st.session_state.setdefault(_GOING, {})
    known |= dict.fromkeys(going, True)
    removed = manager().removed(owner())
    if known or removed:
        with st.sidebar, st.container(key="announced", gap="xxsmall"):
            if known:
                st.fragment(_announce, run_every=ANNOUNCE if going else None)(tuple(going))
            if removed:  # why models are missing from lists
                words = ngettext(
                    "{n} older run of yours had to go, to make room. *Download* keeps one for good.",
                    "{n} older runs of yours had to go, to make room. *Download* keeps one for good.",
                    removed,
                )
                st.caption(words.format(n=removed))


def _announced() -> list:
    """This browser's runs that belong to an existing page, newest first."""
    return [run for run in manager().runs(owner()) if find_page(_page_of(run))]


def _page_of(run) -> str:
    kind = run.kind.split("/")[0]
    return OTHER_PAGES.get(kind, kind)


def _announce(going: tuple[str, ...]) -> None:
    """going: runs that were active when the page was drawn; when the last one ends, the page is rerun, so that its
    lists of models include the new ones."""
    known, here = st.session_state[_GOING], current_page()
    runs = [run for run in _announced() if run.id in known]
    for run in runs:
        if run.over and _page_of(run) == here:
            known.pop(run.id)  # its own page says how it ended
    if going and all(run.over for run in runs):
        st.rerun()
    for run in [run for run in runs if run.id in known][:MOST_ANNOUNCED]:
        status = f"{run.progress:.0%}" if run.state == "running" else state_in_words(run)
        icon = ":material/check_circle:" if run.over else ":material/progress_activity:"
        link_to(_page_of(run), f"{literal(run.title)}{_(': ')}{status}", icon=icon)


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip file with these files. files: name → content."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def show_runs() -> None:
    """What has been trained on this server: totals over all users, and the titles of the user's last five runs."""
    trained = [run for run in manager().runs() if not run.kind.startswith(f"{COMPUTED}/")]
    everyone = [run for run in trained if run.state == "finished"]
    going = sum(not run.over for run in trained)
    if not everyone and not going:
        with st.container(border=True, key="no-runs"):
            st.markdown(_("**Nothing yet.** The first model is about a minute away."))
            link_to("output_layer", label=_("Fine-tune the first one"), icon=":material/rocket_launch:")
        return
    steps = sum((run.latest("done") or {}).get("step", 0) for run in everyone)
    with st.container(horizontal=True, gap="large", key="runs"):
        st.metric(ngettext("model trained", "models trained", len(everyone)), f"{len(everyone):,}", width="content")
        st.metric(_("training or waiting"), f"{going:,}", width="content")
        st.metric(_("optimizer steps"), f"{steps:,}", width="content")
    own = [run for run in manager().runs(owner()) if run.state == "finished"][:5]
    if own:
        lines = [f"- {literal(run.title)}" + (f" – {status}" if (status := _measured(run)[1]) else "") for run in own]
        st.markdown(_("**Yours:**") + "\n" + "\n".join(lines))
    link_to("output_layer", label=_("Train another"), icon=":material/rocket_launch:")


def run_title(run) -> str:
    """A run's title as plain text; for fine-tuned models with the task and its headline metric on the dev set."""
    view, status = _measured(run)
    return f"{view.title()}{_(': ')}{run.title} · {status}" if view else run.title


def _measured(run) -> tuple:
    """(view of a fine-tuned run's task, its headline metric in words); (None, "") for other runs."""
    from ui.tasks import VIEWS

    begun, done = run.latest("started") or {}, run.latest("done") or run.latest("eval") or {}
    task, metric = (begun.get("details", {}).get(name) for name in ("task", "metric"))
    if task not in VIEWS or metric not in done.get("metrics", {}):
        return None, ""
    view = VIEWS[task]
    words = _("{metric} {value}").format(metric=view.metric_title(), value=view.number(done["metrics"][metric]))
    return view, words
