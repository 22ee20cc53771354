"""The fine-tuning page: data in, runs out, and what it says of them against their own events."""

import html
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from minibert.tasks import TASKS, base
from ui.lesson import Lesson, load_quiz

ROOT = Path(__file__).resolve().parents[2]
LESSON = Lesson("classification")
HOSTILE = [
    "",
    "x" * 100_000,
    "😀🏳️‍🌈👩‍👩‍👧‍👦",
    "שלום עולם مرحبا",
    "a\x00b\x00",
    "我喜欢自然语言处理。",
    "</script><img src=x onerror=alert(1)>",
    "*bold* `code` $x^2$ :red[red] | table | <b>b</b>",
]


@pytest.fixture(scope="module")
def runs_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("runs")
        patch.setenv("MINIBERT_RUNS", str(folder))
        import streamlit

        streamlit.cache_resource.clear()
        yield folder
        from ui.runs import manager

        manager().close()
        streamlit.cache_resource.clear()


@pytest.fixture
def app(runs_folder):
    return open_page()


def open_page(**query) -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages" / "classification.py"), default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = value
    return whole(app.run())


def upload(content: bytes) -> AppTest:
    app = open_page(data="own")
    app.file_uploader(key="file").set_value(("mine.tsv", content, "text/plain"))
    return whole(app.run())


def whole(app: AppTest) -> AppTest:
    assert not app.exception, app.exception
    return app


def plain(markdown: str) -> str:
    """Markdown of ui.text.literal as it reads."""
    return html.unescape(markdown)


def text_of(app: AppTest) -> str:
    return "\n".join(block.value for block in app.markdown)


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


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_text(app, text):
    app.text_input(key="text").set_value(text)
    whole(app.run())
    for block in app.get("html"):
        assert "<img src=x" not in block.proto.body


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
    assert "16 sentences to train on, 4 to measure on. Classes: no: 10, yes: 10" in plain(text_of(app))
    assert list(app.dataframe[0].value["line"]) == [22]
    assert not app.button(key="train").disabled


def test_a_run_from_both_starts_is_shown_as_its_events_say(app, runs_folder):
    from ui.runs import manager

    app.slider(key="epochs").set_value(1)
    app.button(key="train").click()
    whole(app.run())
    runs = manager().runs()
    assert {run.title.split(" · ")[1] for run in runs} == {"from the checkpoint", "from random weights"}
    deadline = time.monotonic() + 300
    while not all(run.over for run in runs) and time.monotonic() < deadline:
        time.sleep(0.2)
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
