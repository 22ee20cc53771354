"""The family tree's page: what a click chooses, what waits for a guess, and numbers that are the counter's and the
paper's."""

import itertools
import tomllib

import pytest

from minibert.inside.relatives.family import KINDS, family, line_of
from plots.family import FAINT
from sections.family.subject import FILE
from tests.pages.driver import figure, open_page, plain, text_of, title_of, whole
from ui.lesson import Lesson

MEMBERS = family(FILE)
NAMES = list(MEMBERS)
PARTS = ("All in one table", "Size and cost", "What it teaches", "The road to BERT")


def marks(app) -> dict:
    return figure(app, "family-tree")["data"][-1]


def test_every_model_stands_in_the_tree_and_the_kinds_of_change_wait_for_a_guess():
    app = open_page("family")
    mark = marks(app)
    assert [text.strip().removeprefix("<b>").removesuffix("</b>") for text in mark["text"]] == NAMES
    rows: dict[float, list[tuple[float, float]]] = {}
    for x, y, name in sorted(zip(mark["x"], mark["y"], NAMES, strict=True)):
        rows.setdefault(y, []).append((x, x + len(name) * 7 / (880 / (len(NAMES) + 9))))
    for ends in rows.values():  # no two names run into each other
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(ends))
    assert len(set(marks(app)["marker"]["symbol"])) == 1 and "**Changed:**" not in text_of(app)
    later = [one for one in MEMBERS.values() if "BERT" in line_of(MEMBERS, one.name)[:-1]]
    changed = sum("network" in one.changed for one in later)
    assert app.button(key="network-guess-0").label == str(changed) and str(len(later)) in text_of(app)
    app = whole(app.button(key="network-guess-0").click().run())
    assert len(set(marks(app)["marker"]["symbol"])) == len(KINDS)
    assert "**Changed:**" in text_of(app)


@pytest.mark.parametrize("name", ["BERT", "RoBERTa", "GPT-3", "MASS", "MobileBERT"])
def test_the_card_is_that_of_the_chosen_model(name):
    app, member = open_page("family", model=NAMES.index(name) + 1, kind="network"), MEMBERS[name]
    said = plain(text_of(app) + "\n".join(block.value for block in app.caption))
    assert member.what in said and " → ".join(line_of(MEMBERS, name)) in said
    assert all(f"{size.weights:,}" in said for size in member.sizes)
    counted = [size for size in member.sizes if size.counted]
    assert not counted or counted[0].formula.replace("·", "") in said.replace("·", "").replace("\\", "")
    full = {one for one, colour in zip(NAMES, marks(app)["marker"]["color"], strict=True) if colour != FAINT[0]}
    assert full == {one.name for one in MEMBERS.values() if "network" in one.changed}


def test_the_table_has_every_size_and_says_which_were_counted():
    every, some = (
        next(one.value for one in open_page("family", part=PARTS[0], **query).dataframe if "weights" in one.value)
        for query in ({}, {"kind": "knowledge"})
    )
    sizes = [size for member in MEMBERS.values() for size in member.sizes]
    assert list(every["weights"].dropna()) == [size.weights for size in sizes]
    assert every["counted"].sum() == sum(size.counted for size in sizes)
    assert set(some["model"]) == {one.name for one in MEMBERS.values() if "knowledge" in one.changed}


def test_the_cost_is_six_times_weights_times_tokens():
    app = open_page("family", part=PARTS[1])
    drawn = figure(app, "family-costs")["data"][-1]
    for name, x, y, work in zip(drawn["text"], drawn["x"], drawn["y"], drawn["customdata"], strict=True):
        member = MEMBERS[name]
        assert (x, y) == (member.tokens, member.sizes[-1].weights) and work == 6 * x * y
    least = {one.name: one for one in MEMBERS.values() if one.least_tokens}
    lower = [trace for trace in figure(app, "family-costs")["data"] if trace["mode"] == "lines+markers"]
    assert [trace["x"][0] for trace in lower] == [one.least_tokens for one in least.values()]
    assert "ELECTRA" in drawn["text"] and MEMBERS["BERT"].least_tokens == 1_000_000 * 256 * (0.9 * 128 + 0.1 * 512)
    bert, roberta = (drawn["customdata"][list(drawn["text"]).index(name)] for name in ("BERT", "RoBERTa"))
    assert f"{roberta / bert:.0f} times its work" in title_of(app, "family-costs")


def test_the_gains_are_the_papers_less_berts():
    app = open_page("family", part=PARTS[2])
    paper = tomllib.loads((Lesson("family").folder / "paper.toml").read_text(encoding="utf-8"))
    bars = figure(app, "family-gains")["data"][0]
    assert list(bars["x"]) == pytest.approx([one["mnli"] - paper["bert"] for one in paper["row"]])
    waiting = open_page("family")
    waiting.session_state["part"] = PARTS[2]
    waiting = whole(waiting.run())
    assert waiting.button(key="gained-guess-1").label and "family-gains" not in str(waiting.main)
