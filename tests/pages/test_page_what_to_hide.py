"""What to hide: six ways on one text, each against the functions that draw it; the tabs; two papers beside each
other."""

import json
import re

import pytest
import torch

from minibert import checkpoint
from minibert.ernie2 import REGIMES, stages
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.inside.hidden_text import KINDS, guessed, hide, names, read, vocabulary_of
from minibert.model import IGNORE, Batch
from minibert.objectives import objective_for
from minibert.toy.continual import TASKS, ContinualSettings, train_continually
from minibert.toy.hidden_spans import corrected, hidden_runs
from minibert.toy.hidden_spans import guessed as spans_guessed
from minibert.toy.pretrain import TOY, of_a_kind, questions
from minibert.toy.world import stories
from sections.what_to_hide.both import sides
from sections.what_to_hide.continual import tasks
from sections.what_to_hide.side_by_side import MOST, ways
from sections.what_to_hide.subject import RATE, SEED
from tests.hostile import HOSTILE
from tests.pages.driver import ROOT, assert_no_markup, figure, html_of, open_page, text_of, title_of, whole
from ui.lesson import Lesson, load_quiz
from ui.text import visible
from ui.train_both import Side, _settings

ENGLISH, CHINESE = "Charles unwrapped his present in New York.", "哈尔滨是黑龙江省的省会城市。"
PARTS = (
    "How hard", "Three words", "The diff", "Train both", "The claim", "Next sentence?", "One task after another",
    "What became of it",
)  # fmt: skip
TOYS = ROOT / "checkpoints" / "what-to-hide-toy"


@pytest.fixture(scope="module")
def models():
    """Language → model, tokenizer, what hiding knows of it."""
    found = {}
    for language in ("en", "zh"):
        folder = ROOT / "checkpoints" / f"mini-{language}"
        model, tokenizer = checkpoint.load(folder), checkpoint.load_tokenizer(folder)
        found[language] = model, tokenizer, vocabulary_of(model, tokenizer, language == "zh")
    return found


def rows_of(app) -> list[list[tuple[str, bool]]]:
    """Row → its tokens as they are read, and whether each is hidden."""
    rows = re.findall(r'<span class="way">.*?<ol aria-label="[^"]*">(.*?)</ol>', html_of(app), re.DOTALL)
    return [
        [
            (token, "hid" in css)
            for css, token in re.findall(r'<li class="([^"]*)".*?<span class="now"><bdi>(.*?)</bdi>', row)
        ]
        for row in rows
    ]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_opens(runs_folder, part):
    app = open_page("what_to_hide", owner="me", part=part)
    assert not app.error and len(rows_of(app)) == len(KINDS)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "language", "seed"), [(ENGLISH, "en", 1), (ENGLISH, "en", 7), (CHINESE, "zh", 3)])
def test_the_picture_is_what_the_functions_draw(runs_folder, models, text, language, seed):
    model, tokenizer, vocab = models[language]
    app = open_page("what_to_hide", text=text, seed=seed)
    reading = read(tokenizer, vocab, text, MOST + 2, language == "zh")
    drawn = [hide(reading, kind, vocab, RATE / 100, seed) for kind in KINDS]
    inside = [n for n, special in enumerate(reading.encoding.special) if not special]
    for row, (ids, labels) in zip(rows_of(app), drawn, strict=True):
        wanted = []
        for n in inside:
            hidden = labels[n] != IGNORE
            token = tokenizer.vocab[ids[n]]
            wanted.append(("?" if hidden and token == "[MASK]" else visible(token), hidden))
        assert [(token.replace("&#x27;", "'"), hidden) for token, hidden in row] == wanted
    found = guessed(model, drawn, tokenizer.pad_id)
    for kind, one in zip(KINDS, found, strict=True):
        assert f"{ways()[kind][0]} {one.right}/{len(one.places)}" in text_of(app)


def test_guesses_are_the_models_one_by_one(models):
    model, tokenizer, vocab = models["en"]
    reading = read(tokenizer, vocab, ENGLISH, 40, False)
    rows = [hide(reading, kind, vocab, 0.4, 5) for kind in KINDS]
    for (ids, labels), one in zip(rows, guessed(model, rows, tokenizer.pad_id), strict=True):
        with torch.no_grad():
            logits = model(Batch(torch.tensor([ids]))).mlm_logits[0]
        for place in one.places:
            assert one.asked[place] == labels[place] == reading.encoding.ids[place]
            token, share = one.said[place]
            assert token == logits[place].argmax() and share == pytest.approx(
                logits[place].softmax(-1).max().item(), abs=1e-4
            )


def test_units_of_both_languages(models):
    for language, text, wanted in (
        ("en", ENGLISH, {"word": ["unw ##ra ##pped"], "entity": ["new york"], "phrase": ["new york"]}),
        ("zh", CHINESE, {"word": ["哈 尔 滨", "省 会", "城 市"], "entity": ["哈 尔 滨"], "phrase": ["省 会 城 市"]}),
    ):
        _, tokenizer, vocab = models[language]
        reading = read(tokenizer, vocab, text, 40, language == "zh")
        for kind, units in wanted.items():
            said = [" ".join(reading.encoding.tokens[a:b]) for a, b in reading.units[kind] if b - a > 1]
            assert set(units) <= set(said), (kind, said)


def test_names_are_capitals_but_not_a_sentences_first_word():
    text = "Yesterday Ada Lovelace met Babbage. They read."
    assert [text[a:b] for a, b in names(text, False)] == ["Yesterday Ada Lovelace", "Babbage"]
    assert [ENGLISH[a:b] for a, b in names(ENGLISH, False)] == ["New York"]


def test_it_is_drawn_anew(runs_folder):
    app = open_page("what_to_hide")
    before = rows_of(app)
    app = whole(app.button(key="draw").click().run())
    assert app.number_input(key="seed").value == SEED + 1 and rows_of(app) != before


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_text(runs_folder, text):
    assert_no_markup(open_page("what_to_hide", text=text))


def test_how_hard_is_counted_over_many_draws(runs_folder, models):
    from sections.what_to_hide.hard import DRAWS

    model, tokenizer, vocab = models["en"]
    app = open_page("what_to_hide", part="How hard")
    bars = figure(app, "how-hard")["data"][0]
    reading = read(tokenizer, vocab, ENGLISH, 64, False)
    hidden = guessed(model, [hide(reading, "span", vocab, RATE / 100, seed) for seed in range(DRAWS)], tokenizer.pad_id)
    share = sum(one.right for one in hidden) / sum(len(one.places) for one in hidden)
    assert array(bars["x"])[list(bars["y"]).index("spans")] == pytest.approx(share)


def array(values):
    import numpy as np

    if isinstance(values, dict):
        import base64

        return np.frombuffer(base64.b64decode(values["bdata"]), np.dtype(values["dtype"]))
    return np.asarray(values, float)


@pytest.mark.parametrize("relative", ["roberta", "wwm", "ernie", "spanbert", "macbert"])
def test_the_diff_is_of_the_running_code(runs_folder, relative):
    app = open_page("what_to_hide", part="The diff", diff=relative)
    assert html_of(app).count('class="mb-source mb-diff"') >= 1 and not app.error


def test_the_two_papers_stand_side_by_side(runs_folder):
    app = open_page("what_to_hide", part="Next sentence?")
    tables = [table.value for table in app.table]
    assert "88.4" in tables[0].to_string() and "84.9" in tables[0].to_string()
    assert "90.4" in tables[1].to_string() and "65.6" in tables[1].to_string()
    bars = figure(app, "nsp-differences")["data"]
    assert [array(bar["x"]).round(2).tolist() for bar in bars] == [
        [-0.5, -3.5, -0.2, -0.1, -0.6],
        [0.0, 0.4, 0.7, -0.4, 0.6],
    ]
    assert title_of(app, "nsp-differences") == "Without it all 5 get worse in one table, 1 of 5 in the other"
    assert "CoNLL-2003 +" in text_of(app)  # what is recorded here


def test_three_words_are_the_models(runs_folder):
    model, tokenizer = checkpoint.load(TOYS / "spanbert"), checkpoint.load_tokenizer(TOYS / "spanbert")
    text = "nora lived near the museum with her sister lucy."
    app = open_page("what_to_hide", part="Three words", toy=text, first=5)
    ids = torch.tensor([tokenizer.encode(text).ids])
    labels = torch.full_like(ids, IGNORE)
    labels[0, 5:8] = ids[0, 5:8]
    ids[0, 5:8] = tokenizer.mask_id
    with torch.no_grad():
        out = model(Batch(ids, labels=labels))
    said = app.table[0].value.to_string()
    for logits in (out.mlm_logits, out.sbo_logits):
        for row in logits:
            assert f"{tokenizer.vocab[row.argmax()]} {row.softmax(-1).max():.0%}" in said
    assert "museum" in said


def test_short_texts_have_no_three_words(runs_folder):
    app = open_page("what_to_hide", part="Three words", toy="nora")
    assert any("Type three words" in box.value for box in app.info)


# --- measured on the toy world ---------------------------------------------------------------------------------------


def test_runs_are_three_words_of_a_sentence_and_something_outside_decides():
    tokenizer = checkpoint.load_tokenizer(TOYS / "bert")
    told = stories(12, 5, "small")
    runs = hidden_runs(told, tokenizer, 128, most=1_000)
    assert len(runs) > 100
    for ids, at in runs:
        assert tokenizer.ids["."] not in ids[at : at + 2]  # at most at the end
    model = checkpoint.load(TOYS / "spanbert")
    found = spans_guessed(model, runs[:60], tokenizer)
    assert set(found) == {"span", "span_whole", "span_boundary"} and found["span_whole"] <= found["span"]
    assert set(spans_guessed(checkpoint.load(TOYS / "bert"), runs[:60], tokenizer)) == {"span", "span_whole"}
    asked, rivals = questions(told, tokenizer, 128)[:50], of_a_kind(told, tokenizer)
    assert 0 <= corrected(model, asked, rivals, tokenizer.pad_id) <= 1


def test_every_side_is_what_its_title_says():
    for side in sides().values():
        settings = _settings(side, 40, 1, 15)
        objective = settings.objective
        assert objective_for(settings.config(), **dict(side.options or {})).name == objective.name
        assert settings.masking.rate == 0.15 and settings.preset == TOY.preset
    assert _settings(Side("BERT"), 40, 1, 15).objective.second == "nsp"
    arms = RELATIVE_EXPERIMENTS["what_to_hide"].arms
    assert next(iter(arms)) == "bert" and arms["spans"].options == {"boundary": False}


# --- the claim -------------------------------------------------------------------------------------------------------


def records(values: dict[str, dict[str, list[float]]]) -> list[dict]:
    machine = {"processor": "a processor", "torch": "2", "date": "2026-11-25"}
    scale = {"masked": 0.15, "train": 9, "test": 8}
    return [
        {
            "experiment": "what_to_hide", "arm": arm, "seed": seed, "pretraining": {}, "scale": scale, "steps": 7,
            "metrics": {metric: shares[seed] for metric, shares in metrics.items()}, "parameters": 1, "tokens": 99,
            "curve": [], "seconds": 3.0, "data": ["toy"], "machine": machine,
            "command": "python -m minibert experiment what_to_hide",
        }
        for arm, metrics in values.items()
        for seed in range(3)
    ]  # fmt: skip


def test_without_results_the_command_stands_there(results):
    app = open_page("what_to_hide", part="The claim")
    assert any("experiment what_to_hide --seeds 3" in block.value for block in app.code)


def test_each_claim_gets_its_verdict(results):
    low, high = [0.30, 0.31, 0.32], [0.50, 0.52, 0.51]
    names = ("span", "span_whole", "determined", "corrected", "who_is_meant")
    values = {
        "bert": dict(zip(names, (low, low, high, low, low), strict=True)),
        "spanbert": dict(zip(names, (high, low, high, low, low), strict=True)),
        "macbert": dict(zip(names, (low, low, low, high, [0.2, 0.3, 0.4]), strict=True)),
    }
    lines = (json.dumps(record) + "\n" for record in records(values))
    (results / "what_to_hide.jsonl").write_text("".join(lines))
    spans = text_of(open_page("what_to_hide", part="The claim", claim="spans"))
    assert re.search(r"SpanBERT: \+3\.9 in the paper, \+20\.0 ± .* – \*\*agrees\*\*", spans)
    assert "unclear" in text_of(open_page("what_to_hide", part="The claim", claim="words"))
    mismatch = text_of(open_page("what_to_hide", part="The claim", claim="mismatch"))
    assert re.search(
        r"a wrong word put right, nothing masked: MacBERT against BERT \+20\.0 .* – \*\*agrees\*\*", mismatch
    )
    assert re.search(r"one masked word put right: MacBERT against BERT −20\.0 .* – \*\*agrees\*\*", mismatch)


def test_what_has_been_recorded_is_read(runs_folder, monkeypatch):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    from ui.claim import records_of

    kept = records_of("what_to_hide")
    assert {(record["arm"], record["seed"]) for record in kept} == {
        (arm, seed) for arm in RELATIVE_EXPERIMENTS["what_to_hide"].arms for seed in range(3)
    }
    told = text_of(open_page("what_to_hide", part="The claim"))
    assert re.search(r"boundaries alone against BERT \+\d+\.\d ± .* – \*\*agrees\*\*", told)


def test_the_quiz_and_the_papers_figures():
    lesson = Lesson("what_to_hide")
    assert len(load_quiz(lesson.folder / "quiz.toml")) >= 5
    text = (lesson.folder / "paper.toml").read_text()
    for value in ("92.4", "88.5", "table 5", "table 2", "87.1"):
        assert value in text


@pytest.mark.slow
def test_train_both_begins_two_runs(runs_folder):
    from ui.runs import manager

    app = open_page("what_to_hide", owner="else", part="Train both")
    app.slider(key="both-steps").set_value(50)
    app = whole(app.button(key="train-both").click().run())
    runs = manager().runs("else")
    assert [run.title for run in runs[::-1]] == ["BERT", "SpanBERT"]
    for run in runs:
        run.cancel()


# --- one task after another ------------------------------------------------------------------------------------------


def test_the_plan_is_the_models_and_a_run_is_found_again(runs_folder, results, tmp_path):
    from jobs.files import pack
    from jobs.run import Run
    from tests.pages.finished_runs import ended
    from ui.runs import manager

    app = open_page("what_to_hide", owner="me", part="One task after another")
    assert "No run yet" in text_of(app) and any("experiment ernie2" in block.value for block in app.code)
    bars = figure(app, "ernie2-plan")["data"]
    plan = stages("continual", list(TASKS), 400)
    assert [bar["name"] for bar in bars] == list(tasks().values())
    assert [int(n) for n in array(bars[0]["customdata"])][:4] == [stage["words"] for stage in plan]
    (tmp_path / "out").mkdir()
    for regime in ("one_by_one", "continual"):
        settings = ContinualSettings(regime, 8, batch_size=2, stories=20, asked=4, evaluate_every=4)
        events = [event.as_dict() for event in train_continually(settings)]
        run = Run(manager(), manager().directory, "me", regime, f"what_to_hide-ernie2/{regime}", "x:y")
        ended(run, events, pack(tmp_path / "out"))
    app = open_page("what_to_hide", owner="me", part="One task after another")
    lines = figure(app, "ernie2-learned")["data"]
    assert [line["name"] for line in lines] == list(tasks().values()) * 2
    assert len(array(lines[0]["x"])) == 3


def test_the_continual_claim_gets_its_verdicts(results):
    names = (*TASKS, "mean")
    kept, lost = [0.50, 0.51, 0.52], [0.10, 0.12, 0.11]
    values = {
        "continual": dict.fromkeys(names, kept),
        "one_by_one": {**dict.fromkeys(names, lost), "order": [0.4, 0.6, 0.5]},
        "together": dict.fromkeys(names, kept[::-1]),
    }
    told = [{**one, "experiment": "ernie2", "scale": {"asked": 8}} for one in records(values)]
    (results / "ernie2.jsonl").write_text("".join(json.dumps(one) + "\n" for one in told))
    said = text_of(open_page("what_to_hide", part="One task after another"))
    first = r"phrases and names, hidden: .*, against one by one: \+40\.0 ± .*; expected \+ – \*\*agrees\*\*"
    assert re.search(first, said)
    assert re.search(r"order of three sentences: .* \*\*unclear", said)
    assert re.search(r"mean of the four: .*, against all at once: \+0\.0 ± [0-9.]+ points, 3 seeds(\n|$)", said)


@pytest.mark.slow
def test_all_three_regimes_begin(runs_folder):
    from ui.runs import manager

    app = open_page("what_to_hide", owner="a third", part="One task after another")
    app = whole(app.button(key="train-ernie2").click().run())
    runs = manager().runs("a third")
    assert {run.kind for run in runs} == {f"what_to_hide-ernie2/{name}" for name in REGIMES}
    for run in runs:
        run.cancel()
