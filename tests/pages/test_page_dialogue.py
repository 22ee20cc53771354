"""The page on dialogue: what is answered is the shipped DIET's, the way through it adds up, runs are drawn."""

import pytest

from minibert.diet.predictor import DietPredictor, ranked_intents
from tests.pages.driver import ROOT, figure, html_of, open_page, text_of, title_of, whole
from tests.pages.finished_runs import run_here

PARTS = ("How it works", "Train", "The claim", "The code")


@pytest.fixture(scope="module")
def shipped():
    return DietPredictor.from_directory(ROOT / "checkpoints" / "diet-intents")


def test_the_answer_is_the_models(shipped):
    text = "play some jazz tomorrow"
    (answer,) = shipped.predict([text])
    app = open_page("dialogue", text=text, part=PARTS[3])
    names, probs = zip(*ranked_intents(answer), strict=True)
    assert figure(app, "intents")["data"][0]["x"] == pytest.approx(list(probs))
    assert names[0] in title_of(app, "intents")
    assert all(f"<small>{entity['type']}</small>" in html_of(app) for entity in answer["entities"])
    assert not app.warning
    app = open_page("dialogue", text="这家店的面真难吃")  # what it cannot read is said
    assert any("[UNK]" in one.value and "8" in one.value for one in app.warning)


def test_the_way_through_it(shipped):
    text = "wake me at seventyish on Monday"
    (answer,) = shipped.predict([text])
    app = open_page("dialogue", text=text, part=PARTS[0], word=4)
    drawn = figure(app, "tag-path")
    rows = drawn["layout"]["yaxis"]["ticktext"]
    assert [rows[y] for y in drawn["data"][1]["y"]] == answer["tags"]
    shares = figure(app, "diet-attention")["data"][0]["z"]
    assert all(sum(row) == pytest.approx(1, abs=1e-4) for row in shares)
    assert "seventyish" in text_of(app)
    app.toggle(key="steps").set_value(True).run()
    assert not app.exception and figure(app, "tag-steps") is not None


@pytest.mark.parametrize("text", ["", "…", "a " * 120])
def test_what_is_no_request(text):
    app = open_page("dialogue", text=text, part=PARTS[0])
    assert bool(app.info) == (not any(map(str.isalnum, text)))


@pytest.mark.trains
@pytest.mark.release
def test_what_is_asked_for_learns_and_is_drawn(asked_for, tmp_path):
    query = {"part": PARTS[1], "who": "sparse", "data": "intents"}
    app = open_page("dialogue", owner="me", **query)
    app.slider(key="diet-epochs").set_value(10).run()
    whole(app.button(key="train-diet").click().run())
    (call,) = asked_for
    run_here(call, tmp_path / "out", owner="me", epochs=1)
    assert figure(open_page("dialogue", owner="me", **query), "over-seconds-entity_f1")
