"""The data: size, first examples, label counts, text lengths, and errors in the files."""

import streamlit as st

from sections.output_layer.subject import Inputs
from ui.lengths import lengths_of, show_lengths
from ui.lesson import Lesson
from ui.task_data import show_data
from ui.translations import _


def show(lesson: Lesson, subject: Inputs) -> None:
    if subject.data is None:
        st.info(_("Choose data first, under *Data and model*."), icon=":material/arrow_upward:")
        return
    show_data(subject.data)
    chosen = st.session_state.get("max-length") or subject.options.max_length
    show_lengths(lengths_of(subject.data, subject.model, subject.options.texts_beside), chosen, key="share-within")
    lesson.show("How long to read", level=3)
    st.markdown(
        _("Your own data: choose *A file of your own* under *Data and model*. {formats}").format(
            formats=subject.view.expected()
        )
    )
