"""XLNet: words predicted in a random order, each from those before it in that order."""

from pathlib import Path

import streamlit as st

from sections.xlnet import after, both, claim, code, memory, orders, remembering, streams, subject, together
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

st.html(Path(subject.__file__).with_name("xlnet.css"))
lesson = Lesson("xlnet")
lesson.open()
inputs = subject.read(lesson)
orders.show(inputs)

parts = {
    _("Two streams"): streams,
    _("Words together"): together,
    _("The diff"): code,
    _("Train both"): both,
    _("Memory"): memory,
    _("Its worth"): remembering,
    _("The claim"): claim,
    _("What became of it"): after,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, inputs)
lesson.close()
