"""The fine-tuning page: data in, runs out, and what it says of them against their own events."""

from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from minibert.tasks import TASKS, base
from tests.hostile import HOSTILE
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, plain, text_of, until, whole
from ui.lesson import Lesson, load_quiz

LESSON = Lesson("classification")
open_page = partial(driver.open_page, "classification")


@pytest.fixture
def app(runs_folder):
    return open_page()


def upload(content: bytes) -> AppTest:
    app = open_page(data="own")
    app.file_uploader(key="file").set_value(("mine.tsv", content, "text/plain"))
    return whole(app.run())


def test_it_says_what_the_reviews_are(app):
    train, dev = (TASKS["classification"].read(ROOT / f"lessons/data/reviews/{part}.tsv") for part in ("train", "dev"))
    assert f"{len(train.examples)} sentences to train on, {len(dev.examples)} to measure on" in text_of(app)
    assert "No run yet" in text_of(app)


def test_the_papers_values_are_the_defaults(app):
    assert app.slider(key="epochs").value == 3
    assert app.select_slider(key="rate").value == 5e-5
    assert app.select_slider(key="batch").value == 32
    assert app.slider(key="dropout").value == 0.1
    app.button(key="small-rate").click()
    assert whole(app.run()).select_slider(key="rate").value == 3e-4


def test_any_text_is_text(app):
    for text in HOSTILE.values():
        app.text_input(key="text").set_value(text)
        assert_no_markup(whole(app.run()))


UPLOADS = {
    "missing column": (b"sentence\tscore\nx\t1\n", "the header has no label column"),
    "one class": (b"sentence\tlabel\nx\t1\ny\t1\n", "there is nothing to tell apart"),
    "not UTF-8": (b"text\tlabel\ncaf\xe9\t1\n", "not UTF-8"),
    "empty": (b"", "is empty"),
    "binary": (b"text\tlabel\n\0\0\0\t1\n", "a NUL byte"),
    "too few": (b"a\tx\nb\ty\n", "too few examples"),
    "markup": (b"</script><img src=x onerror=alert(1)>\n", "expected a header"),
}


@pytest.mark.parametrize("name", UPLOADS)
def test_an_unusable_file_is_refused_in_words(runs_folder, name):
    content, message = UPLOADS[name]
    app = upload(content)
    assert any(message in plain(box.value) for box in app.error), [plain(box.value) for box in app.error]
    assert app.button(key="train").disabled


def test_a_file_too_large_is_refused(runs_folder, monkeypatch):
    monkeypatch.setattr(base, "LARGEST_FILE", 10)
    app = upload(b"text\tlabel\ngood\tyes\nbad\tno\n")
    assert any("can be read" in plain(box.value) for box in app.error)


def test_a_usable_file_is_previewed_and_its_bad_lines_named(runs_folder):
    rows = "".join(f"good {i}\tyes\nbad {i}\tno\n" for i in range(10)) + "lonely\n"
    app = upload(("text\tlabel\n" + rows).encode())
    assert "16 sentences to train on, 4 to measure on. Classes: no: 10, yes: 10" in text_of(app)
    assert list(app.dataframe[0].value["line"]) == [22]
    assert not app.button(key="train").disabled


def test_a_run_from_both_starts_is_shown_as_its_events_say(app, runs_folder):
    from ui.runs import manager

    app.slider(key="epochs").set_value(1)
    app.button(key="train").click()
    whole(app.run())
    runs = manager().runs()
    assert {run.title.split(" · ")[1] for run in runs} == {"from the checkpoint", "from random weights"}
    until(lambda: all(run.over for run in runs))
    assert [run.state for run in runs] == ["finished", "finished"], [run.error for run in runs]
    whole(app.run())
    for run in runs:
        confusion = run.latest("eval")["details"]["confusion"]
        right = sum(confusion[i][i] for i in range(2))
        assert run.latest("done")["metrics"]["accuracy"] == pytest.approx(right / sum(map(sum, confusion)))
        assert run.latest("sample")["answers"][0]["text"] == app.text_input(key="text").value
    inspected = next(run for run in runs if run.id == app.selectbox(key="inspected").value)
    wrong = 122 - sum(inspected.latest("eval")["details"]["confusion"][i][i] for i in range(2))
    assert f"{wrong} sentences answered wrongly" in text_of(app)
    from minibert.checkpoint import load

    assert load(inspected.result).labels == ["negative", "positive"]
    assert "No run yet" in text_of(open_page())  # another visitor


def test_every_section_is_on_the_page_and_the_quiz_is_sound(app):
    assert all(section in text_of(app) for section in LESSON.sections)
    assert len(load_quiz(ROOT / "lessons" / "classification" / "quiz.toml")) >= 4
