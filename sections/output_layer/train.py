"""Train it: the settings, the runs of one click in progress, and the results of both starts."""

import time
from collections.abc import Sequence

import streamlit as st

from sections.output_layer import answers, curves
from sections.output_layer.subject import Inputs, second_model, starting_points
from ui.finetune_runs import SHOWN, FinetuneRun, click_of, kind_of, start_runs
from ui.finetune_settings import settings_choice, values_buttons
from ui.lesson import Lesson
from ui.model_cache import outline_of
from ui.runs import live, own_runs, show_refusal, state_rows, zipped
from ui.task_data import ChosenData
from ui.translations import _, ngettext


def show(lesson: Lesson, subject: Inputs) -> None:
    if subject.data:
        _controls(subject.data, subject.model)
    else:
        st.info(_("Choose data first, under *Data and model*."), icon=":material/arrow_upward:")
    runs = chosen_runs(kind_of(subject.task.name))
    if runs:
        live(
            tuple(run.id for run in runs),
            lambda found: _progress(found, subject),
            lambda found: state_rows(found, _speed),
        )
    else:
        st.markdown(_("**No run yet.** Press *Train*: the first point of the curves comes within seconds."))
        _progress([], subject)
    with st.expander(_("Why twice, and with which values"), icon=":material/notes:"):
        lesson.show("What the pre-trained weights bring", level=3)
        lesson.show("Train it", level=3)


def _controls(data: ChosenData, model: str) -> None:
    first = next((info for info in starting_points() if info.name == model), None)
    config = outline_of(model).config
    button = st.container(horizontal=True, vertical_alignment="center")
    chosen = settings_choice(data, config.num_hidden_layers)
    second = second_model(model) if "other" in chosen.starts else None
    if first is None:
        st.warning(_("There is no checkpoint to start from in `checkpoints/`."))
    with button:
        label = ngettext("Train {n} model", "Train {n} models", chosen.runs).format(n=chosen.runs)
        ready = chosen.runs > 0 and first is not None
        st.button(  # a callback, so that the picture above is redrawn with the new runs
            label,
            type="primary",
            icon=":material/play_arrow:",
            disabled=not ready,
            key="train",
            on_click=start_runs,
            args=(first, second, data, chosen, kind_of(data.task.name)),
        )
        values_buttons(data, config)
    show_refusal()


def _progress(found: Sequence, subject: Inputs) -> None:
    """What to show during training, and before it."""
    shown = [one for one in map(FinetuneRun, found) if one.begun]
    if not shown:
        if subject.data:
            curves.before(subject.data, subject.model)
        return
    curves.show(shown, subject)
    answers.show(shown, subject.given)
    curves.compare_starts(shown)
    done = [one for one in shown if one.run.state == "finished" and one.run.files]
    if done:
        download(max(done, key=lambda one: one.score))


def download(one: FinetuneRun) -> None:
    st.download_button(
        _("Download {name} ({metric} {score})").format(
            name=one.name, metric=one.view.metric_title(), score=one.view.number(one.score)
        ),
        lambda: zipped(one.run.files),
        file_name="my-model.zip",
        mime="application/zip",
        icon=":material/download:",
        key=f"download-{one.run.id}",
        on_click="ignore",
    )


def _speed(step: dict) -> str:
    return _(" · loss {loss:.3f} · {speed:,.0f} tokens/s").format(loss=step["loss"], speed=step["tokens_per_second"])


def chosen_runs(kind: str) -> list:
    """One click's runs among this browser's runs of this kind; [] if there are none. Oldest first."""
    runs = own_runs(kind)
    if not runs:
        return []
    state = st.session_state
    clicks = {one: [run for run in runs if click_of(run) == one] for one in dict.fromkeys(map(click_of, runs))}
    if state.get(SHOWN) not in clicks:
        state[SHOWN] = next(iter(clicks))
    if len(clicks) > 1:
        # A select box keeps the option labels it was created with; a new key makes a new box with the current labels.
        ended = sum(run.over for run in runs)
        key = f"runs-{len(runs)}-{ended}"
        state.setdefault(key, state[SHOWN])
        if state[key] not in clicks:
            state[key] = state[SHOWN]
        state[SHOWN] = st.selectbox(_("Runs"), list(clicks), format_func=lambda one: click_title(clicks[one]), key=key)
    return clicks[state[SHOWN]][::-1]


def click_title(runs: Sequence) -> str:
    """The runs of one click in words: the data, how many are done, and the best score."""
    done = [run for run in runs if run.state == "finished"]
    name = runs[0].title.split(" · ")[0]
    when = time.strftime("%H:%M:%S", time.gmtime(runs[-1].created))
    words = _("{name}, {when} UTC: {done} of {n} finished").format(name=name, when=when, done=len(done), n=len(runs))
    best = max((FinetuneRun(run) for run in done), key=lambda one: one.score, default=None)
    if best is None:
        return words
    return words + _(", the best {metric} {score}").format(
        metric=best.view.metric_title(), score=best.view.number(best.score)
    )
