"""The page on knowledge: the tree on the screen, the matrix, and answers that are the model's."""

import re

import pytest
import torch

from minibert import checkpoint
from minibert.knowledge import Fact, KnowledgeBase, mentions, read, sentence_tree
from tests.hostile import HOSTILE
from tests.pages.driver import ROOT, assert_no_markup, figure, html_of, open_page, text_of, title_of
from ui.text import visible

TEXT, FACT = "The Seine flows through the city of [MASK].", "Seine | flows through | Berlin"
PARTS = ("Knowledge noise", "The code", "Three other ways")


@pytest.fixture(scope="module")
def minilm():
    folder = ROOT / "checkpoints" / "minilm-en"
    return checkpoint.load(folder), checkpoint.load_tokenizer(folder)


def tree_with(tokenizer, text: str, fact: Fact):
    encoding = tokenizer.encode(text)
    return sentence_tree(tokenizer, encoding, mentions(KnowledgeBase([fact]), encoding, text))


def boxes(app) -> list[tuple[str, int]]:
    found = re.findall(r'<span class="box"><bdi>(.*?)</bdi><small>(\d+)</small></span>', html_of(app))
    return [(token, int(number)) for token, number in found]


def test_the_tree_shows_every_token_at_its_soft_position(minilm):
    tree = tree_with(minilm[1], TEXT, Fact("Seine", "flows through", "Berlin"))
    app = open_page("knowledge", model="minilm-en")
    assert sorted(boxes(app)) == sorted(
        (visible(token), position + 1) for token, position in zip(tree.tokens, tree.positions, strict=True)
    )
    assert html_of(app).count('class="branch"') == 1 and "1 fact, 3 tokens more" in text_of(app)


def test_the_matrix_is_the_trees_and_its_row_is_said(minilm):
    tree = tree_with(minilm[1], TEXT, Fact("Seine", "flows through", "Berlin"))
    app = open_page("knowledge", model="minilm-en", token=4)  # the first of the branch, from 1
    drawn = figure(app, "visible")
    marks = {(y, x) for trace in drawn["data"] for x, y in zip(trace["x"], trace["y"], strict=True)}
    assert marks == {tuple(pair) for pair in tree.visible().nonzero().tolist()}
    assert tree.tokens[3] == "flows" and title_of(app, "visible") == "“flows” sees 4 of 14"


def test_the_answers_wait_for_a_guess_and_are_the_models(minilm):
    model, tokenizer = minilm
    app, waiting = open_page("knowledge", model="minilm-en"), open_page("knowledge")
    assert len(figure(waiting, "knowledge-answers")["data"]) == 1
    shown = figure(app, "knowledge-answers")["data"]
    tree = tree_with(tokenizer, TEXT, Fact("Seine", "flows through", "Berlin"))
    blank = tokenizer.encode(TEXT).tokens.index("[MASK]")
    for panel, (matrix, soft) in zip(shown[1:], ((True, True), (False, True), (False, False)), strict=True):
        with torch.no_grad():
            share = model.mlm(read(model.bert, tree, matrix=matrix, soft=soft)[blank]).softmax(-1)
        assert list(panel["x"]) == pytest.approx(share.topk(3).values.tolist(), abs=1e-5)
        assert list(panel["customdata"]) == [tokenizer.vocab[i] for i in share.topk(3).indices.tolist()]
    assert "berlin" in shown[-1]["customdata"] and "berlin" not in shown[1]["customdata"]


def test_a_fact_whose_subject_is_elsewhere_hangs_nowhere():
    app = open_page("knowledge", model="minilm-en", fact="Thames | flows through | London")
    assert "No fact is hung" in text_of(app) and 'class="branch"' not in html_of(app)
    for line in ("Seine", "Seine | flows", "| |", ""):
        assert "No fact is hung" in text_of(open_page("knowledge", model="minilm-en", fact=line))


def test_the_lessons_own_facts_in_both_languages():
    app = open_page("knowledge", model="minilm-en", base="on", text="Mozart was a [MASK].", fact="x")
    assert html_of(app).count('class="branch"') == 2
    app = open_page("knowledge", model="mini-zh", base="on", text="李白是唐朝的[MASK]人。", fact="x")
    assert 'class="branch"' in html_of(app) and ("李", 2) in boxes(app)


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_is_text(name):
    text = HOSTILE[name]
    app = open_page("knowledge", model="minilm-en", text=text, fact=f"{text} | {text} | {text}")
    assert_no_markup(app)


@pytest.mark.parametrize("part", PARTS)
def test_every_part_opens(part):
    app = open_page("knowledge", model="mini-en", part=part)
    if part == PARTS[0]:
        bars = figure(app, "noise")["data"]
        assert len(bars[0]["x"]) == 5 and bars[1]["x"][0] == pytest.approx(0, abs=1e-6)
    if part == PARTS[2]:
        said = [row for table in app.table for row in table.value.to_dict("records")]
        assert len(said) == 6
