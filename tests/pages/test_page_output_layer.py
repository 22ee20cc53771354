"""The fine-tuning page: every task's data, input and head; what a click begins; and what is shown of ended runs."""

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from functools import partial
from operator import attrgetter
from types import SimpleNamespace

import pytest

from minibert.finetune.predictor import Predictor
from minibert.tasks import TASKS
from sections.output_layer import figure4
from sections.output_layer.curves import LITTLE, leads, recorded_for
from sections.output_layer.mistakes import intervals
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, captions, figure, html_of, part, plain, text_of, title_of, whole
from tests.pages.finished_runs import finished_run, spelling_predictor
from tests.shipped import SETS
from tests.waiting import until
from ui import task_data
from ui.finetune_settings import PAPER
from ui.task_data import FIRST, shipped, shipped_sets
from ui.tasks import VIEWS

ME = "m" * 32
open_page = partial(driver.open_page, "output_layer", told=["ahead"])


def choose(app, **chosen: dict):
    """The page with these values: kind of widget → key → value."""
    for kind, values in chosen.items():
        for key, value in values.items():
            getattr(app, kind)(key=key).set_value(value)
    return whole(app.run())


def drawn(app):
    """What the picture shows."""
    (view,) = (one for one in app.get("bidi_component") if "figure4" in one.proto.id)
    return json.loads(view.proto.json)


@pytest.fixture
def app(runs_folder):
    return open_page()


@pytest.fixture
def trained(runs_folder, tmp_path):
    """What a click leaves on a set: a run from the checkpoint and one from random weights, made without training."""
    from ui.runs import manager

    runs = []

    def make(name):
        data = shipped(name)
        model, task = spelling_predictor(data.task.name, data.task.labels(data.train)), data.task.name
        about = {"kind": f"finetune/{task}/{name}", "owner": ME, "title": name}
        for scratch in (True, False):
            some = data.dev.examples[:12]
            runs.append(finished_run(manager(), tmp_path, model, some, from_scratch=scratch, **about))
        return runs

    yield make
    for run in runs:
        manager().delete(run)


def begun(app, asked_for) -> list:
    """The settings of the runs that a click on Train asks for."""
    whole(app.button(key="train").click().run())
    return [arguments[4] for _target, arguments, _options in asked_for]


def test_recorded_runs_wait_for_a_guess(runs_folder):
    app = driver.open_page("output_layer")
    assert figure(app, "curves") is None
    app.button(key="ahead-guess-0").click()
    pretrained, random = map(float, re.findall(r"\d+\.\d+", title_of(whole(app.run()), "curves")))
    ahead = pretrained - random
    right = "it is not ahead" if ahead <= 0 else "by more than 20" if ahead > 20 else "by up to"
    assert f"**{right}" in text_of(app)


def test_where_recorded_runs_show_little_the_way_leads_to_where_they_show_much(runs_folder):
    known = leads("minilm-en")
    little = [name for name, (ahead, behind) in known.items() if ahead - behind <= LITTLE]
    best = next(iter(known))
    assert known[FIRST][0] - known[FIRST][1] > 0.3 and known[best][0] - known[best][1] > 0.3
    for name in (FIRST, *little[:1]):
        app = open_page(task=shipped_sets()[name].task, data=name, model="minilm-en")
        assert any(button.key == "see-it" for button in app.button) == (name in little)
    if little:
        app.button(key="see-it").click()
        assert whole(app.run()).session_state["data"] == best
    seeds = {(record["arm"], record["seed"]) for record in recorded_for(shipped(FIRST), "minilm-en")}
    assert {arm for arm, _ in seeds} == {"minilm-en", "random"}
    assert min(Counter(arm for arm, _ in seeds).values()) >= 3


@pytest.mark.release
@pytest.mark.parametrize("task", SETS)
def test_every_task_has_its_data_its_input_and_its_head(runs_folder, task):
    name = next(name for name, one in shipped_sets().items() if one.task == task)
    data = shipped(name)
    assert f"{len(data.train.examples):,}" in text_of(open_page(task=task, data=name, part="Data"))
    app = open_page(task=task, data=name, part="Input and head")
    assert "mb-tokens" in html_of(app)
    assert not part(app, "Train it").button(key="train").disabled


def test_the_model_reads_the_language_of_the_data(app):
    assert app.selectbox(key="model").value == "minilm-en"
    for data, name in (("reviews-zh", "mini-zh"), ("reviews", "minilm-en")):
        assert open_page(data=data).selectbox(key="model").value == name


def test_the_new_parameters_are_those_of_the_model_that_is_trained(runs_folder):
    assert {"384", "770", "22,713,216"} <= set(re.findall(r"[\d,]+\d", text_of(open_page(part="Input and head"))))
    app = open_page(task="intent", model="mini-en", part="Input and head")
    labels = TASKS["intent"].labels(shipped("intents").train)
    assert f"**{257 * (len(labels['intents']) + len(labels['tags'])):,} " in text_of(app)


def test_the_settings_are_what_suits_the_task_and_the_papers_are_a_click_away(app):
    def values():
        return app.slider(key="epochs").value, app.select_slider(key="batch").value, app.select_slider(key="rate").value

    of = attrgetter("epochs", "batch", "rate")
    small = VIEWS["classification"].sets()[FIRST].small
    assert values() == of(replace(small, rate=1e-4)), "a third, for the wider model"
    choose(app, selectbox={"model": "mini-en"})
    assert values() == of(small), "untouched settings follow the model"
    whole(app.button(key="papers-values").click().run())
    assert values() == of(PAPER) == (3, 32, 5e-5)
    choose(app, button_group={"task": "intent"})
    assert values() == of(VIEWS["intent"].small)


def test_every_setting_reaches_the_run(runs_folder, asked_for):
    app = open_page(task="pair")
    choose(
        app,
        selectbox={"layers": "last_four_sum", "freeze": 2, "augment": "swap", "truncation": "budget"},
        slider={"mlm": 0.5, "samples": 4, "averaging": 0.3, "patience": 2},
        select_slider={"max-length": 16},
        button_group={"pooling": "mean"},
        toggle={"bias-correction": False},
    )
    choose(app, slider={"copies": 2, "first-share": 30})
    (settings,) = begun(app, asked_for)
    assert settings.layers == "last_four_sum" and settings.freeze == 2 and settings.pooling == "mean"
    assert settings.augmentation.method == "swap" and settings.augmentation.copies == 2
    assert settings.mlm_weight == 0.5 and settings.dropout_samples == 4 and not settings.bias_correction
    assert (
        settings.averaging == 0.3
        and settings.patience == 2
        and settings.truncation == "budget"
        and list(settings.budgets) == [3, 10]
    )
    assert not settings.from_scratch and settings.seed == 0
    # Another task of one text has no share to give, and is read as before.
    choose(app, button_group={"task": "classification"})
    assert app.selectbox(key="truncation").value == "longest_first"


def test_two_checkpoints_learn_the_same_task_beside_each_other(runs_folder, asked_for, tmp_path, monkeypatch):
    """One of them of the room's own, an ELECTRA, which fills no blanks."""
    shutil.copytree(ROOT / "checkpoints" / "electra-toy" / "pair", tmp_path / "my-electra")
    monkeypatch.setenv("MINIBERT_MODELS", str(tmp_path))
    app = choose(open_page(owner=ME), button_group={"starts": ["other"]})
    assert "my-electra" in app.selectbox(key="model").options
    choose(app, selectbox={"second": "my-electra"})
    whole(app.button(key="train").click().run())
    ((_target, arguments, options),) = asked_for
    assert arguments[0] == str(tmp_path / "my-electra") and not arguments[4].from_scratch
    assert "my-electra" in options["title"]
    from ui.runs import manager

    data, click = shipped(FIRST), options["kind"].removesuffix("/second")
    model = spelling_predictor("classification", data.task.labels(data.train))
    runs = [  # what both leave behind
        finished_run(
            *(manager(), tmp_path, model, data.dev.examples[:12]),
            **{"kind": f"{click}/{which}", "owner": ME, "title": f"{FIRST} · the {which} · seed 0"},
        )
        for which in ("first", "second")
    ]
    app = open_page(owner=ME)
    names = {line.get("name") for line in figure(app, "curves")["data"] if line.get("showlegend")}
    assert {"the first", "the second"} <= names and figure(app, "comparison")
    for run in runs:
        manager().delete(run)


def test_a_passage_is_in_view_before_training(runs_folder):
    app = open_page(task="span")
    assert app.text_area(key="mine-context").value in captions(app)
    changed = "The river is deep. The bridge is old."
    assert changed in captions(whole(app.text_area(key="mine-context").set_value(changed).run()))


def test_of_more_labels_than_are_drawn_all_are_listed(runs_folder):
    app = open_page(task="multilabel")
    labels = TASKS["multilabel"].labels(shipped("emotions").train)
    assert len(drawn(app)["answer"]["bars"]) < len(labels) and all(label in captions(app) for label in labels)


def test_an_answered_label_is_drawn_though_others_are_likelier():
    shares = {f"label {n}": 0.9 - n / 10 for n in range(8)}
    answer = {
        "labels": ["label 6"],
        "probabilities": shares,
        "thresholds": dict.fromkeys(shares, 0.95) | {"label 6": 0.2},
    }
    _words, bars = figure4._said(SimpleNamespace(task=TASKS["multilabel"]), answer)
    assert [bar["name"] for bar in bars] == [f"label {n}" for n in (*range(figure4.BARS), 6)]
    assert [bar["name"] for bar in bars if bar["chosen"]] == ["label 6"]


def test_what_stands_beside_is_read_and_learned(runs_folder, asked_for):
    """Three texts with a budget each, a mark learned beside, another loss and more layers: the settings of a run."""
    app = open_page(task="classification", data="verdicts", part="Data")
    assert re.findall(r"\d+", title_of(app, "share-within")) == ["0", "32"]  # how long the texts are
    part(app, "Train it")
    choose(app, multiselect={"texts-beside": ["title", "reply"], "beside": ["place"]}, selectbox={"loss": "focal"})
    choose(app, select_slider={"max-length": 32}, slider={"depth": 2}, selectbox={"truncation": "budget"})
    settings = begun(app, asked_for)[0]
    assert settings.texts_beside == ("title", "reply") and settings.budgets == (14, 7, 7)
    assert settings.auxiliary == ("place",) and settings.auxiliary_weight == 0.5
    assert settings.classifier_depth == 2 and settings.loss == "focal" and settings.focal_gamma == 2.0


def test_a_column_beside_the_text_is_in_the_input_and_in_the_head(runs_folder):
    app = open_page(data="reviews", model="minilm-en")
    whole(app.multiselect(key="metadata").set_value(["topic"]).run())
    said = text_of(part(app, "Input and head"))
    data = shipped("reviews")
    topics = sorted({example.extra["topic"] for example in data.train.examples})
    first = data.dev.examples[0].extra["topic"]
    assert re.search(rf"\b{topics.index(first) + 1}\b.*\b{len(topics) + 1}\b", said)  # its vector, of how many
    assert f"{len(topics) + 1} × 384 + 2 × 384 + 2" in said
    part(app, "Train it")
    whole(app.segmented_control(key="metadata-as").set_value("token").run())
    part(app, "Input and head")
    assert f"[TOPIC={first}]".upper() in html_of(app) and f"{len(topics)} × 384 + 2 × 384 + 2" in text_of(app)


def test_values_that_would_be_one_token_are_named_on_the_page(runs_folder, monkeypatch):
    data = shipped("reviews")
    some = [replace(one, extra={"place": name}) for one in data.train.examples[:40] for name in ("Hotel", "hotel")]
    monkeypatch.setattr(task_data, "shipped", lambda name: replace(data, train=replace(data.train, examples=some)))
    app = open_page(data="reviews")
    assert not whole(app.multiselect(key="metadata").set_value(["place"]).run()).warning
    whole(app.segmented_control(key="metadata-as").set_value("token").run())
    assert "[PLACE=HOTEL]" in driver.plain(app.warning[0].value)


@pytest.mark.parametrize("text", [EVERYTHING, ""], ids=["everything", "nothing"])
def test_any_text_is_text(app, text):
    assert_no_markup(whole(app.text_input(key="mine-text").set_value(text).run()))
    assert not text or drawn(app)["rows"]


def test_a_file_of_ones_own_can_be_learned_from(runs_folder):
    app = open_page(data="own")
    assert app.info
    rows = "text\tlabel\n" + "".join(f"good {i}\tyes\nbad {i}\tno\n" for i in range(10))
    whole(app.file_uploader(key="file").set_value([("mine.tsv", rows.encode(), "text/plain")]).run())
    assert not app.button(key="train").disabled


OFTEN = (FIRST, "entities-zh", "intents")
MORE = ("similarity", "emotions", "questions-or-none", "choices", "dialogues")


@pytest.mark.parametrize("name", [*OFTEN, *(pytest.param(name, marks=pytest.mark.release) for name in MORE)])
def test_runs_that_ended_answer_and_are_reviewed(trained, name):
    task, run = TASKS[shipped_sets()[name].task], trained(name)[-1]
    app = open_page(owner=ME, task=task.name, data=name)
    assert figure(app, "curves") and figure(app, "comparison")
    assert drawn(app)["trained"] and "?" not in drawn(app)["answer"]["words"]
    app = part(app, "Right and wrong")
    shown = {one.label.replace(" ", "_"): float(one.value.rstrip("%")) for one in app.metric}
    app.selectbox(key="inspected").set_value(run.id)
    metrics = {name: value for name, value in run.latest("eval")["metrics"].items() if name != "loss"}
    assert set(shown) == set(metrics)
    for name, value in metrics.items():  # as it is, or in per cent
        assert min(abs(shown[name] - value), abs(shown[name] - 100 * value)) < 0.06, name
    found = re.search(task.metric.replace("_", " ") + r" ([-\d.]+)%? – ([-\d.]+)", captions(app))
    low, high = map(float, found.groups())
    assert low <= shown[task.metric] <= high
    assert not figure(open_page(task=task.name, data=name, part="Train it"), "comparison")  # another visitor


def test_of_many_examples_what_counts_right_ones_has_its_interval():
    span = intervals("span", {"f1": 0.8, "exact_match": 0.7}, 5_000, [], [])
    assert intervals("classification", {"accuracy": 0.7}, 5_000, [], []) == {"accuracy": span.pop("exact_match")}
    assert not span  # F1 needs the predictions
    assert not intervals("classification", {"accuracy": 1.0}, 1, [], [])


def test_a_mistake_is_changed_and_both_answers_stand_there(trained):
    run = trained(FIRST)[-1]
    app = part(open_page(owner=ME), "Right and wrong")
    app = whole(app.selectbox(key="inspected").set_value(run.id).run())
    told = run.latest("eval")["details"]["predictions"]
    wrong = [n for n, one in enumerate(told) if not one["grade"]]
    text = run.latest("started")["details"]["dev_examples"][wrong[0]]["text"]
    assert app.text_input(key="edit-text").value == text
    before, after = answers_in(app)
    assert before == after == answer_in_words(told[wrong[0]])
    changed = "no such thing at all"
    before, after = answers_in(whole(app.text_input(key="edit-text").set_value(changed).run()))
    assert before == answer_in_words(told[wrong[0]])
    assert after == answer_in_words(Predictor.from_directory(run.result).predict([changed])[0]) != before


def answer_in_words(answer) -> str:
    return f"{answer['label']} · {answer['probabilities'][answer['label']]:.1%}"


def answers_in(app) -> list[str]:
    """The answers to a mistake and to the changed text."""
    return re.findall(r"  \n(.*%)", plain("\n".join(one.value for one in app.markdown)).replace("**", ""))


def test_a_test_file_of_ones_own_is_measured_and_its_mistakes_are_shown(trained):
    data, run = shipped(FIRST), trained(FIRST)[-1]
    app = whole(part(open_page(owner=ME), "Right and wrong").selectbox(key="inspected").set_value(run.id).run())
    some = [*data.dev.examples[5:20], data.train.examples[0]]
    rows = "text\tlabel\n" + "".join(f"{one.text}\t{one.label}\n" for one in some)
    whole(app.file_uploader(key="test-file").set_value([("mine.tsv", rows.encode(), "text/plain")]).run())
    said = Predictor.from_directory(run.result).predict([one.text for one in some])
    right = sum(answer["label"] == one.label for answer, one in zip(said, some, strict=True))
    assert {one.label: one.value for one in app.metric}["accuracy"] == f"{right / len(some):.1%}"
    assert any("1 of 16" in plain(one.value) for one in app.warning), "one was learned from"
    whole(app.file_uploader(key="test-file").set_value([("mine.tsv", b"a\tb\n1\t2\n", "text/plain")]).run())
    assert "mine.tsv" in plain(app.error[0].value) and app.metric


@pytest.mark.release
@pytest.mark.trains
def test_a_click_trains_from_both_starts_and_the_model_answers_and_is_taken_along(runs_folder, monkeypatch):
    from ui.runs import manager

    def few(name):
        data = shipped(name)
        return replace(data, train=data.train.take(range(0, 48)), dev=data.dev.take(range(0, 12)))

    monkeypatch.setattr(task_data, "shipped", few)
    app = open_page(data="reviews", owner=ME)
    choose(app, multiselect={"metadata": ["topic"]}, slider={"epochs": 1, "seeds": 1})
    before = set(manager().runs())
    whole(app.button(key="train").click().run())
    runs = [run for run in manager().runs() if run not in before]
    until(lambda: all(run.over for run in runs))
    assert [run.state for run in runs] == ["finished"] * 2, [run.error for run in runs]
    assert {run.latest("started")["settings"]["from_scratch"] for run in runs} == {False, True}
    for run in runs:
        assert len(run.latest("eval")["details"]["predictions"]) == 12
        assert run.latest("done")["metrics"]["accuracy"] == run.latest("eval")["metrics"]["accuracy"]
        (answer,) = run.latest("sample")["answers"]
        assert "error" not in answer
    whole(app.text_input(key="mine-text").set_value("A dull evening, badly played.").run())
    assert figure(app, "answers")
    beside = app.selectbox(key="choice-mine-column-topic")
    assert beside.value == len(beside.options) - 1  # our own text has no topic
    whole(beside.set_value(0).run())
    app = part(app, "Right and wrong")
    assert any("A dull evening, badly played." in block.value for block in app.code)  # the command that asks it
    inspected = next(run for run in runs if run.id == app.selectbox(key="inspected").value)
    assert Predictor.from_directory(inspected.result).labels == ["negative", "positive"]
