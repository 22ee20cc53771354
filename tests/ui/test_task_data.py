"""Labelled data on a page: the shipped sets, uploads of every kind, what is wrong with them."""

import re

import pytest

from minibert.tasks import TASKS
from tests.pages.driver import link, plain
from tests.ui.driver import script
from ui.lesson import LESSONS
from ui.task_data import MOST_LABELS, cells, language_of, main_file, shipped, shipped_sets, usable
from ui.tasks import VIEWS


def page():
    import streamlit as st

    from ui.task_data import choose_data, show_data, task_choice

    data = choose_data(task_choice())
    if data:
        show_data(data)
        st.session_state["chosen"] = data


def whole(app):
    assert not app.exception, [error.value for error in app.exception]
    return app


def opened(**query):
    app = script(page)
    for name, value in query.items():
        app.query_params[name] = value
    return whole(app.run())


def uploaded(app, *files, key="file"):
    app.file_uploader(key=key).set_value([(name, content, "text/plain") for name, content in files])
    return whole(app.run())


def numbers(app) -> set[str]:
    return set(re.findall(r"\d[\d,]*", plain("\n".join(block.value for block in app.markdown))))


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
    assert data.language == language_of(data.view, data.train) == ("zh" if name.endswith("-zh") else "en")
    for example in data.dev.examples[:20]:
        assert data.view.in_a_line(example).strip() and all(
            isinstance(cell, str) for cell in cells(data.view, example).values()
        )
    app = opened(task=data.task.name, data=name)
    assert {f"{len(data.train.examples):,}", f"{len(data.dev.examples):,}"} <= numbers(app)
    assert app.session_state["chosen"].key == name


def test_a_bad_link_falls_back():
    assert opened(task="nonsense", data="reviews").session_state["chosen"].key == "reviews"
    assert opened(task="pair", data="reviews").session_state["chosen"].key == "pairs"


def test_an_upload_is_recognized_previewed_and_its_bad_lines_named():
    rows = "".join(f"good {i}\tyes\tplain\nbad {i}\tno\tirony\n" for i in range(10)) + "lonely\n"
    app = uploaded(opened(data="own"), ("mine.tsv", ("text\tlabel\tkind\n" + rows).encode()))
    assert {"16", "4"} <= numbers(app)
    problems, preview, labels = (table.value for table in app.dataframe)
    assert list(problems["line"]) == [22]
    assert list(preview.columns) == ["text", "label", "kind"]
    assert dict(zip(labels["label"], labels["to learn from"], strict=True)) == {"no": 8, "yes": 8}
    assert app.selectbox(key="format").value == "header"


def test_the_page_turns_to_the_task_that_a_file_is_for_and_the_reader_may_turn_back():
    content = b"Ada B-PER\nsleeps O\n\nBob B-PER\nreads O\n\n" * 10
    app = uploaded(opened(data="own"), ("names.txt", content))
    assert app.session_state["task"] == "tagging" and app.session_state["chosen"].task.name == "tagging"
    assert link(app, "task") == "tagging"
    app.button_group(key="task").set_value("classification")
    whole(app.run())
    assert app.session_state["task"] == "classification" and app.error


def test_the_guessed_format_can_be_corrected():
    rows = "".join(f"{word}\tword {i % 5}\n" for i in range(20) for word in ("yes", "no"))
    app = uploaded(opened(data="own"), ("mine.tsv", rows.encode()))
    assert app.selectbox(key="format").value == "label-first"
    app.selectbox(key="format").set_value("label-last")
    assert whole(app.run()).session_state["chosen"].train.labels == [f"word {i}" for i in range(5)]


def test_the_columns_of_a_file_can_be_chosen():
    rows = "".join(f"{i};x\tlove it {i}\t{'up' if i % 2 else 'down'}\t{i}\n" for i in range(20))
    app = uploaded(opened(data="own"), ("mine.tsv", ("id\tOpinion\tStars\tdate\n" + rows).encode()))
    text, label = (app.selectbox(key=f"column-classification-name-{field}") for field in ("text", "label"))
    assert text.value is label.value is None and app.info and "chosen" not in app.session_state
    assert text.options == ["id", "Opinion", "Stars", "date"]
    text.set_value("Opinion")
    label.set_value("Stars")
    train = whole(app.run()).session_state["chosen"].train
    assert train.labels == ["down", "up"] and train.examples[0].extra.keys() == {"id", "date"}
    app.selectbox(key="column-classification-name-label").set_value("Opinion")
    assert whole(app.run()).error


def test_of_two_columns_of_one_name_the_first_is_read():
    rows = "".join(f"love it {i}\t{'up' if i % 2 else 'down'}\tother {i}\n" for i in range(20))
    app = uploaded(opened(data="own"), ("mine.tsv", ("text\tlabel\ttext\n" + rows).encode()))
    assert app.selectbox(key="column-classification-name-text").options == ["text", "label"]
    assert all(example.text.startswith("love it") for example in app.session_state["chosen"].train.examples)


def test_columns_without_names_are_chosen_by_number():
    rows = "".join(f"{i};x\tlove *it* {i} !\t{'up' if i % 2 else 'down'}\t{i}\n" for i in range(20))
    app = uploaded(opened(task="classification", data="own"), ("mine.tsv", rows.encode()))
    assert not app.toggle(key="column-classification-named").value
    text, label = (app.selectbox(key=f"column-classification-number-{field}") for field in ("text", "label"))
    assert text.options[1] == "2: love *it* 0 !"
    text.set_value(2)
    label.set_value(3)
    chosen = whole(app.run()).session_state["chosen"]
    assert len(chosen.train.examples) + len(chosen.dev.examples) == 20 and chosen.train.labels == ["down", "up"]
    app = uploaded(app, ("other.tsv", b"text\tlabel\na\tx\nb\ty\n"))  # another file is guessed anew
    assert app.selectbox(key="column-classification-name-text").value == "text"


def test_what_lies_beside_a_file_is_read_with_it():
    folder = LESSONS / "data" / "stories"
    files = [(f"train{ending}", (folder / f"train{ending}").read_bytes()) for ending in (".tsv", ".ans")]
    app = uploaded(opened(task="choice", data="own"), *files)
    assert app.session_state["chosen"].train.examples[0].label is not None
    app = uploaded(opened(task="choice", data="own"), files[0])
    without_answers = app.error[0].value
    app = uploaded(opened(task="choice", data="own"), files[1])
    assert app.error[0].value != without_answers


def test_a_second_file_is_what_is_measured_on():
    folder = LESSONS / "data" / "reviews"
    train, dev = ((f"{part}.tsv", (folder / f"{part}.tsv").read_bytes()) for part in ("train", "dev"))
    app = uploaded(uploaded(opened(data="own"), train), dev, key="dev-file")
    shipped_too = shipped("reviews")
    chosen = app.session_state["chosen"]
    assert chosen.dev.examples == shipped_too.dev.examples and chosen.train.examples == shipped_too.train.examples


def test_answers_beside_a_file_belong_to_that_file_alone():
    folder = LESSONS / "data" / "stories"
    train, answers, dev, dev_answers = (
        (name, (folder / name).read_bytes()) for name in ("train.tsv", "train.ans", "dev.tsv", "dev.ans")
    )
    app = uploaded(opened(task="choice", data="own"), train, answers)
    chosen = uploaded(app, dev, dev_answers, key="dev-file").session_state["chosen"]
    assert chosen.dev.examples == shipped("stories").dev.examples
    app = uploaded(app, dev, key="dev-file")
    assert "dev.tsv" in plain(app.error[0].value)


@pytest.mark.parametrize("name", shipped_sets())
def test_every_set_we_ship_can_be_uploaded(name):
    one, folder = shipped_sets()[name], LESSONS / "data" / name
    beside = [path for path in folder.iterdir() if path.name in ("labels.txt", "train.ans")]
    files = [(path.name, path.read_bytes()) for path in (folder / f"train{one.ending}", *beside)]
    chosen = uploaded(opened(data="own"), *files).session_state["chosen"]
    assert chosen.task.name == one.task and chosen.language == one.language
    assert len(chosen.train.examples) + len(chosen.dev.examples) == len(shipped(name).train.examples)


UNUSABLE = {
    "one column": b"sentence\nx\ny\n",
    "one class": b"sentence\tlabel\nx\t1\ny\t1\n",
    "not UTF-8": b"text\tlabel\ncaf\xe9\t1\n",
    "empty": b"",
    "binary": b"text\tlabel\n\0\0\0\t1\n",
    "too few": b"a\tx\nb\ty\n",
    "markup": b"</script><img src=x onerror=alert(1)>\n",
    "a text as label": b"text\tlabel\n" + b"".join(b"x\t%d\n" % i for i in range(MOST_LABELS + 1)),
}


def test_an_unusable_file_is_refused_each_in_its_own_words():
    told = set()
    app = opened(data="own")
    for name, content in UNUSABLE.items():
        app = uploaded(app, ("mine.tsv", content))
        assert app.error and "chosen" not in app.session_state, name
        assert not any("<img" in box.value for box in app.error)
        told.add(app.error[0].value)
    assert len(told) == len(UNUSABLE)


def test_a_file_too_large_is_refused(monkeypatch):
    monkeypatch.setattr("minibert.tasks.tables.LARGEST_FILE", 10)
    app = uploaded(opened(data="own"), ("mine.tsv", b"text\tlabel\ngood\tyes\nbad\tno\n"))
    assert app.error and "chosen" not in app.session_state


def test_too_many_examples_are_cut_and_said(monkeypatch):
    monkeypatch.setattr("ui.task_data.MOST_TRAINING", 6)
    monkeypatch.setattr("ui.task_data.MOST_DEV", 2)
    rows = "".join(f"good {i}\tyes\nbad {i}\tno\n" for i in range(10))
    app = uploaded(opened(data="own"), ("mine.tsv", ("text\tlabel\n" + rows).encode()))
    chosen = app.session_state["chosen"]
    assert (len(chosen.train.examples), len(chosen.dev.examples)) == (6, 2)
    assert [re.findall(r"\d+", box.value)[:2] for box in app.info] == [["16", "6"], ["4", "2"]]


def test_a_file_sorted_by_class_keeps_its_classes_when_it_is_cut(monkeypatch):
    monkeypatch.setattr("ui.task_data.MOST_TRAINING", 7)
    monkeypatch.setattr("ui.task_data.MOST_DEV", 4)
    labels = ["x"] * 20 + ["rare"] + ["y"] * 20
    content = "text\tlabel\n" + "".join(f"text {i}\t{label}\n" for i, label in enumerate(labels))
    data = TASKS["classification"].parse(content.encode(), "mine.tsv")
    chosen = usable("classification", data, data)
    assert len(chosen.train.examples) == 7 and len(chosen.dev.examples) == 4
    assert chosen.train.labels == chosen.dev.labels == ["rare", "x", "y"] and chosen.train.counts["x"] == 3
    places = [data.examples.index(example) for example in chosen.train.examples]
    assert places == sorted(places)


def test_an_upload_is_read_once(monkeypatch):
    read, task = [], type(TASKS["classification"])
    parse = task.parse

    def counted(self, content, name, *more, **beside):
        read.append(name)
        return parse(self, content, name, *more, **beside)

    monkeypatch.setattr(task, "parse", counted)
    rows = "text\tlabel\n" + "".join(f"good {i}\tyes\nbad {i}\tno\n" for i in range(10))
    app = uploaded(opened(data="own"), ("mine.tsv", rows.encode()))
    whole(app.run())
    assert read == ["mine.tsv"]
    uploaded(app, ("dev.tsv", rows.encode()), key="dev-file")
    assert read == ["mine.tsv", "mine.tsv", "dev.tsv"]
    app.selectbox(key="format").set_value("label-last")
    assert len(whole(app.run()).session_state["chosen"].train.examples) == 20 and len(read) == 5
    uploaded(app, ("mine.tsv", rows.replace("good", "fine").encode()))
    assert app.session_state["chosen"].train.examples[0].text == "fine 0"


def test_classes_that_training_never_shows_are_named():
    parse = TASKS["classification"].parse
    train = parse(b"text\tlabel\na\tx\nb\ty\n", "train.tsv")
    dev = parse(b"text\tlabel\na\tx\nb\tz\n", "dev.tsv")
    with pytest.raises(ValueError, match="never show: z"):
        usable("classification", train, dev)


def test_the_file_given_last_is_the_one_that_is_read():
    from types import SimpleNamespace

    files = [SimpleNamespace(name=name, getvalue=lambda: b"") for name in ("a.tsv", "labels.txt", "b.tsv")]
    main, beside = main_file(files)
    assert main.name == "b.tsv" and set(beside) == {"labels.txt"}
    with pytest.raises(ValueError, match="the file with the examples is missing"):
        main_file(files[1:2])


def test_a_mended_file_takes_the_place_of_the_first():
    app = opened(data="own")
    rows = "".join(f"good {i}\tyes\nbad {i}\tno\n" for i in range(10))
    broken, mended = ("text\tlabel\n" + rows + more for more in ("lonely\n", "kind\tyes\n"))
    files = [("mine.tsv", text.encode(), "text/plain") for text in (broken, mended)]
    app.file_uploader(key="file").set_value(files)
    whole(app.run())
    assert not app.error
    assert {"17", "4"} <= numbers(app)


@pytest.mark.parametrize("separator", [",", ";"])
def test_an_ordinary_table_of_a_spreadsheet_asks_for_its_columns(separator):
    """Neither read as two texts, its header as an example, nor refused."""
    app = opened(data="own")
    lines = (f"Place {i} was fine{separator}{i % 2 + 4}{separator}2024-01-{i + 1:02}" for i in range(20))
    text = "\n".join((separator.join(("Opinion", "Stars", "Date")), *lines))
    app.file_uploader(key="file").set_value([("mine.csv", text.encode(), "text/csv")])
    whole(app.run())
    assert not app.error
    assert app.query_params.get("task", ["classification"]) == ["classification"]
    assert app.info
    for key, column in (("text", "Opinion"), ("label", "Stars")):
        app.selectbox(key=f"column-classification-name-{key}").set_value(column)
    whole(app.run())
    assert {"16", "4"} <= numbers(app)
