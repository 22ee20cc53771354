"""How far the class is: per page who opened it and how its quiz was answered; per question the options chosen."""

import streamlit as st

from sections.classroom import histogram
from ui.lesson import Lesson
from ui.navigation import course
from ui.progress import PageSum, class_sums
from ui.room.entrance import is_teacher
from ui.translations import _

REFRESH = 5.0  # seconds


@st.fragment(run_every=REFRESH)
def show() -> None:
    if not is_teacher():
        return
    st.markdown(_("All who were here today, except you. Nobody is named."))
    sums = class_sums()
    pages = {stop.name: stop.title for stop in course() if stop.name in sums}
    if not pages:
        st.markdown(_("Nobody has opened a page yet."))
        return
    st.dataframe(
        [
            {
                _("page"): title,
                _("opened by"): sums[name].opened,
                _("quiz begun by"): sums[name].answered,
                _("answers right"): f"{sums[name].right / sums[name].answers:.0%}" if sums[name].answers else "",
                _("all right"): sums[name].solved,
            }
            for name, title in pages.items()
        ],
        hide_index=True,
    )
    asked = [name for name in pages if sums[name].picks]
    if asked:
        page = st.selectbox(_("Quiz of"), asked, format_func=pages.get, key="quiz-of", width=360)
        _quiz(page, sums[page])


def _quiz(page: str, total: PageSum) -> None:
    for number, question in enumerate(Lesson(page).questions):
        if picks := total.picks.get(number):
            with st.container(border=True, key=f"class-quiz-{number}", gap="xsmall"):
                st.markdown(f"**{number + 1}. {question.text}**")
                right = next(index for index, choice in enumerate(question.choices) if choice.correct)
                histogram.show([choice.text for choice in question.choices], picks, right)
