"""The fine-tuning page: every task's data, input and head; runs, and what it says of them against their own events."""

import json
import re
import shlex
from dataclasses import replace
from functools import partial

import pytest

from minibert.tasks import TASKS
from tests.hostile import HOSTILE
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, figure, html_of, link, plain, text_of, title_of, whole
from tests.waiting import until
from ui.finetune_settings import PAPER
from ui.lesson import Lesson, load_quiz
from ui.task_data import FIRST, shipped, shipped_sets
from ui.tasks import VIEWS

LESSON = Lesson("output_layer")
open_page = partial(driver.open_page, "output_layer", told=["ahead"])


def test_recorded_runs_wait_for_a_guess(runs_folder):
    app = driver.open_page("output_layer")
    assert not title_of(app, "curves") and not [one for one in figure(app, "curves")["data"] if any(one["x"])]
    app.button(key="ahead-guess-0").click()
    assert title_of(whole(app.run()), "curves").startswith("Recorded")
    reached = [float(share) for share in re.findall(r"\d+\.\d+", title_of(app, "curves"))]
    ahead = reached[0] - reached[1]
    right = "it is not ahead" if ahead <= 0 else "by more than 20" if ahead > 20 else "by up to"
    assert f"**{right}" in text_of(app)


def test_where_recorded_runs_show_little_it_is_said_and_the_way_leads_to_where_they_show_much(runs_folder):
    from sections.output_layer.curves import LITTLE, leads

    known = leads("minilm-en")
    little = [name for name, (ahead, behind) in known.items() if ahead - behind <= LITTLE]
    best = next(iter(known))
    assert known[FIRST][0] - known[FIRST][1] > 0.3 and known[best][0] - known[best][1] > 0.3
    for name in (FIRST, *little[:1]):
        app = open_page(task=shipped_sets()[name].task, data=name, model="minilm-en")
        assert ("Pre-training shows most in" in text_of(app)) == (name in little)
    if little:
        app.button(key="see-it").click()
        whole(app.run())
        assert app.session_state["data"] == best and "Pre-training shows most in" not in text_of(app)


@pytest.mark.parametrize("name", [FIRST])
def test_what_shows_much_was_recorded_with_several_seeds(name):
    from sections.output_layer.curves import recorded_for

    seeds: dict[str, set[int]] = {}
    for record in recorded_for(shipped(name), "minilm-en"):
        seeds.setdefault(record["arm"], set()).add(record["seed"])
    assert set(seeds) == {"minilm-en", "random"} and all(len(found) >= 3 for found in seeds.values())


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
def quick(monkeypatch):
    """Runs of one epoch over a few of the shipped examples."""
    from ui import task_data

    def few(name):
        data = shipped(name)
        return replace(data, train=data.train.take(range(0, 48)), dev=data.dev.take(range(0, 12)))

    monkeypatch.setattr(task_data, "shipped", few)


def train(app):
    """The runs of a click on Train, when all are over, and the page after that."""
    from ui.runs import manager

    before = set(manager().runs())
    app.slider(key="epochs").set_value(1)
    whole(app.run())
    app.button(key="train").click()
    whole(app.run())
    runs = [run for run in manager().runs() if run not in before]
    until(lambda: all(run.over for run in runs))
    assert [run.state for run in runs] == ["finished"] * len(runs), [run.error for run in runs]
    whole(app.run())
    return runs


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped_sets())
def test_every_set_has_its_data_its_input_and_its_head(runs_folder, name):
    data = shipped(name)
    app = open_page(task=data.task.name, data=name, tab="Data")
    text = text_of(app)
    assert f"{len(data.train.examples):,} examples to learn from, {len(data.dev.examples):,} to measure on" in text
    # A link that says which data but no model is older than the page's usual one.
    begins = "mini-zh" if name.endswith("-zh") else "minilm-en" if name == FIRST else "mini-en"
    assert app.selectbox(key="model").value == begins
    app = open_page(task=data.task.name, data=name, tab="Input and head")
    assert "new parameters" in text_of(app) and "mb-tokens" in html_of(app)
    app = open_page(task=data.task.name, data=name)
    assert "No run yet" in text_of(app) and not app.button(key="train").disabled


def test_the_new_parameters_are_those_of_the_model_that_is_trained(runs_folder):
    app = open_page(tab="Input and head")
    assert "2 × 384 + 2 = **770 new parameters**, beside 22,713,216" in text_of(app)
    app = open_page(task="intent", tab="Input and head")
    labels = TASKS["intent"].labels(shipped("intents").train)
    intents, tags = len(labels["intents"]), len(labels["tags"])
    assert f"**{257 * (intents + tags):,} new parameters**" in text_of(app)


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


def test_every_setting_reaches_the_run(app):
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
    whole(app.run())
    app.slider(key="copies").set_value(2)
    whole(app.run())
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ui.finetune_runs.submit", lambda *given, **named: seen.append(given[5]))
        app.button(key="train").click()
        whole(app.run())
    (settings,) = seen
    assert settings.layers == "last_four_sum" and settings.freeze == 2 and settings.pooling == "mean"
    assert settings.augmentation.method == "swap" and settings.augmentation.copies == 2
    assert settings.mlm_weight == 0.5 and settings.dropout_samples == 4 and not settings.bias_correction
    assert settings.averaging == 0.3
    assert not settings.from_scratch and settings.seed == 0
    assert Chosen(["pretrained"], 3).runs == 3


@pytest.mark.slow
def test_any_text_is_text(app):
    for text in HOSTILE.values():
        app.text_input(key="mine-text").set_value(text)
        assert_no_markup(whole(app.run()))
        assert not text.strip() or drawn(app)["rows"]


def test_a_file_of_ones_own(runs_folder):
    app = open_page(data="own")
    assert "Choose data first" in app.info[-1].value
    app.file_uploader(key="file").set_value([("mine.tsv", b"sentence\nx\ny\n", "text/plain")])
    whole(app.run())
    assert any("the header has no label column" in plain(box.value) for box in app.error)
    rows = "".join(f"good {i}\tyes\nbad {i}\tno\n" for i in range(10)) + "lonely\n"
    app.file_uploader(key="file").set_value([("mine.tsv", ("text\tlabel\n" + rows).encode(), "text/plain")])
    whole(app.run())
    assert not app.button(key="train").disabled
    pairs = (ROOT / "lessons/data/pairs/train.tsv").read_bytes()
    app.file_uploader(key="file").set_value([("pairs.tsv", pairs, "text/plain")])
    whole(app.run())
    assert link(app, "task") == "pair"


@pytest.mark.slow
def test_a_run_from_both_starts_is_shown_as_its_events_say(app, quick):
    runs = train(open_page())
    assert {run.title.split(" · ")[1] for run in runs} == {"from the checkpoint", "from random weights"}
    app = open_page()
    assert "No run yet" in text_of(app)  # another visitor


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["reviews", "similarity", "emotions", "entities-zh", "questions-or-none", "choices", "intents", "dialogues"],
)
def test_each_task_is_trained_answers_and_is_reviewed(runs_folder, quick, name):
    task = TASKS[shipped_sets()[name].task]
    app = open_page(task=task.name, data=name)
    runs = train(app)
    assert {run.kind.split("/")[1] for run in runs} == {task.name}
    for run in runs:
        measured = run.latest("eval")
        assert len(measured["details"]["predictions"]) == 12
        assert run.latest("done")["metrics"][task.metric] == measured["metrics"][task.metric]
        (answer,) = run.latest("sample")["answers"]
        assert "error" not in answer
    assert figure(app, "curves") and figure(app, "comparison")
    assert drawn(app)["trained"] and "?" not in drawn(app)["answer"]["words"]
    app = part(app, "Right and wrong")
    first = next(run for run in runs if run.id == app.selectbox(key="inspected").value)
    shown = {one.label: one.value for one in app.metric}
    metrics = first.latest("eval")["metrics"]
    assert set(shown) == {metric.replace("_", " ") for metric in metrics if metric != "loss"}
    commands = [block.value for block in app.code]
    assert any("python -m minibert serve --model my-model" in command for command in commands)
    asked = shlex.split(next(command for command in commands if command.startswith("curl")))
    from jsonschema import validate

    (given,) = json.loads(asked[-1])["inputs"]
    validate(given, task.input_schema(1_000))


@pytest.mark.slow
def test_a_finished_model_answers_a_new_text(runs_folder, quick):
    app = open_page()
    train(app)
    app.text_input(key="mine-text").set_value("A dull evening, badly played.")
    whole(app.run())
    assert figure(app, "answers")
    app = part(app, "Right and wrong")
    assert any("A dull evening, badly played." in block.value for block in app.code)  # the command that asks it
    from minibert.finetune.predictor import Predictor
    from ui.runs import manager

    inspected = next(run for run in manager().runs() if run.id == app.selectbox(key="inspected").value)
    predictor = Predictor.from_directory(inspected.result)
    assert predictor.labels == ["animal", "thing"]


OTHERS_WORDS = {"tagging": ("review",), "similarity": ("review", "story"), "span": ("review", "sentiment")}


@pytest.mark.parametrize("task", OTHERS_WORDS)
def test_no_task_is_told_about_another_one_s_data(runs_folder, task):
    text = "".join(text_of(open_page(task=task, tab=tab)) for tab in ("Train it", "Input and head", "Right and wrong"))
    assert VIEWS[task].section and not [word for word in OTHERS_WORDS[task] if word in text.lower()]


def test_every_section_is_somewhere_on_the_page_and_the_quiz_is_sound(app):
    shown = "".join(text_of(open_page(task=task, tab="Input and head")) for task in TASKS)
    shown += text_of(app) + text_of(open_page(tab="Right and wrong")) + text_of(open_page(tab="Data"))
    after_a_run = {"From file to service", "The kinds of our reviews"}
    assert all(f"## {section}\n" in shown for section in LESSON.sections if section not in after_a_run)
    assert len(load_quiz(ROOT / "lessons" / "output_layer" / "quiz.toml")) >= 8


@pytest.mark.slow
def test_a_column_beside_the_text_is_in_the_input_in_the_head_and_in_the_answer(runs_folder, quick):
    app = open_page(data="reviews", model="minilm-en")
    app.multiselect(key="metadata").set_value(["topic"])
    whole(app.run())
    part(app, "Input and head")
    topics = sorted({example.extra["topic"] for example in task_data_of("reviews").train.examples})
    first = task_data_of("reviews").dev.examples[0]
    number = topics.index(first.extra["topic"]) + 1
    assert f"vector number {number} of a table of {len(topics) + 1}" in text_of(app)
    assert f"{len(topics) + 1} × 384 + 2 × 384 + 2" in text_of(app)
    part(app, "Train it")
    app.segmented_control(key="metadata-as").set_value("token")
    whole(app.run())
    part(app, "Input and head")
    assert f"[TOPIC={first.extra['topic']}]".upper() in html_of(app)
    assert f"{len(topics)} × 384 + 2 × 384 + 2" in text_of(app)
    part(app, "Train it")
    app.segmented_control(key="metadata-as").set_value("embedding")
    whole(app.run())
    train(app)
    beside = app.selectbox(key="choice-mine-column-topic")
    assert beside.options == [*topics, "not given"] and beside.value == len(topics)  # our own text has no topic
    assert "Read beside the text: topic = nothing that training has seen" in captions(app)
    app.selectbox(key="choice-mine-column-topic").set_value(0)
    whole(app.run())
    assert f"Read beside the text: topic = {topics[0]}" in captions(app)


def test_values_that_would_be_one_token_are_named_on_the_page(runs_folder, monkeypatch):
    from minibert.tasks import Example
    from ui import task_data

    data = shipped("reviews")
    examples = [Example(one.text, one.label, {"place": name}) for one in data.train.examples[:40]
                for name in ("Hotel", "hotel")]  # fmt: skip
    monkeypatch.setattr(task_data, "shipped", lambda name: replace(data, train=replace(data.train, examples=examples)))
    app = open_page(data="reviews")
    app.multiselect(key="metadata").set_value(["place"])
    whole(app.run())
    app.segmented_control(key="metadata-as").set_value("token")
    whole(app.run())
    assert any("would both be the token [PLACE=HOTEL]" in plain(box.value) for box in app.warning)


def captions(app):
    return plain("\n".join(block.value for block in app.caption))


def task_data_of(name):
    from ui import task_data

    return task_data.shipped(name)


@pytest.mark.slow
def test_each_of_two_texts_can_have_its_share(runs_folder, quick):
    app = open_page(task="pair")
    app.select_slider(key="max-length").set_value(16)
    app.selectbox(key="truncation").set_value("budget")
    whole(app.run())
    app.slider(key="first-share").set_value(30)
    whole(app.run())
    settings = [run.latest("started")["settings"] for run in train(app)]
    assert settings and all(one["truncation"] == "budget" and list(one["budgets"]) == [3, 10] for one in settings)
    # Another task of one text has no such choice, and is read as before.
    app.button_group(key="task").set_value("classification")
    assert whole(app.run()).selectbox(key="truncation").value == "longest_first"


def test_what_stands_beside_is_read_and_learned(app):
    """Three texts with a budget each, a mark learned beside, another loss and more layers: the settings of a run."""
    app = open_page(task="classification", data="verdicts")
    app.multiselect(key="texts-beside").set_value(["title", "reply"])
    app.multiselect(key="beside").set_value(["place"])
    app.select_slider(key="max-length").set_value(32)
    app.slider(key="depth").set_value(2)
    app.selectbox(key="loss").set_value("focal")
    whole(app.run())
    app.selectbox(key="truncation").set_value("budget")
    whole(app.run())
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ui.finetune_runs.submit", lambda *given, **named: seen.append(given[5]))
        app.button(key="train").click()
        whole(app.run())
    settings = seen[0]
    assert settings.texts_beside == ("title", "reply") and settings.budgets == (14, 7, 7)
    assert settings.auxiliary == ("place",) and settings.auxiliary_weight == 0.5
    assert settings.classifier_depth == 2 and settings.loss == "focal" and settings.focal_gamma == 2.0


def test_how_long_the_texts_are_is_drawn_beside_the_data(app):
    app = open_page(task="classification", data="verdicts", tab="Data")
    assert title_of(app, "share-within") == "0% of the texts fit into 32 tokens"
