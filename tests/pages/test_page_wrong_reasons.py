"""Does it understand: the page against the events of its runs, the counts of its data, and minibert's edits."""

from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from minibert.inside.checklist import check
from minibert.inside.spurious_cues import CONDITIONS, cue_words, overlap_pairs, together, with_aside
from minibert.tasks import TASKS
from tests.hostile import HOSTILE, texts_in_turn
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, figure, html_of, link, plain, text_of, title_of, whole
from tests.pages.finished_runs import finished_run, spelling_predictor
from tests.pages.recorded import write_records
from ui.classifiers import EVERYONE, RECIPES
from ui.lesson import Lesson, load_quiz

LESSON = Lesson("wrong_reasons")
REVIEWS = ROOT / "lessons" / "data" / "reviews"
open_page = partial(driver.open_page, "wrong_reasons")
PLANT, LOOKS, FAMOUS, DATA, RULES, ADVICE = (
    "Plant a cue", "What it looks at", "Two famous cases", "Cues in real data", "A checklist", "What to do about it",
)  # fmt: skip


@pytest.fixture(scope="module")
def predictor():
    return spelling_predictor("classification", ["negative", "positive"])


@pytest.fixture(scope="module")
def trained(runs_folder, predictor, tmp_path_factory):
    from ui.runs import manager

    dev = TASKS["classification"].read(REVIEWS / "dev.tsv").examples
    folder = tmp_path_factory.mktemp("models")
    finished_run(manager(), folder, predictor, dev, kind=RECIPES[0].kind, owner=EVERYONE)


def open_as(owner: str, **query) -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages" / "wrong_reasons.py"), default_timeout=240)
    app.session_state["_owner"] = owner
    for key, value in query.items():
        app.query_params[key] = value
    return whole(app.run())


def test_before_any_run_it_says_what_to_do(runs_folder):
    app = open_page(checkpoint="mini-en")
    assert any("Train the models in the first part" in box.value for box in open_page(part=LOOKS).info)
    assert app.button(key="train").label == "Train 2 models"
    app.slider(key="seeds").set_value(3)
    assert whole(app.run()).button(key="train").label == "Train 6 models"


@pytest.mark.parametrize(("shown", "shares"), [("planted", (0, 100)), ("balanced", (49, 49)), ("flipped", (100, 0))])
def test_the_sets_are_what_their_names_say(runs_folder, shown, shares):
    app = open_page(set=shown)
    assert "With the cue: negative **{}%**, positive **{}%**.".format(*shares) in text_of(app)
    shares = (50, 50) if shown == "balanced" else reversed(shares)
    app = open_page(set=shown, cue="overlap")
    assert "With the cue: entailment **{}%**, non-entailment **{}%**.".format(*shares) in text_of(app)


def cues(path, planted=(0.99, 0.49, 0.01), **more):
    """Records of the planted cue "not"."""
    metrics = dict(zip(CONDITIONS, planted, strict=True))
    write_records(
        path / "mini-en",
        "cues",
        [
            {"experiment": "cues", "arm": "not/planted", "seed": 0, "metrics": metrics},
            {"experiment": "cues", "arm": "not/balanced", "seed": 0, "metrics": dict.fromkeys(CONDITIONS, 0.6)},
            *[{"experiment": "cues", "arm": arm, "seed": 0, "metrics": values} for arm, values in more.items()],
        ],
    )


def test_the_page_opens_with_what_was_recorded_once_the_reader_has_guessed(runs_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIBERT_RESULTS", str(tmp_path))
    cues(tmp_path)
    app = open_page()
    assert "99% → 49%" in title_of(app, "finals") and "1%" not in title_of(app, "finals")
    app.button(key="flip-guess-0").click()
    assert "99% → 49% → 1%" in title_of(whole(app.run()), "finals")
    assert "You guessed nearly always; it is **hardly ever**" in text_of(app)


def test_what_is_not_recorded_names_its_command(runs_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIBERT_RESULTS", str(tmp_path))
    commands = [block.value for block in open_page(part=FAMOUS).code]
    assert len(commands) == 2 and all(
        "minibert.experiments.cues --model checkpoints/mini-en" in one for one in commands
    )
    assert "No run yet" in text_of(open_page())
    hans = [{"heuristic": "constituent", "label": label, "n": 60, "accuracy": share} for label, share in
            (("entailment", 0.9), ("non-entailment", 0.05))]  # fmt: skip
    cues(tmp_path, **{"overlap/planted": {"hans": hans}, "arct/original": {"original": 0.61, "adversarial": 0.5}})
    app = open_page(part=FAMOUS)
    assert not app.code and "**61%**, on the second version **50%**" in text_of(app)
    table = next(table.value for table in app.table if "does not follow" in table.value)
    assert list(table["right where it does not"])[-1] == "5%"


def test_accuracies_are_those_of_the_runs(runs_folder, predictor, tmp_path):
    from ui.runs import manager

    dev = TASKS["classification"].read(REVIEWS / "dev.tsv")
    tests = together(*(with_aside(dev, name, seed=1) for name in CONDITIONS)).examples
    for training in ("planted", "balanced"):
        finished_run(manager(), tmp_path, predictor, tests, kind=f"cues/not/1/{training}", owner="me")
    app = open_as("me", seeds="1")
    said = [answer["label"] for answer in predictor.predict([example.text for example in tests])]
    bars = {bar["name"]: bar["y"] for bar in figure(app, "finals")["data"] if bar["type"] == "bar"}
    for test, name in zip(CONDITIONS, ("cue as planted", "cue says nothing", "cue flipped"), strict=True):
        right = [a == e.label for a, e in zip(said, tests, strict=True) if e.extra["condition"] == test]
        assert bars[name] == pytest.approx([sum(right) / len(right)] * 2)
    others = figure(open_as("somebody else", seeds="1"), "finals")  # recorded ones
    assert next(bar["y"] for bar in others["data"]) != bars["cue as planted"]
    app = open_as("me", part=LOOKS)
    assert "Trained with the cue** says" in text_of(app)
    assert "the strongest word stands in the aside" in text_of(app)


def test_the_pairs_are_attributed_and_hans_is_measured(runs_folder, tmp_path):
    from ui.runs import manager

    tests = together(*(overlap_pairs(8, name, seed=1) for name in CONDITIONS)).examples
    model = spelling_predictor("pair", ["entailment", "non-entailment"])
    finished_run(manager(), tmp_path, model, tests, kind="cues/overlap/1/planted", owner="you")
    assert "flex-basis: 100%" in html_of(open_as("you", cue="overlap", part=LOOKS))
    app = open_as("you", cue="overlap", source="own")
    rows = "".join(
        f"{label}\tThe king saw the thief .\tThe thief saw the king .\tlexical_overlap\tx\n"
        for label in ("entailment", "non-entailment")
        for _ in range(6)
    )
    content = "gold_label\tsentence1\tsentence2\theuristic\tsubcase\n" + rows
    app.file_uploader(key="file").set_value(("hans.txt", content.encode(), "text/plain"))
    whole(app.run())
    table = next(table.value for table in app.table if "heuristic" in table.value)
    assert list(table["pairs"]) == [6, 6]
    shares = [int(share.rstrip("%")) for share in table["accuracy"]]
    assert sorted(shares) == [0, 100]  # the same pair every time: one label is right, the other wrong


def test_words_are_counted(runs_folder):
    app = open_page(source="planted")
    data = with_aside(TASKS["classification"].read(REVIEWS / "train.tsv"), "planted", seed=0)
    expected = cue_words(data)[0]
    table = next(table.value for table in app.table if "coverage" in table.value)
    first = table.iloc[0]
    assert (first["word"], first["coverage"]) == (expected.word, f"{expected.coverage:.1%}")
    assert first["word"] == "not"


ARCT = "#id\twarrant0\twarrant1\tcorrectLabelW0orW1\treason\tclaim\tdebateTitle\tdebateInfo\n"


def test_a_file_of_arct_is_counted(runs_folder):
    app = open_page(source="own")
    rows = "".join(f"{i}\tit is so\tit is not so\t{int(i < 15)}\tr\tc\tt\ti\n" for i in range(20))
    app.file_uploader(key="file").set_value(("train.tsv", (ARCT + rows).encode(), "text/plain"))
    whole(app.run())
    table = next(table.value for table in app.table if "coverage" in table.value)
    assert list(table.iloc[0])[:4] == ["not", "the choice that has it", "100.0%", "75.0%"]


@pytest.mark.parametrize(
    ("content", "why"), [(b"", "empty"), (b"caf\xe9\tx\n", "UTF-8"), (b'{"data": []}', "classes, pairs and choices")]
)
def test_an_unusable_file_is_refused_in_words(runs_folder, content, why):
    app = open_page(source="own")
    app.file_uploader(key="file").set_value(("mine.txt", content, "text/plain"))
    whole(app.run())
    assert any(why in plain(box.value) for box in app.error), [box.value for box in app.error]


def test_flips_are_miniberts(trained, predictor):
    app = open_page(part=RULES)
    plain_ones = [
        {"text": example.text}
        for example in TASKS["classification"].read(REVIEWS / "dev.tsv").examples
        if example.extra["kind"] == "plain"
    ]
    expected = [one for one in check(predictor, plain_ones) if one.texts]
    drawn = figure(app, "rates")
    assert [note["text"] for note in drawn["layout"]["annotations"]] == [
        f"{one.flips} of {len(one.texts)}" for one in expected
    ]
    app.get("button_group")
    assert link(open_page(rule="typo"), "rule") == "typo"


@texts_in_turn
def test_own_sentences_are_text(trained, names):
    app = open_page(texts="own")
    for name in names:
        app.text_area(key="lines").set_value(HOSTILE[name])
        assert_no_markup(whole(app.run()))


def test_every_section_is_on_the_page_and_the_quiz_is_sound(runs_folder):
    shown = "".join(text_of(open_page(part=part)) for part in (PLANT, LOOKS, FAMOUS, DATA, RULES, ADVICE))
    told = " ".join(shown.split())
    for name in LESSON.sections:
        if name != "A checklist":  # there is no classifier to check
            assert " ".join(LESSON.section(name)[1].split())[:60] in told, name
    assert len(load_quiz(ROOT / "lessons" / "wrong_reasons" / "quiz.toml")) >= 4
