"""Download, rename or delete a run's model, or open it on another page."""

import re

import streamlit as st

from sections.pretraining.settings import MAX_NAME
from sections.pretraining.trainings import Training, own_trainings
from ui.inputs import distinct
from ui.lesson import Lesson
from ui.model_registry import about, info_of
from ui.navigation import link_to
from ui.runs import manager, settled, zipped
from ui.state import hold
from ui.text import visible
from ui.translations import _


def show(lesson: Lesson, text) -> None:
    lesson.show("Keep it", title=False)
    own = {training.key: training for training in own_trainings() if settled(training.runs[-1])}
    if not own:
        st.markdown(_("Here stand your runs once they have ended."))
        return
    names = distinct({key: visible(one.name, spaces=False) for key, one in own.items()})
    key = st.selectbox(_("Run"), list(own), format_func=names.get, key="kept")
    training = own[key]
    run = training.runs[-1]
    with st.container(horizontal=True, vertical_alignment="center"):
        if training.directory:
            name = re.sub(r"[^\w-]+", "-", training.name).strip("-") or "my-bert"
            st.download_button(
                _("Download this model"),
                lambda: zipped(model_files(training.kept)),
                file_name=f"{name}.zip",
                mime="application/zip",
                icon=":material/download:",
                key=f"download-{run.id}",
                on_click="ignore",
            )
        hold(f"rename-{run.id}")
        with st.popover(_("Rename"), icon=":material/edit:"):
            title = st.text_input(_("New name"), training.name, max_chars=MAX_NAME, key=f"rename-{run.id}")
            st.button(_("Rename"), key=f"rename-now-{run.id}", on_click=rename, args=(training, title))
        with st.popover(_("Delete"), icon=":material/delete:"):
            st.markdown(_("The run, its model and its kept steps go. This cannot be undone."))
            st.button(_("Delete it"), key=f"delete-{run.id}", type="primary", on_click=delete, args=(training,))
    if not training.directory:
        st.markdown(_("This run left no model: it ended before its first step was saved."))
        return
    code = f"unzip {name}.zip -d {name}"
    fills = info_of(training.kept).can_fill
    if in_transformers(training) and fills:
        script = f"from transformers import pipeline; print(pipeline('fill-mask', '{name}')('… [MASK] …'))"
        code += f'\npython -c "{script}"'
    st.code(code, "bash")
    if words := about(training.directory):
        st.caption(words)
    st.markdown(_("On the other pages it stands in the list of models under its name:"))
    with st.container(horizontal=True):
        for stop in ("masking", "attention") if fills else ("attention_explorer",):
            link_to(stop, query_params={"model": training.kept.id})


def in_transformers(training: Training) -> bool:
    from minibert.relatives import relative_named

    return relative_named(training.settings.get("relative", "bert")).in_transformers


def model_files(run) -> dict[str, bytes]:
    """What `transformers` loads, and the log; without the files for resuming and looking back."""
    return {name: content for name, content in run.files.items() if "/" not in name}


def rename(training: Training, title: str) -> None:
    if title.strip():
        for run in training.runs:
            run.title = title.strip()
            run.store()


def delete(training: Training) -> None:
    for run in training.runs:
        manager().delete(run)
