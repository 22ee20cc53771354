"""The examination: a sheet of questions drawn from a seed, answered, marked automatically, and downloadable."""

import streamlit as st

from examination.bank import load_bank
from examination.entry import BankError
from examination.sheet import draw_sheet
from sections.examination import choice_of_sheet
from sections.examination.answers import handed_in
from sections.examination.choice_of_sheet import sheet_in_link
from ui.errors import translated
from ui.inputs import choice
from ui.lesson import Lesson
from ui.navigation import next_lesson
from ui.page import drawer
from ui.text import literal
from ui.translations import _, language

lesson = Lesson("examination")
lesson.open()
try:
    bank = load_bank(language=language())
    linked = sheet_in_link(tuple(part.name for part in bank))  # first: it may restore the mode
    with st.container(horizontal=True, vertical_alignment="bottom"):
        practice = choice("mode", _("How"), {"exam": _("Examination"), "practice": _("Practice")}) == "practice"
        with drawer(_("How it works"), key="how", icon=":material/info:"):
            lesson.show("How it works", title=False)
    sheet = choice_of_sheet.show(bank, linked)
    with st.spinner(_("Drawing the sheet …")):
        from sections.examination import questions, score  # imported late: they need torch, and the page shows before

        drawn = draw_sheet(bank, sheet)
    if not drawn:
        st.info(_("Choose at least one part above."), icon=":material/checklist:")
    else:
        points = st.container()
        questions.show(drawn, sheet, practice)
        if handed_in(sheet) and not practice:
            with points:  # drawn after the questions, so that the latest input counts
                score.show(lesson, drawn, sheet)
        elif not practice:
            score.show_hand_in(lesson, sheet)
except BankError as error:
    st.error(
        _("A question of the bank in lessons/examination cannot be used. {reason}").format(
            reason=literal(translated(error))
        ),
        icon=":material/error:",
    )
lesson.show("What the marks mean")
next_lesson(lesson.name)
