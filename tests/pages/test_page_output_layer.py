"""The fine-tuning page: every task's data, input and head; what a click begins; and what is shown of ended runs."""

import json
import re
from dataclasses import replace
from functools import partial

import pytest

from minibert.tasks import TASKS
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, figure, html_of, link, text_of, title_of, whole
from tests.pages.finished_runs import finished_run, spelling_predictor
from tests.shipped import SETS
from tests.waiting import until
from ui.finetune_settings import PAPER
from ui.task_data import FIRST, shipped, shipped_sets
from ui.tasks import VIEWS

ME = "m" * 32
open_page = partial(driver.open_page, "output_layer", told=["ahead"])


def part(app, title):
    """Another tab of the page."""
    app.session_state["tab"] = title
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
        model = spelling_predictor(data.task.name, data.task.labels(data.train))
        for from_scratch in (True, False):
            runs.append(
                finished_run(
                    manager(), tmp_path, model, data.dev.examples[:12], kind=f"finetune/{data.task.name}/{name}",
                    owner=ME, title=name, from_scratch=from_scratch,
                )
            )  # fmt: skip
        return runs

    yield make
    for run in runs:
        manager().delete(run)


def begun(app, asked_for) -> list:
    """The settings of the runs that a click on Train asks for."""
    app.button(key="train").click()
    whole(app.run())
    return [arguments[4] for _target, arguments, _options in asked_for]


def test_recorded_runs_wait_for_a_guess(runs_folder):
    app = driver.open_page("output_layer")
    assert not title_of(app, "curves") and not [one for one in figure(app, "curves")["data"] if any(one["x"])]
    app.button(key="ahead-guess-0").click()
    reached = [float(share) for share in re.findall(r"\d+\.\d+", title_of(whole(app.run()), "curves"))]
    ahead = reached[0] - reached[1]
    right = "it is not ahead" if ahead <= 0 else "by more than 20" if ahead > 20 else "by up to"
    assert f"**{right}" in text_of(app)


def test_where_recorded_runs_show_little_the_way_leads_to_where_they_show_much(runs_folder):
    from sections.output_layer.curves import LITTLE, leads, recorded_for

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
    seeds: dict[str, set[int]] = {}
    for record in recorded_for(shipped(FIRST), "minilm-en"):
        seeds.setdefault(record["arm"], set()).add(record["seed"])
    assert set(seeds) == {"minilm-en", "random"} and all(len(found) >= 3 for found in seeds.values())


@pytest.mark.release
@pytest.mark.parametrize("task", SETS)
def test_every_task_has_its_data_its_input_and_its_head(runs_folder, task):
    name = next(name for name, one in shipped_sets().items() if one.task == task)
    data = shipped(name)
    assert f"{len(data.train.examples):,}" in text_of(open_page(task=task, data=name, tab="Data"))
    app = open_page(task=task, data=name, tab="Input and head")
    assert "mb-tokens" in html_of(app)
    assert not part(app, "Train it").button(key="train").disabled


def test_every_part_opens_before_there_is_a_run(app):
    for title in ("Input and head", "Right and wrong", "Data"):
        part(app, title)
    # A link that says which data but no model is older than the page's usual one.
    assert open_page(data="reviews-zh").selectbox(key="model").value == "mini-zh"
    assert open_page(data="reviews").selectbox(key="model").value == "mini-en"
    assert app.selectbox(key="model").value == "minilm-en"


def test_the_new_parameters_are_those_of_the_model_that_is_trained(runs_folder):
    assert {"384", "770", "22,713,216"} <= set(re.findall(r"[\d,]+\d", text_of(open_page(tab="Input and head"))))
    app = open_page(task="intent", tab="Input and head")
    labels = TASKS["intent"].labels(shipped("intents").train)
    assert f"**{257 * (len(labels['intents']) + len(labels['tags'])):,} " in text_of(app)


def test_the_settings_are_what_suits_the_task_and_the_papers_are_a_click_away(app):
    def values(app):
        return app.slider(key="epochs").value, app.select_slider(key="batch").value, app.select_slider(key="rate").value

    def of(one):
        return one.epochs, one.batch, one.rate

    small = VIEWS["classification"].sets()[FIRST].small
    assert values(app) == of(replace(small, rate=1e-4)), "a third, for the wider model"
    app.selectbox(key="model").set_value("mini-en")
    whole(app.run())
    assert values(app) == of(small), "untouched settings follow the model"
    app.button(key="papers-values").click()
    whole(app.run())
    assert values(app) == of(PAPER) == (3, 32, 5e-5)
    app.button_group(key="task").set_value("intent")
    whole(app.run())
    assert values(app) == of(VIEWS["intent"].small)


def test_every_setting_reaches_the_run(runs_folder, asked_for):
    from ui.finetune_settings import Chosen

    app = open_page(task="pair")
    app.selectbox(key="layers").set_value("last_four_sum")
    app.selectbox(key="freeze").set_value(2)
    app.selectbox(key="augment").set_value("swap")
    app.button_group(key="pooling").set_value("mean")
    app.toggle(key="bias-correction").set_value(False)
    app.slider(key="mlm").set_value(0.5)
    app.slider(key="samples").set_value(4)
    app.slider(key="averaging").set_value(0.3)
    app.select_slider(key="max-length").set_value(16)
    app.selectbox(key="truncation").set_value("budget")
    whole(app.run())
    app.slider(key="copies").set_value(2)
    app.slider(key="first-share").set_value(30)
    whole(app.run())
    (settings,) = begun(app, asked_for)
    assert settings.layers == "last_four_sum" and settings.freeze == 2 and settings.pooling == "mean"
    assert settings.augmentation.method == "swap" and settings.augmentation.copies == 2
    assert settings.mlm_weight == 0.5 and settings.dropout_samples == 4 and not settings.bias_correction
    assert settings.averaging == 0.3 and settings.truncation == "budget" and list(settings.budgets) == [3, 10]
    assert not settings.from_scratch and settings.seed == 0
    assert Chosen(["pretrained"], 3).runs == 3
    # Another task of one text has no share to give, and is read as before.
    app.button_group(key="task").set_value("classification")
    assert whole(app.run()).selectbox(key="truncation").value == "longest_first"


def test_what_stands_beside_is_read_and_learned(runs_folder, asked_for):
    """Three texts with a budget each, a mark learned beside, another loss and more layers: the settings of a run."""
    app = open_page(task="classification", data="verdicts")
    app.multiselect(key="texts-beside").set_value(["title", "reply"])
    app.multiselect(key="beside").set_value(["place"])
    app.select_slider(key="max-length").set_value(32)
    app.slider(key="depth").set_value(2)
    app.selectbox(key="loss").set_value("focal")
    whole(app.run())
    app.selectbox(key="truncation").set_value("budget")
    settings = begun(whole(app.run()), asked_for)[0]
    assert settings.texts_beside == ("title", "reply") and settings.budgets == (14, 7, 7)
    assert settings.auxiliary == ("place",) and settings.auxiliary_weight == 0.5
    assert settings.classifier_depth == 2 and settings.loss == "focal" and settings.focal_gamma == 2.0


def test_a_column_beside_the_text_is_in_the_input_and_in_the_head(runs_folder):
    app = open_page(data="reviews", model="minilm-en")
    app.multiselect(key="metadata").set_value(["topic"])
    whole(app.run())
    part(app, "Input and head")
    data = shipped("reviews")
    topics = sorted({example.extra["topic"] for example in data.train.examples})
    first = data.dev.examples[0].extra["topic"]
    said = text_of(app)
    assert re.search(rf"\b{topics.index(first) + 1}\b.*\b{len(topics) + 1}\b", said)  # its vector, of how many
    assert f"{len(topics) + 1} × 384 + 2 × 384 + 2" in said
    part(app, "Train it")
    app.segmented_control(key="metadata-as").set_value("token")
    whole(app.run())
    part(app, "Input and head")
    assert f"[TOPIC={first}]".upper() in html_of(app) and f"{len(topics)} × 384 + 2 × 384 + 2" in text_of(app)


def test_values_that_would_be_one_token_are_named_on_the_page(runs_folder, monkeypatch):
    from minibert.tasks import Example
    from ui import task_data

    data = shipped("reviews")
    examples = [
        Example(one.text, one.label, {"place": name}) for one in data.train.examples[:40] for name in ("Hotel", "hotel")
    ]
    monkeypatch.setattr(task_data, "shipped", lambda name: replace(data, train=replace(data.train, examples=examples)))
    app = open_page(data="reviews")
    app.multiselect(key="metadata").set_value(["place"])
    assert not whole(app.run()).warning
    app.segmented_control(key="metadata-as").set_value("token")
    assert "[PLACE=HOTEL]" in driver.plain(whole(app.run()).warning[0].value)


@pytest.mark.parametrize("text", [EVERYTHING, ""], ids=["everything", "nothing"])
def test_any_text_is_text(app, text):
    app.text_input(key="mine-text").set_value(text)
    assert_no_markup(whole(app.run()))
    assert not text or drawn(app)["rows"]


def test_a_file_of_ones_own(runs_folder):
    app = open_page(data="own")
    assert app.info
    app.file_uploader(key="file").set_value([("mine.tsv", b"sentence\nx\ny\n", "text/plain")])
    assert whole(app.run()).error
    rows = "".join(f"good {i}\tyes\nbad {i}\tno\n" for i in range(10)) + "lonely\n"
    app.file_uploader(key="file").set_value([("mine.tsv", ("text\tlabel\n" + rows).encode(), "text/plain")])
    whole(app.run())
    assert not app.button(key="train").disabled
    pairs = (ROOT / "lessons/data/pairs/train.tsv").read_bytes()
    app.file_uploader(key="file").set_value([("pairs.tsv", pairs, "text/plain")])
    whole(app.run())
    assert link(app, "task") == "pair"


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
    assert not figure(open_page(task=task.name, data=name, tab="Train it"), "comparison")  # another visitor


@pytest.mark.release
@pytest.mark.trains
def test_a_click_trains_from_both_starts_and_the_model_answers_and_is_taken_along(runs_folder, monkeypatch):
    from minibert.finetune.predictor import Predictor
    from ui import task_data
    from ui.runs import manager

    def few(name):
        data = shipped(name)
        return replace(data, train=data.train.take(range(0, 48)), dev=data.dev.take(range(0, 12)))

    monkeypatch.setattr(task_data, "shipped", few)
    app = open_page(data="reviews", owner=ME)
    app.multiselect(key="metadata").set_value(["topic"])
    app.slider(key="epochs").set_value(1)
    app.slider(key="seeds").set_value(1)
    whole(app.run())
    before = set(manager().runs())
    app.button(key="train").click()
    whole(app.run())
    runs = [run for run in manager().runs() if run not in before]
    until(lambda: all(run.over for run in runs))
    assert [run.state for run in runs] == ["finished"] * 2, [run.error for run in runs]
    assert {run.latest("started")["settings"]["from_scratch"] for run in runs} == {False, True}
    for run in runs:
        measured = run.latest("eval")
        assert len(measured["details"]["predictions"]) == 12
        assert run.latest("done")["metrics"]["accuracy"] == measured["metrics"]["accuracy"]
        (answer,) = run.latest("sample")["answers"]
        assert "error" not in answer
    app.text_input(key="mine-text").set_value("A dull evening, badly played.")
    whole(app.run())
    assert figure(app, "answers")
    beside = app.selectbox(key="choice-mine-column-topic")
    assert beside.value == len(beside.options) - 1  # our own text has no topic
    beside.set_value(0)
    whole(app.run())
    app = part(app, "Right and wrong")
    assert any("A dull evening, badly played." in block.value for block in app.code)  # the command that asks it
    inspected = next(run for run in runs if run.id == app.selectbox(key="inspected").value)
    assert Predictor.from_directory(inspected.result).labels == ["negative", "positive"]


def test_how_long_the_texts_are_is_drawn_beside_the_data(app):
    app = open_page(task="classification", data="verdicts", tab="Data")
    assert re.findall(r"\d+", title_of(app, "share-within")) == ["0", "32"]
