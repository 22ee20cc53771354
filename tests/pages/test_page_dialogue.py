"""The page on dialogue: what is answered is the shipped DIET's, the way through it adds up, runs are drawn."""

import pytest

from minibert.diet.predictor import DietPredictor, ranking
from tests.hostile import HOSTILE
from tests.pages.driver import ROOT, assert_no_markup, figure, html_of, open_page, text_of, title_of

PARTS = ("How it works", "Train", "The claim", "The code")


@pytest.fixture(scope="module")
def shipped():
    return DietPredictor.from_directory(ROOT / "checkpoints" / "diet-intents")


def test_the_answer_is_the_models(shipped):
    text = "play some jazz tomorrow"
    (answer,) = shipped.predict([text])
    app = open_page("dialogue", text=text, part=PARTS[3])
    names, probs = zip(*ranking(answer), strict=True)
    assert figure(app, "intents")["data"][0]["x"] == pytest.approx(list(probs))
    assert names[0] in title_of(app, "intents")
    assert all(f"<small>{entity['type']}</small>" in html_of(app) for entity in answer["entities"])


def test_the_way_through_it(shipped):
    text = "wake me at seventyish on Monday"
    (answer,) = shipped.predict([text])
    app = open_page("dialogue", text=text, part=PARTS[0], word=4)
    drawn = figure(app, "tag-path")
    rows = drawn["layout"]["yaxis"]["ticktext"]
    assert [rows[y] for y in drawn["data"][1]["y"]] == answer["tags"]
    shares = figure(app, "diet-attention")["data"][0]["z"]
    assert all(sum(row) == pytest.approx(1, abs=1e-4) for row in shares)
    assert "“seventyish” was never seen" in text_of(app)
    app.toggle(key="steps").set_value(True).run()
    assert not app.exception and figure(app, "tag-steps") is not None


@pytest.mark.parametrize("text", ["", "…", "a " * 120])
def test_what_is_no_request(text):
    app = open_page("dialogue", text=text, part=PARTS[0])
    assert any("Say something" in info.value for info in app.info) == (not any(map(str.isalnum, text)))


@pytest.mark.slow
def test_text_is_never_markup():
    for text in HOSTILE.values():
        assert_no_markup(open_page("dialogue", text=text[:200], part=PARTS[0]))


def test_the_recorded_claim():
    app = open_page("dialogue", part=PARTS[2])
    assert "highest is" in title_of(app, "scores-claim") and "Six times faster" in text_of(app)
    assert "OUTCOME" not in text_of(app)


def test_without_records_it_says_how_to_make_them(monkeypatch, tmp_path):
    monkeypatch.setenv("MINIBERT_RESULTS", str(tmp_path))
    assert "No results of this experiment" in text_of(open_page("dialogue", part=PARTS[2]))


@pytest.mark.slow
def test_a_run_is_begun_and_drawn():
    app = open_page("dialogue", part=PARTS[1], who="sparse", data="intents")
    app.slider(key="diet-epochs").set_value(10).run()
    app.button(key="train-diet").click().run()
    assert not app.exception
    from sections.dialogue.subject import PREFIX
    from ui.runs import manager

    (run,) = [one for one in manager().runs() if one.kind.startswith(f"{PREFIX}-learn")]
    run.wait(timeout=120)
    assert run.error is None and run.state == "finished"
    app.run()
    assert "DIET, letters and words alone" in title_of(app, "over-seconds-entity_f1")


def test_what_it_cannot_read_is_said():
    app = open_page("dialogue", text="这家店的面真难吃")
    assert "of these 8 tokens are [UNK]" in " ".join(one.value for one in app.warning) and not app.exception
    assert not open_page("dialogue", text="wake me at seven").warning
