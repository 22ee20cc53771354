"""Labelled data on a page: the shipped sets, uploads of every kind, what is wrong with them."""

import re
from types import SimpleNamespace

import pytest
import streamlit as st

from minibert.tasks import TASKS
from tests.pages.driver import link, plain, text_of, whole
from tests.ui.driver import opened
from ui import task_data
from ui.lesson import LESSONS
from ui.task_data import MOST_LABELS, main_file, shipped, shipped_sets, usable
from ui.tasks import VIEWS

TABLE = "text\tlabel\n" + "".join(f"good {i}\tyes\nbad {i}\tno\n" for i in range(10))
UNNAMED = "id,Opinion,Stars,date\n" + "".join(
    f"{i},love it {i},{['down', 'up'][i % 2]},2024-01-{i + 1:02}\n" for i in range(20)
)
parse = TASKS["classification"].parse


def page():
    data = task_data.choose_data(task_data.task_choice())
    if data:
        task_data.show_data(data)
    return data


def uploaded(*files, app=None, key="file", **query):
    """The page, if not already open that for the reader's own data, after files of (name, content) were given."""
    app = app or opened(page, data="own", **query)
    given = [(name, content.encode() if isinstance(content, str) else content) for name, content in files]
    app.file_uploader(key=key).set_value([(*file, "text/plain") for file in given])
    return whole(app.run())


def chosen(app):
    return app.session_state["got"]


def shipped_files(name, *files):
    return [(file, (LESSONS / "data" / name / file).read_bytes()) for file in files]


def numbers(app) -> set[str]:
    return set(re.findall(r"\d[\d,]*", text_of(app)))


def test_every_set_and_format_has_its_words():
    folders = {folder.name for folder in (LESSONS / "data").iterdir() if list(folder.glob("train.*"))}
    assert folders == set(shipped_sets()) and all(one.title and one.note for one in shipped_sets().values())
    assert list(VIEWS) == list(TASKS)
    for name, task in TASKS.items():
        view = VIEWS[name]
        assert view.task is task and view.title() and view.expected() and view.metric_title()
        assert view.formats().keys() == task.readers.keys() and view.columns().keys() == task.columns.keys()


@pytest.mark.parametrize("name", shipped_sets())
def test_a_shipped_set_is_read_and_shown(name):
    data = shipped(name)
    assert data.language == task_data.language_of(data.view, data.train) == ("zh" if name.endswith("-zh") else "en")
    for example in data.dev.examples[:20]:
        assert data.view.in_a_line(example).strip()
        assert all(isinstance(cell, str) for cell in task_data.cells(data.view, example).values())
    app = opened(page, task=data.task.name, data=name)
    assert {f"{len(data.train.examples):,}", f"{len(data.dev.examples):,}"} <= numbers(app)
    assert chosen(app).key == name


@pytest.mark.parametrize(("task", "key"), [("nonsense", "reviews"), ("pair", "pairs")])
def test_a_bad_link_falls_back(task, key):
    assert chosen(opened(page, task=task, data="reviews")).key == key


def test_an_upload_is_recognized_previewed_and_its_bad_lines_named():
    rows = "".join(f"good {i}\tyes\tplain\nbad {i}\tno\tirony\n" for i in range(10)) + "lonely\n"
    app = uploaded(("mine.tsv", "text\tlabel\tkind\n" + rows))
    assert {"16", "4"} <= numbers(app)
    problems, preview, labels = (table.value for table in app.dataframe)
    assert list(problems["line"]) == [22]
    assert list(preview.columns) == ["text", "label", "kind"]
    assert dict(zip(labels["label"], labels["to learn from"], strict=True)) == {"no": 8, "yes": 8}
    assert app.selectbox(key="format").value == "header"


def test_the_page_turns_to_the_task_that_a_file_is_for_and_the_reader_may_turn_back():
    app = uploaded(("names.txt", "Ada B-PER\nsleeps O\n\nBob B-PER\nreads O\n\n" * 10))
    assert app.session_state["task"] == chosen(app).task.name == link(app, "task") == "tagging"
    app.button_group(key="task").set_value("classification")
    whole(app.run())
    assert app.session_state["task"] == "classification" and app.error


def test_the_guessed_format_can_be_corrected():
    rows = "".join(f"{word}\tword {i % 5}\n" for i in range(20) for word in ("yes", "no"))
    app = uploaded(("mine.tsv", rows))
    assert app.selectbox(key="format").value == "label-first"
    app.selectbox(key="format").set_value("label-last")
    assert chosen(whole(app.run())).train.labels == [f"word {i}" for i in range(5)]


@pytest.mark.parametrize(("separator", "beside"), [("\t", ";x"), (",", ""), (";", "")])
def test_the_columns_of_a_file_can_be_chosen(separator, beside):
    """An ordinary table of a spreadsheet is neither read as two texts, its header as an example, nor refused."""
    lines = [(f"{i}{beside}", f"love it {i}", ["down", "up"][i % 2], f"2024-01-{i + 1:02}") for i in range(20)]
    text = "\n".join(separator.join(cells) for cells in [("id", "Opinion", "Stars", "date"), *lines])
    app = uploaded(("mine.csv", text))
    assert app.query_params.get("task", ["classification"]) == ["classification"]
    text, label = (app.selectbox(key=f"column-classification-name-{field}") for field in ("text", "label"))
    assert text.value is label.value is chosen(app) is None and app.info and not app.error
    assert text.options == ["id", "Opinion", "Stars", "date"]
    text.set_value("Opinion")
    label.set_value("Stars")
    train = chosen(whole(app.run())).train
    assert train.labels == ["down", "up"] and train.examples[0].extra.keys() == {"id", "date"}
    assert {"16", "4"} <= numbers(app)
    app.selectbox(key="column-classification-name-label").set_value("Opinion")
    assert whole(app.run()).error


def test_of_two_columns_of_one_name_the_first_is_read():
    app = uploaded(("mine.tsv", re.sub(r"\n", "\tother\n", TABLE).replace("other", "text", 1)))
    assert app.selectbox(key="column-classification-name-text").options == ["text", "label"]
    assert {example.text.split()[0] for example in chosen(app).train.examples} == {"good", "bad"}


def test_columns_without_names_are_chosen_by_number():
    rows = "".join(f"{i};x\tlove *it* {i} !\t{'up' if i % 2 else 'down'}\t{i}\n" for i in range(20))
    app = uploaded(("mine.tsv", rows), task="classification")
    assert not app.toggle(key="column-classification-named").value
    text, label = (app.selectbox(key=f"column-classification-number-{field}") for field in ("text", "label"))
    assert text.options[1] == "2: love *it* 0 !"
    text.set_value(2)
    label.set_value(3)
    data = chosen(whole(app.run()))
    assert len(data.train.examples) + len(data.dev.examples) == 20 and data.train.labels == ["down", "up"]
    app = uploaded(("other.tsv", "text\tlabel\na\tx\nb\ty\n"), app=app)  # another file is guessed anew
    assert app.selectbox(key="column-classification-name-text").value == "text"


def test_answers_beside_a_file_belong_to_that_file_alone():
    files = shipped_files("stories", "train.tsv", "train.ans", "dev.tsv", "dev.ans")
    app = uploaded(*files[:2], task="choice")
    data, wanted = chosen(uploaded(*files[2:], app=app, key="dev-file")), shipped("stories")
    assert data.train.examples == wanted.train.examples and data.dev.examples == wanted.dev.examples
    assert "dev.tsv" in plain(uploaded(files[2], app=app, key="dev-file").error[0].value)
    told = {uploaded(file, task="choice").error[0].value for file in files[:2]}  # no answers; no questions
    assert len(told) == 2


@pytest.mark.parametrize("name", shipped_sets())
def test_every_set_we_ship_can_be_uploaded(name):
    one, folder = shipped_sets()[name], LESSONS / "data" / name
    beside = [path.name for path in folder.iterdir() if path.name in ("labels.txt", "train.ans")]
    data = chosen(uploaded(*shipped_files(name, f"train{one.ending}", *beside)))
    assert data.task.name == one.task and data.language == one.language
    assert len(data.train.examples) + len(data.dev.examples) == len(shipped(name).train.examples)


UNUSABLE = {
    "one column": "sentence\nx\ny\n",
    "one class": "sentence\tlabel\nx\t1\ny\t1\n",
    "not UTF-8": b"text\tlabel\ncaf\xe9\t1\n",
    "empty": b"",
    "binary": "text\tlabel\n\0\0\0\t1\n",
    "too few": "a\tx\nb\ty\n",
    "markup": "</script><img src=x onerror=alert(1)>\n",
    "a text as label": "text\tlabel\n" + "".join(f"x\t{i}\n" for i in range(MOST_LABELS + 1)),
    "too large": TABLE * 20,
}


def test_an_unusable_file_is_refused_each_in_its_own_words(monkeypatch):
    monkeypatch.setattr("minibert.tasks.tables.LARGEST_FILE", len(TABLE) * 20 - 1)
    told, app = set(), opened(page, data="own")
    for name, content in UNUSABLE.items():
        app = uploaded(("mine.tsv", content), app=app)
        assert app.error and chosen(app) is None, name
        assert not any("<img" in box.value for box in app.error)
        told.add(app.error[0].value)
    assert len(told) == len(UNUSABLE)


def test_too_many_examples_are_cut_and_said(monkeypatch):
    monkeypatch.setattr("ui.task_data.MOST_TRAINING", 6)
    monkeypatch.setattr("ui.task_data.MOST_DEV", 2)
    app = uploaded(("mine.tsv", TABLE))
    assert (len(chosen(app).train.examples), len(chosen(app).dev.examples)) == (6, 2)
    assert [re.findall(r"\d+", box.value)[:2] for box in app.info] == [["16", "6"], ["4", "2"]]


def test_a_file_sorted_by_class_keeps_its_classes_when_it_is_cut(monkeypatch):
    monkeypatch.setattr("ui.task_data.MOST_TRAINING", 7)
    monkeypatch.setattr("ui.task_data.MOST_DEV", 4)
    labels = ["x"] * 20 + ["rare"] + ["y"] * 20
    content = "text\tlabel\n" + "".join(f"text {i}\t{label}\n" for i, label in enumerate(labels))
    data = parse(content.encode(), "mine.tsv")
    cut = usable("classification", data, data)
    assert len(cut.train.examples) == 7 and len(cut.dev.examples) == 4
    assert cut.train.labels == cut.dev.labels == ["rare", "x", "y"] and cut.train.counts["x"] == 3
    places = [data.examples.index(example) for example in cut.train.examples]
    assert places == sorted(places)


def test_an_upload_is_read_once(monkeypatch):
    read, task = [], type(TASKS["classification"])
    parsed = task.parse

    def counted(self, content, name, *more, **beside):
        read.append(name)
        return parsed(self, content, name, *more, **beside)

    monkeypatch.setattr(task, "parse", counted)
    app = uploaded(("mine.tsv", TABLE))
    whole(app.run())
    assert read == ["mine.tsv"]
    uploaded(("dev.tsv", TABLE), app=app, key="dev-file")
    assert read == ["mine.tsv", "mine.tsv", "dev.tsv"]
    app.selectbox(key="format").set_value("label-last")
    assert len(chosen(whole(app.run())).train.examples) == 20 and len(read) == 5
    uploaded(("mine.tsv", TABLE.replace("good", "fine")), app=app)
    assert chosen(app).train.examples[0].text == "fine 0"


def test_classes_that_training_never_shows_are_named():
    train, dev = (parse(f"text\tlabel\na\tx\nb\t{label}\n".encode(), "mine.tsv") for label in "yz")
    with pytest.raises(ValueError, match="never show: z"):
        usable("classification", train, dev)


def test_the_file_given_last_is_the_one_that_is_read():
    files = [SimpleNamespace(name=name, getvalue=lambda: b"") for name in ("a.tsv", "labels.txt", "b.tsv")]
    main, beside = main_file(files)
    assert main.name == "b.tsv" and set(beside) == {"labels.txt"}
    with pytest.raises(ValueError, match="the file with the examples is missing"):
        main_file(files[1:2])


def test_examples_in_both_parts_are_said():
    app = uploaded(("mine.tsv", TABLE))
    assert not app.warning
    uploaded(("dev.tsv", TABLE.partition("good 8")[0] + "new\tyes\n"), app=app, key="dev-file")
    assert re.findall(r"\d+", app.warning[0].value) == ["16", "17"]


@pytest.mark.parametrize("name", list(shipped_sets()))
def test_no_shipped_set_measures_what_it_teaches(name):
    data = shipped(name)
    assert task_data.in_both(data.task, data.train, data.dev) == 0


def in_a_drawer():
    place = st.container(key="in-view")
    with st.expander("closed"):
        task_data.choose_data("classification", place)


@pytest.mark.parametrize("given", [[("mine.csv", UNNAMED)], [("old.tsv", TABLE), ("mine.tsv", TABLE)]])
def test_what_is_said_of_a_file_stands_outside_a_closed_drawer(given, monkeypatch):
    monkeypatch.setattr("ui.task_data.MOST_TRAINING", 6)
    app = opened(in_a_drawer, data="own")
    app.file_uploader(key="file").set_value([(name, text.encode(), "text/plain") for name, text in given])
    app = whole(app.run())
    assert len(app.info) == len(given) and not app.expander[0].info


def test_a_header_of_whole_sentences_is_taken_for_one():
    rows = "".join(f"a room with number {i},{1 + i % 2},Rome {i}\n" for i in range(20))
    app = uploaded(("mine.csv", "What the guest wrote,Stars (1-2),City\n" + rows))
    assert app.toggle(key="column-classification-named").value
    assert app.selectbox(key="column-classification-name-text").options[0] == "What the guest wrote"
