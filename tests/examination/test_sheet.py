"""Sheets are drawn by their number, and the score sheet says what was earned, with nothing typed as markup."""

import re
from dataclasses import replace
from datetime import datetime
from xml.etree import ElementTree

import pytest

from examination.bank import load_bank
from examination.kinds import mark
from examination.open_question import OpenAnswer
from examination.sheet import SheetSettings, draw_questions, draw_sheet, totals
from sections.examination.score_sheet import SubmittedSheet, score_html, score_rows
from tests.hostile import any_text

BANK = load_bank()
ALL = tuple(part.name for part in BANK)


def handed(settings: SheetSettings, answer=lambda task: task.right, name: str = "") -> SubmittedSheet:
    sections = draw_sheet(BANK, settings)
    tasks = [task for section in sections for task in section.tasks]
    answers = {task.id: answer(task) for task in tasks}
    marks = {task.id: mark(task, answers[task.id]) for task in tasks}
    return SubmittedSheet(settings, sections, answers, marks, datetime(2020, 2, 3, 4, 5), name)


def test_the_same_settings_give_the_same_sheet_and_every_question_is_drawn_by_some():
    sheets = [[task.id for s in draw_sheet(BANK, SheetSettings(n, ALL, 3)) for task in s.tasks] for n in (1, 1, 2)]
    assert sheets[0] == sheets[1] != sheets[2]
    sheets = [draw_questions(part, SheetSettings(seed, ALL, 3)) for seed in range(200) for part in BANK]
    assert {q.id for part in BANK for q in part.questions} == {q.id for drawn in sheets for q in drawn}
    sections = draw_sheet(BANK, SheetSettings(1, ("bert",), 2, open=False))  # parts can be left out
    assert [(section.number, section.part.name, len(section.tasks)) for section in sections] == [(3, "bert", 2)]


@pytest.mark.parametrize("count", [1, 2, 4, 6])
def test_a_part_has_so_many_questions_of_as_many_kinds_as_there_are(count):
    for seed in range(30):
        for part in BANK:
            questions = draw_questions(part, SheetSettings(seed, ALL, count))
            kinds = [question.kind for question in questions]
            assert kinds.count("open") == 1 and kinds[-1] == "open" and len(kinds) == count + 1
            available = len({question.kind for question in part.marked})
            assert len(set(kinds[:-1])) == min(count, available)
            assert len({question.id for question in questions}) == len(questions)


def test_a_longer_sheet_keeps_the_questions_of_a_shorter_one():
    for part in BANK:
        short, long = ({q.id for q in draw_questions(part, SheetSettings(5, ALL, n, open=False))} for n in (2, 5))
        assert short < long


def test_points_of_the_program_and_of_the_student_stay_apart():
    one = handed(SheetSettings(4, ALL, 2))
    marks = list(one.marks.values())
    machine, own = (totals(marks, by_student=by) for by in (False, True))
    assert machine[0] == machine[1] == sum(m.of for m in marks if not m.by_student)
    assert own[0] == own[1] == sum(m.of for m in marks if m.by_student) > 0
    rows = score_rows(one)
    assert len(rows) == len(BANK) + 1 and rows[-1][1:] == (f"{machine[1]} of {machine[1]}", f"{own[1]} of {own[1]}")
    nothing = score_rows(handed(SheetSettings(4, ALL, 2), lambda task: None))
    assert nothing[-1][1:] == (f"0 of {machine[1]}", f"0 of {own[1]}")


def test_the_score_sheet_says_what_was_asked_answered_and_earned_and_draws_markup():
    text = score_html(handed(SheetSettings(17, ALL, 2), name="Ada"))
    assert "sheet 17" in text and "Name: Ada" in text and "2020-02-03 04:05" in text
    assert text.count("<article>") == 3 * len(BANK) and text.count("self-marked") == len(BANK)
    assert not re.findall(r"(?:src|href)=|@import|url\(", text)  # it needs nothing else
    text = score_html(handed(SheetSettings(17, ALL, 6), answer=lambda task: None))
    printed = re.sub(r"<(pre|code|style)>.*?</\1>", "", text, flags=re.DOTALL)
    assert "<math" in printed and "<strong>" in printed and "<code>" in text
    assert not re.search(r"\*\*|\$[^ ]|\\\\[a-z]+", printed)
    read = ElementTree.fromstring(re.sub(r"<!doctype html>|<meta[^>]*>", "", text).replace("<br>", "<br/>"))
    assert read.tag == "html"  # every element that begins also ends


@any_text
def test_nothing_typed_is_markup(text):
    def answer(task):
        return {
            "open": OpenAnswer(text, (0,)),
            "input": dict.fromkeys(getattr(task, "titles", {}), text),
            "compute": [text] * len(getattr(task, "fields", ())),
            "count": text,
        }.get(task.question.kind, task.right)

    one = handed(SheetSettings(3, ALL, 6), answer, name=text[:100])
    page = score_html(one)
    assert page.count("<") == score_html(replace(one, name="", answers=dict.fromkeys(one.answers))).count("<")
    assert not [tag for tag in ("<img", "</script", "<b>b<") if tag in page]
    said = " ".join(line for m in one.marks.values() for line in m.comments)
    assert "<img" not in said and "[link]" not in said
