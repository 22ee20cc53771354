"""Lessons are read and checked: a slip in a file is named, never shown half."""

from collections import Counter
from pathlib import Path

import pytest

from examination.bank import load_bank
from examination.task import filled
from minibert.text.twins import mark_of
from tests.ui.driver import opened
from ui.lesson import (
    LESSONS,
    Lesson,
    LessonError,
    course_prose,
    course_reviews,
    load_quiz,
    quiz_entries,
    read_prose,
)

GOOD = """
[[question]]
text = "Two and two?"
[[question.choice]]
text = "Four"
correct = true
why = "Count."
[[question.choice]]
text = "Five"
why = "One too many."
"""


@pytest.fixture
def lessons(tmp_path):
    folder = tmp_path / "sums"
    folder.mkdir()
    (folder / "en.md").write_text("# Sums\n\nAdd up.\n\n## First\n\nOne.\n\n### Inside\n\n## Second\nTwo.\n", "utf-8")
    (folder / "quiz.toml").write_text(GOOD, "utf-8")
    return tmp_path


def test_text_is_cut_at_its_headings(lessons):
    lesson = Lesson("sums", lessons)
    assert lesson.title == "Sums"
    assert lesson.sections == ["First", "Second"]
    assert lesson.section("First") == ("First", "One.\n\n### Inside")
    assert lesson.section("Second") == ("Second", "Two.")
    with pytest.raises(LessonError, match="'Third'; it has: 'First', 'Second'"):
        lesson.show("Third")


def test_examples_are_optional_but_checked_and_a_quiz_is_not_optional(lessons):
    assert Lesson("sums", lessons).examples == []
    (lessons / "sums" / "examples.toml").write_text('en = ["1 + 1"]', "utf-8")
    assert Lesson("sums", lessons).examples == ["1 + 1"]
    (lessons / "sums" / "examples.toml").write_text("en = [1]", "utf-8")
    with pytest.raises(LessonError, match="a list of texts"):
        Lesson("sums", lessons).examples  # noqa: B018
    with pytest.raises(LessonError, match="no such quiz"):
        load_quiz(lessons / "none.toml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("correct = true", ""), "exactly one choice must be `correct = true`, not 0"),
        (('why = "One too many."', 'why = "No."\ncorrect = true'), "not 2"),
        (('why = "Count."', ""), "question 1, choice 1: needs a `why`"),
        (('why = "Count."', 'why = "  "'), "needs a `why`"),
        (('text = "Two and two?"', ""), "question 1: needs a `text`"),
        (('why = "Count."', 'why = "Count."\nwhhy = "x"'), "unknown entries"),
        (("correct = true", 'correct = "yes"'), "true or false"),
        (('"Five"', '"Four"'), "two choices say the same"),
        (("[[question]]", "[[frage]]"), "unknown entries"),
        (("[[question]]", "[[question]"), "quiz.toml: "),
        ((GOOD, ""), "no [[question]]"),
        ((GOOD, '[[question]]\ntext = "?"'), "at least two"),
    ],
)
def test_a_bad_quiz_is_refused_with_its_place(lessons, change, message):
    path = lessons / "sums" / "quiz.toml"
    path.write_text(GOOD.replace(*change, 1), "utf-8")
    with pytest.raises(LessonError) as error:
        load_quiz(path)
    assert message in str(error.value)


def test_the_quiz_answers_each_choice_and_takes_another(lessons):
    app = opened(Lesson("sums", lessons).quiz)
    assert not app.success and not app.error
    wrong, right = app.radio[0].options.index("Five"), app.radio[0].options.index("Four")
    app.radio[0].set_value(wrong).run()
    assert "One too many." in app.error[0].value and not app.success
    app.radio[0].set_value(right).run()
    assert "Count." in app.success[0].value and not app.error


def test_the_place_of_an_option_does_not_say_whether_it_is_right():
    paths = sorted(LESSONS.glob("*/quiz*.toml"))
    questions = [question for path in paths for question in load_quiz(path)]
    places = Counter([choice.correct for choice in question.choices].index(True) for question in questions)
    assert max(places.values()) <= 0.4 * len(questions)
    assert questions == [question for path in paths for question in load_quiz(path)]  # the same at every visit


def shown_options() -> dict[str, list[list[tuple[int, bool]]]]:
    """(length, correct) of each option of each question, by lesson; of the bank with its placeholders filled in."""
    asked = {
        path.parent.name: [[(len(one.text), one.correct) for one in question.choices] for question in load_quiz(path)]
        for path in LESSONS.glob("*/quiz.toml")
    }
    questions = [one for part in load_bank() for one in part.marked if one.kind in ("choose", "predict")]
    asked["examination"] = [
        [(len(filled(one.text, values, question.where)), one.correct) for one in question.settings.choices]
        for question in questions
        for values in question.variants or ({},)
    ]
    return asked


def share_right(questions: list[list[tuple[int, bool]]], picked) -> float:
    """Share of questions answered right by always picking the longest option (`max`) or the shortest (`min`)."""
    hits = 0.0
    for options in questions:
        length = picked(length for length, _correct in options)
        same = [correct for one, correct in options if one == length]  # among equals, by chance
        hits += sum(same) / len(same)
    return hits / len(questions)


def test_the_length_of_an_option_does_not_say_whether_it_is_right():
    asked = shown_options()
    course = [question for lesson, questions in asked.items() if lesson != "examination" for question in questions]
    for picked in (max, min):
        assert share_right(course, picked) <= 0.4  # chance: a little under a third, most have three options
        assert share_right(asked["examination"], picked) <= 0.35  # mostly five
        for lesson, questions in asked.items():
            assert share_right(questions, picked) <= 2 / 3, lesson
    for lesson, questions in asked.items():
        for options in questions:
            lengths = [length for length, _correct in options]
            assert max(lengths) <= 1.5 * min(lengths) + 10, (lesson, options)  # none stands out


def test_a_twin_is_shown_where_it_was_made_from_today_s_english(lessons, monkeypatch):
    folder = lessons / "sums"
    prose, (question,) = read_prose(folder / "en.md"), quiz_entries(folder / "quiz.toml")
    first = f"## 第一 <!-- First · {prose['First'].mark} -->\n一。\n\n"
    second = "## 第二 <!-- Second · 00000000 -->\n二。\n\n## 第三\n三。\n"
    (folder / "zh.md").write_text(f"# 加法 <!-- Sums · {prose[''].mark} -->\n\n加。\n\n{second}\n{first}", "utf-8")
    twin = GOOD.replace("[[question]]", f'[[question]]\nmade_from = "{mark_of(question)}"').replace("Four", "四")
    (folder / "quiz.zh.toml").write_text(twin, "utf-8")
    monkeypatch.setattr("ui.lesson.language", lambda: "zh")

    lesson = Lesson("sums", lessons)
    assert lesson.title == "加法" and lesson.sections == ["First", "Second"]
    assert lesson.section("First") == ("第一", "一。")
    assert lesson.section("Second") == ("Second", "Two.")  # it has changed since
    english = [choice.text for choice in load_quiz(folder / "quiz.toml")[0].choices]
    assert [one.text for one in lesson.questions[0].choices] == [{"Four": "四"}.get(one, one) for one in english]

    (folder / "quiz.toml").write_text(GOOD.replace("One too many", "Two"), "utf-8")
    (folder / "en.md").write_text("# Sums\n\nAdd.\n\n## First\n\nOne\nand\none.\n", "utf-8")
    lesson = Lesson("sums", lessons)
    assert lesson.title == "Sums" and lesson.section("First")[0] == "First"
    assert [one.text for one in lesson.questions[0].choices] == english

    (folder / "quiz.toml").write_text(GOOD, "utf-8")
    (folder / "quiz.zh.toml").write_text(twin.replace("correct = true\n", "") + "correct = true\n", "utf-8")
    with pytest.raises(LessonError, match="the same order"):
        lesson.questions  # noqa: B018


@pytest.mark.parametrize("folder", sorted(path.parent for path in LESSONS.glob("*/en.md")), ids=lambda path: path.name)
def test_the_lessons_we_ship_are_whole(folder: Path):
    lesson = Lesson(folder.name)
    assert lesson.title and lesson.sections
    assert all(lesson.section(heading)[1] for heading in lesson.sections)
    if folder.name != "examination":  # it is the quiz
        assert load_quiz(folder / "quiz.toml")
    lesson.examples  # noqa: B018


def test_the_course_s_prose_and_reviews_are_plain_text():
    paragraphs = [line for document in course_prose() for line in document]
    assert len(paragraphs) > 100 and not any(set("`*|") & set(line) or line.startswith("#") for line in paragraphs)
    train, everything = course_reviews("train"), course_reviews("train", "dev", "test")
    assert everything[: len(train)] == train and len(everything) > len(train)
    assert not any("\t" in text or text == "sentence" for text in everything)
