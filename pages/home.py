"""Home: one sentence and three models, and what they show; the road from text to prediction, a link to each lesson."""

import streamlit as st

from sections.home import does_it_understand, first_minute, in_class, road, who_may_look_where
from ui.lesson import Lesson
from ui.page import show_parts, style
from ui.translations import _

style(first_minute)
lesson = Lesson("home")
lesson.open()
first_minute.show()

parts = {
    _("What reading changes"): "What reading changes",
    _("Does it understand?"): does_it_understand,
    _("Who may look where"): who_may_look_where,
    _("Trained here"): in_class.show_trained,
    _("How to use it"): in_class.show_use,
}
# Links of version 1.0.0 name no part.
words = st.query_params.keys() & {"sentence", "word"}
show_parts(parts, lesson, None, default="Who may look where" if words else None)
road.show(lesson)
lesson.close()
