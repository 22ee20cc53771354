"""The examination: a sheet of questions drawn by a number, answered, marked by programs, and taken home."""

import random

import pandas as pd
import streamlit as st

from ui.examination.answers import (
    answer_to,
    answered,
    check,
    hand_in,
    handed_in,
    is_checked,
    take_back,
)
from ui.examination.bank import Part, load_bank
from ui.examination.choice_of_sheet import HIGHEST, MOST, keep_sheet, link_to_sheet, sheet_in_link
from ui.examination.entry import BankError
from ui.examination.sheet import Section, SheetSettings, draw_sheet, totals
from ui.inputs import choice
from ui.lesson import TEXT_WIDTH, Lesson
from ui.navigation import next_lesson
from ui.state import follow_link
from ui.text import literal
from ui.translations import _, language, ngettext

# What generates and marks imports torch where it is needed: the page shows before that.

lesson = Lesson("examination")

st.html("""<style>
.stHtml .mb-given { border-collapse: collapse; margin: 0.2rem 0; width: auto; font-size: 1.05rem; }
.stHtml .mb-given caption { text-align: start; font-weight: 600; padding-bottom: 0.2rem; color: inherit; }
.stHtml .mb-given :is(th, td) { border: 1px solid rgba(128, 134, 145, 0.45); padding: 0.25rem 0.7rem; text-align: end; }
.stHtml .mb-given th { font-weight: 500; background: rgba(128, 134, 145, 0.12); }
[data-testid="stHtml"]:has(.mb-given) { overflow-x: auto; }
[class*="st-key-question-"] :is([role="radiogroup"], .stCheckbox) p { font-size: 1.05rem; line-height: 1.45; }
[class*="st-key-question-"] [role="radiogroup"]:not([aria-orientation="horizontal"]) { row-gap: 0.45rem; }
/* Once handed in, what was answered stays as readable as it was. */
[class*="st-key-question-"] :is(.stRadio, .stTextInput, .stTextArea, .stCheckbox) * {
  color: inherit !important; -webkit-text-fill-color: currentColor !important;
}
[class*="st-key-question-"] label:has(input:checked) p { font-weight: 600; }
[class*="st-key-order-"] button { min-height: 2rem; padding: 0 0.6rem; }
</style>""")


# ------------------------------------------------------------------------------------------------- what is on the sheet
def new_sheet() -> None:
    st.session_state["sheet"] = random.randint(1, HIGHEST)


def settings_of_sheet(bank: tuple[Part, ...], linked: SheetSettings) -> SheetSettings:
    """linked: what the link opens."""
    titles = {part.name: f"{number} {part.title}" for number, part in enumerate(bank, 1)}
    widgets = {"seed": "sheet", "parts": "parts", "count": "count", "open": "open"}  # name in the link → key
    for name, key in widgets.items():
        if follow_link(name) or key not in st.session_state:
            value = getattr(linked, name)
            st.session_state[key] = list(value) if name == "parts" else value
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            number = st.number_input(_("Sheet number"), 1, HIGHEST, key="sheet", width=150) or 1
            st.button(_("Another sheet"), key="another", icon=":material/casino:", on_click=new_sheet)
            count = st.slider(_("Questions a part"), 1, MOST, key="count", width=260)
            with_open = st.toggle(_("and an open one"), key="open")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            chosen = st.pills(
                _("Parts"), list(titles), format_func=titles.__getitem__, selection_mode="multi", key="parts", wrap=True
            )
            settings = SheetSettings(int(number), tuple(name for name in titles if name in chosen), count, with_open)
            keep_sheet(settings, tuple(titles))
            st.link_button(
                _("Link to this sheet"), link_to_sheet(settings, tuple(titles)), icon=":material/link:", type="tertiary"
            )
    return settings


# ----------------------------------------------------------------------------------------------------------- a question
def show_task(section: Section, number: int, settings: SheetSettings, practice: bool) -> None:
    from ui.examination.feedback import show_mark
    from ui.examination.kinds import mark, titles
    from ui.examination.widgets import answer_with

    task, seed = section.tasks[number], settings.seed
    frozen = handed_in(settings) is not None and not practice
    with st.container(border=True, key=f"question-{section.number}-{number + 1}"):
        of = ngettext("{n} point", "{n} points", task.question.points).format(n=task.question.points)
        st.markdown(f"#### {section.number}.{number + 1} {titles()[task.question.kind]} · {of}")
        st.markdown(task.text, width=TEXT_WIDTH)
        answer_with(task, seed, marked=frozen or (practice and is_checked(seed, task)), frozen=frozen)
        answered(seed, task)
        if practice:
            st.button(
                _("Check"), key=f"check-{seed}-{task.id}", icon=":material/done_all:", on_click=check, args=(seed, task)
            )
        if frozen or (practice and is_checked(seed, task)):
            show_mark(task, mark(task, answer_to(seed, task)))


def show_sheet(sections: tuple[Section, ...], settings: SheetSettings, practice: bool) -> None:
    # Once handed in, a tick changes the sum at the top: the whole page runs then.
    show = show_task if handed_in(settings) and not practice else st.fragment(show_task)
    for section in sections:
        st.markdown(f"## {section.number} {section.part.title}")
        for number in range(len(section.tasks)):
            show(section, number, settings, practice)


# ------------------------------------------------------------------------------------------------------------ the score
def show_score(sections: tuple[Section, ...], settings: SheetSettings) -> None:
    from ui.examination.kinds import mark
    from ui.examination.score_sheet import Handed, score_html, score_rows

    tasks = [task for section in sections for task in section.tasks]
    answers = {task.id: answer_to(settings.seed, task) for task in tasks}
    marks = {task.id: mark(task, answers[task.id]) for task in tasks}
    name = st.session_state.get("name", "")
    handed = Handed(settings, sections, answers, marks, handed_in(settings), name)
    lesson.show("Your points")
    points, of = totals(list(marks.values()), by_student=False)
    st.metric(_("Sheet {n}, marked by the program").format(n=settings.seed), f"{points:g} / {of}")
    head = (_("Part"), _("Points"), _("Self-marked"))
    st.table(pd.DataFrame(score_rows(handed), columns=head), width="content", hide_index=True)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(_("Your name, for the score sheet"), key="name", max_chars=100, width=320)
        st.download_button(
            _("Download the score sheet"), lambda: score_html(handed), file_name=f"examination-{settings.seed}.html",
            mime="text/html", icon=":material/download:", key="download", on_click="ignore", type="primary",
        )  # fmt: skip
        st.button(_("Work on it again"), key="again", icon=":material/undo:", on_click=take_back, args=(settings,))


def show_hand_in(sections: tuple[Section, ...], settings: SheetSettings) -> None:
    st.divider()
    lesson.show("Handing in", level=3)
    st.button(
        _("Hand in"), key="hand-in", type="primary", icon=":material/task_alt:", on_click=hand_in, args=(settings,)
    )


# ------------------------------------------------------------------------------------------------------------- the page
lesson.show_title()
lesson.show("How it works")
try:
    bank = load_bank(language=language())
    linked = sheet_in_link(tuple(part.name for part in bank))  # first: it may bring the mode back
    practice = choice("mode", _("How"), {"exam": _("Examination"), "practice": _("Practice")}) == "practice"
    settings = settings_of_sheet(bank, linked)
    with st.spinner(_("Drawing the sheet …")):
        sections = draw_sheet(bank, settings)
    if not sections:
        st.info(_("Choose at least one part above."), icon=":material/checklist:")
    else:
        score = st.container()
        show_sheet(sections, settings, practice)
        if handed_in(settings) and not practice:
            with score:  # after the questions: what was typed a moment ago counts
                show_score(sections, settings)
        if not practice and not handed_in(settings):
            show_hand_in(sections, settings)
except BankError as error:
    st.error(
        _("A question of the bank in lessons/examination cannot be used. {reason}").format(reason=literal(error)),
        icon=":material/error:",
    )
lesson.show("What the marks mean")
next_lesson("examination")
