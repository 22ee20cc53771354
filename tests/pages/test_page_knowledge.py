"""The page on knowledge: the tree on the screen, the matrix, and answers that are the model's."""

import re
import tomllib

import pytest
import torch

from minibert import checkpoint
from minibert.experiments.relative_catalogue import REQUIRED
from minibert.experiments.results import by_arm, paired_difference, read_records, verdict
from minibert.inside.right_names import names_in_text, suspicion
from minibert.knowledge import Fact, KnowledgeBase, mentions, read, sentence_tree
from minibert.toy import lexicon
from minibert.toy.entities_task import EntitySettings, train_entities
from minibert.toy.names_task import NamesSettings, train_names
from minibert.toy.roles_task import RolesSettings, train_roles
from sections.knowledge import right_name, roles
from tests.pages.driver import ROOT, figure, html_of, open_page, text_of, title_of, whole
from tests.pages.finished_runs import ended
from ui.claim import verdict_words
from ui.lesson import LESSONS
from ui.text import visible

TEXT, FACT = "The Seine flows through the city of [MASK].", "Seine | flows through | Berlin"


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
    assert html_of(app).count('class="branch"') == 1


def test_the_matrix_is_the_trees_and_its_row_is_said(minilm):
    tree = tree_with(minilm[1], TEXT, Fact("Seine", "flows through", "Berlin"))
    app = open_page("knowledge", model="minilm-en", token=4)  # the first of the branch, from 1
    drawn = figure(app, "visible")
    marks = {(y, x) for trace in drawn["data"] for x, y in zip(trace["x"], trace["y"], strict=True)}
    assert marks == {tuple(pair) for pair in tree.visible().nonzero().tolist()}
    assert tree.tokens[3] == "flows" and re.findall(r"\d+", title_of(app, "visible")) == ["4", "14"]


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
    assert 'class="branch"' not in html_of(app)
    for line in ("Seine", "Seine | flows", "| |"):
        assert 'class="branch"' not in html_of(open_page("knowledge", model="minilm-en", fact=line))


def test_the_lessons_own_facts_in_both_languages():
    app = open_page("knowledge", model="minilm-en", base="on", text="Mozart was a [MASK].", fact="x")
    assert html_of(app).count('class="branch"') == 2
    app = open_page("knowledge", model="mini-zh", base="on", text="李白是唐朝的[MASK]人。", fact="x")
    assert 'class="branch"' in html_of(app) and ("李", 2) in boxes(app)


def test_noise_without_the_matrix_is_more_than_with_it():
    bars = figure(open_page("knowledge", model="mini-en", part="Knowledge noise"), "noise")["data"]
    assert len(bars[0]["x"]) == 5 and bars[1]["x"][0] == pytest.approx(0, abs=1e-6)


# --- WKLM, SemBERT, ERNIE ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wklm():
    folder = ROOT / "checkpoints" / "wklm-toy" / "wklm"
    return checkpoint.load(folder).eval(), checkpoint.load_tokenizer(folder)


def test_each_name_stands_over_the_models_own_doubt(runs_folder, wklm):
    model, tokenizer = wklm
    text = "anna and ben were good friends. later anna gave the ball to ben. now anna has it."
    encoding = tokenizer.encode(text)
    names = names_in_text(encoding, tokenizer)
    doubts = suspicion(model, encoding.ids, names)
    app = open_page("knowledge", part="Right name?", named=text)
    for (start, end), doubt in zip(names, doubts, strict=True):
        spelled = " ".join(encoding.tokens[start:end])
        assert f"{spelled} {doubt:.0%}" in text_of(app)
    assert doubts[-1] > 0.5 > max(doubts[:-1])  # it was ben who got the ball
    bars = figure(app, "believed-names")["data"][0]
    assert bars["customdata"][0] == "ben" and list(bars["x"]) == sorted(bars["x"], reverse=True)


def test_without_a_name_it_says_what_it_looks_for(runs_folder):
    app = open_page("knowledge", part="Right name?", named="soon it was a good day.")
    assert app.info and not figure(app, "believed-names")


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
    from jobs.files import pack
    from jobs.run import Run
    from ui.runs import manager

    start = right_name.START if train is train_names else roles.START
    events = list(train(settings, start, watch=["soon anna gave the ball to ben."], out=tmp_path / "out"))
    files = pack(tmp_path / "out") if (tmp_path / "out").exists() else {}
    run = Run(manager(), manager().directory, kind, "mine", f"knowledge-{kind}", "x:y")
    ended(run, [event.as_dict() for event in events], files)
    app = open_page("knowledge", owner=kind, part=part)
    assert [list(line["x"]) for line in figure(app, key)["data"]] == [[0, 1]]


def test_roles_are_the_grammars_and_both_vectors_are_joined(runs_folder):
    app = open_page("knowledge", part="Roles", who="soon anna gave the ball to ben.", word=5)
    assert re.findall(r"<small>(.*?)</small>", html_of(app).split("mb-tokens")[-1]) == [
        "when", "who", "verb", "whom, what", "whom, what", "to whom, how", "to whom, how", "–"
    ]  # fmt: skip
    word, roles = figure(app, "joined")["data"]
    assert len(word["y"]) == 64 and len(roles["y"]) == 16 and "ball" in title_of(app, "joined")


def test_a_sentence_that_is_not_of_the_world_is_said_to_be_none(runs_folder):
    app = open_page("knowledge", part="Roles", who="anna saw a <b>wug</b>.")
    assert app.info and not figure(app, "joined")


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


def test_a_claim_is_what_was_recorded_with_a_verdict_on_each_direction(runs_folder):
    name = "wklm"
    paper = tomllib.loads((LESSONS / "knowledge" / "paper.toml").read_text(encoding="utf-8"))[name]
    records = read_records(LESSONS / "results" / f"{name}.jsonl", REQUIRED)
    app = open_page("knowledge", part="The claim", claim=name)
    drawn, first = figure(app, f"claim-{name}")["data"], next(iter(paper["measures"]))
    by = by_arm(records, first)
    assert list(drawn[0]["x"]) == pytest.approx([100 * share for share in by[next(iter(paper["arms"]))].values()])
    lines = [line for line in text_of(app).splitlines() if re.match(r"\d+\. ", line)]
    for line, one in zip(lines, paper["direction"], strict=True):
        gap = paired_difference(*(
            {seed: 100 * value for seed, value in by_arm(records, one["metric"])[arm].items()}
            for arm in (one["arm"], one["base"])
        ))  # fmt: skip
        assert f"{gap.mean:+.1f}".replace("-", "−") in line
        assert f"**{verdict_words()[verdict(gap, one.get('sign'))]}**" in line
