"""The page on knowledge: the tree on the screen, the matrix, and answers that are the model's."""

import re

import pytest
import torch

from minibert import checkpoint
from minibert.inside.relatives.name_probe import names_in_text, replaced_probabilities
from minibert.knowledge.sentence_tree import Fact, KnowledgeBase, mentions, read, sentence_tree
from minibert.toy import lexicon
from minibert.toy.entities_task import EntitySettings, train_entities
from minibert.toy.names_task import NamesSettings, train_names
from minibert.toy.roles_task import RolesSettings, train_roles
from sections.knowledge import right_name, roles
from tests.pages.driver import ROOT, figure, html_of, open_page, text_of, title_of, whole
from tests.pages.finished_runs import run_of
from ui.text import visible

TEXT = "The Seine flows through the city of [MASK]."


@pytest.fixture(scope="module")
def minilm():
    folder = ROOT / "checkpoints" / "minilm-en"
    return checkpoint.load(folder), checkpoint.load_tokenizer(folder)


def boxes(app) -> list[tuple[str, int]]:
    found = re.findall(r'<span class="box"><bdi>(.*?)</bdi><small>(\d+)</small></span>', html_of(app))
    return [(token, int(number)) for token, number in found]


def test_the_tree_and_the_matrix_stand_there_and_the_answers_after_a_guess_are_the_models(minilm):
    model, tokenizer = minilm
    encoding = tokenizer.encode(TEXT)
    base = KnowledgeBase([Fact("Seine", "flows through", "Berlin")])
    tree = sentence_tree(tokenizer, encoding, mentions(base, encoding, TEXT))
    app = open_page("knowledge", model="minilm-en", token=4, part="The code")  # the first of the branch, from 1
    assert sorted(boxes(app)) == sorted(
        (visible(token), position + 1) for token, position in zip(tree.tokens, tree.positions, strict=True)
    )
    assert html_of(app).count('class="branch"') == 1
    drawn = figure(app, "visible")
    marks = {(y, x) for trace in drawn["data"] for x, y in zip(trace["x"], trace["y"], strict=True)}
    assert marks == {tuple(pair) for pair in tree.visible().nonzero().tolist()}
    assert tree.tokens[3] == "flows" and re.findall(r"\d+", title_of(app, "visible")) == ["4", "14"]
    assert len(figure(open_page("knowledge"), "knowledge-answers")["data"]) == 1
    shown, blank = figure(app, "knowledge-answers")["data"], encoding.tokens.index("[MASK]")
    for panel, (matrix, soft) in zip(shown[1:], ((True, True), (False, True), (False, False)), strict=True):
        with torch.no_grad():
            share = model.mlm(read(model.bert, tree, matrix=matrix, soft=soft)[blank]).softmax(-1)
        assert list(panel["x"]) == pytest.approx(share.topk(3).values.tolist(), abs=1e-5)
        assert list(panel["customdata"]) == [tokenizer.vocab[i] for i in share.topk(3).indices.tolist()]
    assert "berlin" in shown[-1]["customdata"] and "berlin" not in shown[1]["customdata"]


def test_a_fact_whose_subject_is_elsewhere_hangs_nowhere():
    for line in ("Thames | flows through | London", "Seine | flows", "| |"):
        assert 'class="branch"' not in html_of(open_page("knowledge", model="minilm-en", fact=line, part="The code"))


def test_the_lessons_own_facts_in_both_languages():
    hung = {"base": "on", "fact": "x", "part": "The code"}
    app = open_page("knowledge", model="minilm-en", text="Mozart was a [MASK].", **hung)
    assert html_of(app).count('class="branch"') == 2
    app = open_page("knowledge", model="mini-zh", text="李白是唐朝的[MASK]人。", **hung)
    assert 'class="branch"' in html_of(app) and ("李", 2) in boxes(app)


def test_noise_without_the_matrix_is_more_than_with_it():
    bars = figure(open_page("knowledge", model="mini-en", part="Knowledge noise"), "noise")["data"]
    assert len(bars[0]["x"]) == 5 and bars[1]["x"][0] == pytest.approx(0, abs=1e-6)


# --- WKLM, SemBERT, ERNIE ---------------------------------------------------------------------------------------------


def test_each_name_stands_over_the_models_own_doubt(runs_folder):
    folder = ROOT / "checkpoints" / "wklm-toy" / "wklm"
    model, tokenizer = checkpoint.load(folder).eval(), checkpoint.load_tokenizer(folder)
    text = "anna and ben were good friends. later anna gave the ball to ben. now anna has it."
    encoding = tokenizer.encode(text)
    names = names_in_text(encoding, tokenizer)
    doubts = replaced_probabilities(model, encoding.ids, names)
    app = open_page("knowledge", part="Right name?", named=text)
    for (start, end), doubt in zip(names, doubts, strict=True):
        spelled = " ".join(encoding.tokens[start:end])
        assert f"{spelled} {doubt:.0%}" in text_of(app)
    assert doubts[-1] > 0.5 > max(doubts[:-1])  # it was ben who got the ball
    bars = figure(app, "believed-names")["data"][0]
    assert bars["customdata"][0] == "ben" and list(bars["x"]) == sorted(bars["x"], reverse=True)


def test_where_there_is_nothing_to_draw_it_says_so(runs_folder):
    app = open_page("knowledge", part="Right name?", named="soon it was a good day.")
    assert app.info and not figure(app, "believed-names")
    app = open_page("knowledge", part="Roles", who="anna saw a <b>wug</b>.")  # not of the world
    assert app.info and not figure(app, "joined")


@pytest.mark.parametrize(
    ("part", "kind", "arms"),
    [
        ("Right name?", "names", [NamesSettings(one, 50) for one in ("bert", "wklm", "names_too")]),
        ("Roles", "roles", [RolesSettings(50, roles) for roles in (True, False)]),
        ("Entities", "entities", [EntitySettings(50, told) for told in ("all", "nothing")]),
    ],
)
def test_each_arm_begins_with_its_settings(asked_for, part, kind, arms):
    app = open_page("knowledge", owner="else", part=part)
    app.slider(key=f"knowledge-{kind}-steps").set_value(50)
    whole(app.button(key=f"train-knowledge-{kind}").click().run())
    assert [arguments[0] for _, arguments, _ in asked_for] == arms
    assert len({options["kind"] for *_, options in asked_for}) == len(arms)


SMALL = {"batch_size": 2, "stories": 6, "held_out": 4, "evaluate_every": 1}


@pytest.mark.trains
@pytest.mark.parametrize(
    ("part", "kind", "key", "settings", "train"),
    [
        ("Roles", "roles/with", "roles-learned", RolesSettings(1, **SMALL), train_roles),
        ("Right name?", "names/wklm", "names-found", NamesSettings("wklm", 1, **SMALL), train_names),
        pytest.param(
            *("Entities", "entities/all", "entities-learned", EntitySettings(1, **SMALL), train_entities),
            marks=pytest.mark.release,
        ),
    ],
)
def test_what_is_learned_is_drawn(runs_folder, tmp_path, part, kind, key, settings, train):
    start, kept = (right_name.START, {"out": tmp_path / "out"}) if train is train_names else (roles.START, {})
    events = train(settings, start, probe_inputs=["soon anna gave the ball to ben."], **kept)
    run_of(events, f"knowledge-{kind}", owner=kind, folder=tmp_path / "out")
    app = open_page("knowledge", owner=kind, part=part)
    assert [list(line["x"]) for line in figure(app, key)["data"]] == [[0, 1]]


def test_roles_are_the_grammars_and_both_vectors_are_joined(runs_folder):
    app = open_page("knowledge", part="Roles", who="soon anna gave the ball to ben.", word=5)
    said = re.findall(r"<small>(.*?)</small>", html_of(app).split("mb-tokens")[-1])
    assert said == ["when", "who", "verb", *["whom, what"] * 2, *["to whom, how"] * 2, "–"]
    word, roles = figure(app, "joined")["data"]
    assert len(word["y"]) == 64 and len(roles["y"]) == 16 and "ball" in title_of(app, "joined")


def test_entities_stand_under_the_words_and_arrows_end_at_objects(runs_folder):
    app = open_page("knowledge", part="Entities", entities="after the climb, anna was tired.")
    assert ["3", "8"] in [re.findall(r"\d+", line)[:2] for line in text_of(app).splitlines()]
    app = open_page("knowledge", part="The graph", relation="is a")
    drawn = figure(app, "translations")
    subjects, objects = drawn["data"]
    place = dict(zip(objects["text"], zip(objects["x"], objects["y"], strict=True), strict=True))
    assert set(place) == {"girl", "boy"} and set(subjects["text"]) == {*lexicon.GIRLS, *lexicon.BOYS}
    ends = [(one["x"], one["y"]) for one in drawn["layout"]["annotations"] if one.get("showarrow")]
    for name, (x, y) in zip(subjects["text"], ends, strict=True):
        nearest = min(place, key=lambda kind: (x - place[kind][0]) ** 2 + (y - place[kind][1]) ** 2)
        assert nearest == ("girl" if name in lexicon.GIRLS else "boy")
