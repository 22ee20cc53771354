"""Does it understand: the page against the events of its runs, the counts of its data, and minibert's edits."""

import re
from functools import partial

import pytest

from minibert.inside.predictions.checklist import check
from minibert.inside.predictions.spurious_cues import CONDITIONS, cue_words, overlap_pairs, together, with_aside
from minibert.tasks import TASKS
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, captions, figure, html_of, link, text_of, title_of, whole
from tests.pages.finished_runs import finished_run, spelling_predictor
from tests.pages.recorded import write_records
from ui.classifiers import EVERYONE, RECIPES

REVIEWS = ROOT / "lessons" / "data" / "reviews"
open_page = partial(driver.open_page, "wrong_reasons")
LOOKS, FAMOUS, REAL = "What it looks at", "Two famous cases", "Cues in real data"
RULES, ADVICE = "A checklist", "What to do about it"


def reviewer():
    return spelling_predictor("classification", ["negative", "positive"])


def reviews(part: str):
    return TASKS["classification"].read(REVIEWS / f"{part}.tsv")


def counted(app):
    return next(table.value for table in app.table if "coverage" in table.value)


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+%?", text))


def test_before_any_run_the_other_parts_open_and_a_click_asks_for_two_models_a_seed(runs_folder, asked_for):
    assert open_page(part=LOOKS).info and not open_page(part=ADVICE).error
    app = open_page(checkpoint="mini-en")
    app.slider(key="seeds").set_value(3)
    whole(whole(app.run()).button(key="train").click().run())
    assert [arguments[4].seed for _target, arguments, _options in asked_for] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(("shown", "shares"), [("planted", (0, 100)), ("balanced", (49, 49)), ("flipped", (100, 0))])
def test_the_sets_are_what_their_names_say(runs_folder, shown, shares):
    def told(app) -> list[tuple[str, str]]:
        return re.findall(r"\*\*(\d+)%\*\* of the texts that are ([\w-]+)", text_of(app))

    assert told(open_page(set=shown)) == [(str(shares[0]), "negative"), (str(shares[1]), "positive")]
    shares = (50, 50) if shown == "balanced" else shares[::-1]
    overlap = [(str(shares[0]), "entailment"), (str(shares[1]), "non-entailment")]
    assert told(open_page(set=shown, cue="overlap")) == overlap


def cues(path, planted=(0.99, 0.49, 0.01), **more):
    """Records of the planted cue "not"."""
    more |= {"not/planted": dict(zip(CONDITIONS, planted, strict=True)), "not/balanced": dict.fromkeys(CONDITIONS, 0.6)}
    records = [{"experiment": "cues", "arm": arm, "seed": 0, "metrics": metrics} for arm, metrics in more.items()]
    write_records(path / "mini-en", "cues", records)


def test_the_page_opens_with_what_was_recorded_once_the_reader_has_guessed(results):
    cues(results)
    app = open_page()
    assert numbers(title_of(app, "finals")) == {"99%", "49%"}
    app = whole(app.button(key="flip-guess-0").click().run())
    assert numbers(title_of(app, "finals")) == {"99%", "49%", "1%"}
    assert "**hardly ever**" in text_of(app)


def test_what_is_recorded_of_the_famous_cases_stands_in_place_of_its_command(results):
    assert len(open_page(part=FAMOUS).code) == 2
    hans = [
        {"heuristic": "constituent", "label": label, "n": 60, "accuracy": share}
        for label, share in (("entailment", 0.9), ("non-entailment", 0.05))
    ]
    cues(results, **{"overlap/planted": {"hans": hans}, "arct/original": {"original": 0.61, "adversarial": 0.5}})
    app = open_page(part=FAMOUS)
    assert not app.code and {"61%", "50%"} <= numbers(text_of(app))
    assert any({"90%", "5%"} <= set(map(str, table.value.iloc[-1])) for table in app.table)


def test_accuracies_are_those_of_the_runs(runs_folder, tmp_path):
    from ui.runs import manager

    predictor = reviewer()
    tests = together(*(with_aside(reviews("dev"), name, seed=1) for name in CONDITIONS)).examples
    for training in ("planted", "balanced"):
        finished_run(manager(), tmp_path, predictor, tests, kind=f"cues/not/1/{training}", owner="me")
    app = open_page(owner="me", seeds="1")
    said = [answer["label"] for answer in predictor.predict([example.text for example in tests])]
    bars = {bar["name"]: bar["y"] for bar in figure(app, "finals")["data"] if bar["type"] == "bar"}
    for test, name in zip(CONDITIONS, ("cue as planted", "cue says nothing", "cue flipped"), strict=True):
        right = [a == e.label for a, e in zip(said, tests, strict=True) if e.extra["condition"] == test]
        assert bars[name] == pytest.approx([sum(right) / len(right)] * 2)
    others = figure(open_page(owner="somebody else", seeds="1"), "finals")  # recorded ones
    assert next(bar["y"] for bar in others["data"]) != bars["cue as planted"]
    assert not open_page(owner="me", part=LOOKS).info


def test_the_pairs_are_attributed_and_hans_is_measured(runs_folder, tmp_path):
    from ui.runs import manager

    tests = together(*(overlap_pairs(8, name, seed=1) for name in CONDITIONS)).examples
    model = spelling_predictor("pair", ["entailment", "non-entailment"])
    finished_run(manager(), tmp_path, model, tests, kind="cues/overlap/1/planted", owner="you")
    assert "flex-basis: 100%" in html_of(open_page(owner="you", cue="overlap", part=LOOKS))
    app = open_page(owner="you", part=REAL, cue="overlap", source="own")
    rows = "".join(
        f"{label}\tThe king saw the thief .\tThe thief saw the king .\tlexical_overlap\tx\n"
        for label in ("entailment", "non-entailment")
        for _ in range(6)
    )
    content = "gold_label\tsentence1\tsentence2\theuristic\tsubcase\n" + rows
    whole(app.file_uploader(key="file").set_value(("hans.txt", content.encode(), "text/plain")).run())
    table = next(table.value for table in app.table if "heuristic" in table.value)
    assert list(table["pairs"]) == [6, 6]
    shares = [int(share.rstrip("%")) for share in table["accuracy"]]
    assert sorted(shares) == [0, 100]  # the same pair every time: one label is right, the other wrong


def test_words_of_ones_own_file_are_counted_or_it_is_refused(runs_folder):
    expected = cue_words(with_aside(reviews("train"), "planted", seed=0))[0]
    first = counted(open_page(part=REAL, source="planted")).iloc[0]
    assert (first["word"], first["coverage"]) == ("not", f"{expected.coverage:.1%}") and expected.word == "not"
    app = open_page(part=REAL, source="own")
    arct = "#id\twarrant0\twarrant1\tcorrectLabelW0orW1\treason\tclaim\tdebateTitle\tdebateInfo\n"
    arct += "".join(f"{i}\tit is so\tit is not so\t{int(i < 15)}\tr\tc\tt\ti\n" for i in range(20))
    whole(app.file_uploader(key="file").set_value(("train.tsv", arct.encode(), "text/plain")).run())
    assert list(counted(app).iloc[0])[:4] == ["not", "the choice that has it", "100.0%", "75.0%"]
    for content in (b"", b"caf\xe9\tx\n", b'{"data": []}'):  # empty, not UTF-8, of another task
        whole(app.file_uploader(key="file").set_value(("mine.txt", content, "text/plain")).run())
        assert app.error and not [table for table in app.table if "coverage" in table.value]


def test_flips_are_miniberts_and_own_sentences_are_text(runs_folder, tmp_path):
    from ui.runs import manager

    predictor, dev = reviewer(), reviews("dev").examples
    finished_run(manager(), tmp_path, predictor, dev, kind=RECIPES[0].kind, owner=EVERYONE)
    plain_ones = [{"text": example.text} for example in dev if example.extra["kind"] == "plain"]
    expected = [f"{one.flips} of {len(one.texts)}" for one in check(predictor, plain_ones) if one.texts]
    drawn = figure(open_page(part=RULES), "rates")
    assert [note["text"] for note in drawn["layout"]["annotations"]] == expected
    assert link(open_page(part=RULES, rule="typo"), "rule") == "typo"
    app = open_page(part=RULES, texts="own")
    for text in (EVERYTHING, ""):
        assert_no_markup(whole(app.text_area(key="lines").set_value(text).run()))
    whole(app.text_area(key="lines").set_value("It was good. ꙮ\n" * 61).run())
    assert re.search(r"\b60\b.*\[UNK\]", captions(app)) and "61" in captions(app)
