"""From file to service: cost of one request, from training data to service, many clients, checks before release."""

import streamlit as st

from sections.service import asking, going_out, many_clients, one_request, road, subject
from ui.lesson import Lesson
from ui.page import show_parts
from ui.runs import manager
from ui.translations import _

lesson = Lesson("service")
lesson.open()
manager().warm_up()
served = subject.read(lesson)
parts = {
    _("One request"): one_request,
    _("The road"): road,
    _("Ask the service"): asking,
    _("Many clients"): many_clients,
    _("Before it goes out"): going_out,
}
show_parts(parts, lesson, served, default="The road" if "step" in st.query_params else None)  # of older links
lesson.close()
