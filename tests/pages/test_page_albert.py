"""The ALBERT page: what it draws is what both models computed and what is counted; diff, claims, trained together."""

import json
import re

import pytest

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.count import parameters
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.inside.pair_questions import judged
from minibert.inside.repetitions import movement
from minibert.relatives.albert import AlbertConfig
from minibert.toy import world
from minibert.toy.pretrain import pretrain_toy
from sections.albert.order import SEED, STORIES
from tests.hostile import HOSTILE
from tests.pages.driver import ROOT, assert_no_markup, figure, html_of, open_page, text_of, title_of, whole
from ui.lesson import Lesson, load_quiz
from ui.train_both import Side, _settings

PAIR = ROOT / "checkpoints" / "albert-toy"
TEXT = "felix was an eager boy. felix lost the scarf."
PARTS = ("The weights", "The diff", "Train both", "Order or topic", "The claim", "Seconds", "What became of it")


@pytest.fixture(scope="module")
def models():
    return {name.upper(): checkpoint.load(PAIR / name) for name in ("albert", "bert")}


@pytest.fixture(scope="module")
def tokenizer():
    return checkpoint.load_tokenizer(PAIR / "albert")


def drawn_blocks(app) -> dict[str, list[tuple[str, str, float]]]:
    """Model → of each layer: attention's and the feed-forward's words, and how far it moves."""
    rows = re.findall(r'<div class="mb-albert"><strong>(.*?)</strong>(.*?)</div>', html_of(app))
    box = r"<li><span[^>]*>(.*?)</span><span[^>]*>(.*?)</span><b[^>]*><i>moves ([\d.]+)</i>"
    return {name: [(a, m, float(step)) for a, m, step in re.findall(box, row)] for name, row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_every_part_opens(runs_folder, part):
    app = open_page("albert", owner="me", part=part)
    assert not app.error and drawn_blocks(app)


@pytest.mark.parametrize("token", [1, 4])
def test_the_picture_is_what_both_models_computed(runs_folder, models, tokenizer, token):
    app = open_page("albert", owner="me", text=TEXT, token=token)
    ids = tokenizer.encode(TEXT).ids
    layers = len(models["BERT"].bert.blocks)
    lines = {
        (line["name"], line["xaxis"]): line["y"]
        for line in figure(app, "movement")["data"]
        if line.get("name") and line.get("fill") != "toself"
    }
    for name, model in models.items():
        moved = movement(model.bert, ids)
        pick = (lambda values: values.mean(1)) if token == 1 else (lambda values: values[:, token - 2])
        boxes = drawn_blocks(app)[name]
        assert [step for *_, step in boxes] == pytest.approx(pick(moved.distances), abs=0.051)
        own = "" if token == 1 else f", {tokenizer.vocab[ids[token - 2]]}"
        assert lines[f"{name}{own}", "x"] == pytest.approx(pick(moved.distances))
        assert lines[f"{name}{own}", "x2"] == pytest.approx(pick(moved.cosines))
    shown = drawn_blocks(app)
    assert [box[:2] for box in shown["ALBERT"]] == [("attention 1", "feed-forward 1")] * layers
    assert [box[:2] for box in shown["BERT"]] == [(f"attention {n}", f"feed-forward {n}") for n in range(1, layers + 1)]


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_text(runs_folder, text):
    app = open_page("albert", owner="me", text=text, part="Order or topic", first=text, token=2)
    assert_no_markup(app)


def test_words_it_has_never_read_are_said_to_be_unknown(runs_folder):
    app = open_page("albert", owner="me", text="felix was a physicist.")
    assert any("not in the vocabulary of these models" in caption.value for caption in app.caption)


@pytest.mark.parametrize(
    ("size", "width", "shared", "number"),
    [
        ("base", 128, "all", 11_683_584),
        ("large", 128, "all", 17_683_968),
        ("xlarge", 128, "all", 58_724_864),
        ("xxlarge", 128, "all", 222_595_584),
        ("base", 768, "none", None),
        ("large", 64, "attention", None),
    ],
)
def test_the_weights_are_counted(runs_folder, size, width, shared, number):
    app = open_page("albert", owner="me", size=size, E=width, shared=shared)
    config = AlbertConfig.preset(size, embedding_size=width, shared=shared)
    number = number or parameters(config).with_pooler
    bert = BertConfig(
        30_000, config.hidden_size, config.num_hidden_layers, config.num_attention_heads, config.intermediate_size
    )
    before = parameters(bert).with_pooler
    assert title_of(app, "weights").startswith(f"{number:,} weights in the place of {before:,}:")
    bars = {bar["name"]: bar for bar in figure(app, "weights")["data"]}
    sums = {place: sum(x for bar in bars.values() for x, y in zip(bar["x"], bar["y"], strict=True) if y == place)
            for place in (0, 1)}  # fmt: skip
    assert sums == {0: pytest.approx(before / 1e6), 1: pytest.approx(number / 1e6)}
    copies = 1 if shared in ("all", "attention") else config.num_hidden_layers
    assert sum(y == 1 for y in bars["attention, a copy each"]["y"]) == copies
    assert f"V·E + E·H = 30,000·{width:,} + {width:,}·{config.hidden_size:,}" in text_of(app)


def test_the_published_sizes_stand_in_a_table(runs_folder):
    app = open_page("albert", owner="me", part="What became of it")
    shown = list(app.table[0].value["weights, with pooler"])
    assert shown == ["11,683,584", "17,683,968", "58,724,864", "222,595,584"]


def test_the_diff_is_of_the_running_code(runs_folder):
    app = open_page("albert", owner="me", part="The diff")
    assert any("minibert/relatives/albert.py" in box.label and "One block" in box.label for box in app.expander)
    assert html_of(app).count('class="mb-source mb-diff"') == 3


@pytest.mark.slow
def test_both_questions_are_put_to_both(runs_folder, models, tokenizer):
    app = open_page("albert", owner="me", part="Order or topic")
    documents = world.documents(STORIES, SEED, "small")
    bars = figure(app, "crosswise")["data"]
    for bar, second in zip(bars, ("nsp", "sop"), strict=True):
        expected = [100 * judged(models[name], tokenizer, documents)[second] for name in ("ALBERT", "BERT")]
        assert bar["x"] == pytest.approx(expected)
    assert "P(in order)" in text_of(app)


def test_the_answer_waits_for_a_guess(runs_folder):
    app = open_page("albert", owner="me")
    app.session_state["part"] = "Order or topic"
    app = whole(app.run())
    assert figure(app, "crosswise") is None
    app = whole(app.button(key="albert-order-guess-0").click().run())
    assert figure(app, "crosswise")


@pytest.mark.slow
def test_it_is_measured_here(runs_folder):
    app = open_page("albert", owner="me", part="Seconds")
    assert not app.table
    app = whole(app.button(key="measure").click().run())
    table = app.table[0].value.set_index("model")
    assert list(table.index) == ["BERT", "ALBERT, only E narrow", "ALBERT"]
    flops = [int(number.replace(",", "")) for number in table["million FLOP an answer"]]
    assert max(flops) < 1.05 * min(flops)


# --- the claims -------------------------------------------------------------------------------------------------------


def records(values: dict[str, dict[str, list[float]]]) -> list[dict]:
    """arm → metric → a value a seed."""
    machine = {"processor": "a processor", "torch": "2", "date": "2026-11-25"}
    return [
        {
            "experiment": "albert", "arm": arm, "seed": seed, "pretraining": {}, "steps": 10, "tokens": 99,
            "seconds": 3.0,
            "metrics": {"milliseconds": 2.0, **{name: row[seed] for name, row in metrics.items()}}, "parameters": 1234,
            "scale": {"masked": 0.15, "train": 10, "test": 5}, "curve": [], "data": ["toy"], "machine": machine,
            "command": "python -m minibert experiment albert",
        }
        for arm, metrics in values.items()
        for seed in range(len(next(iter(metrics.values()))))
    ]  # fmt: skip


@pytest.mark.parametrize("claim", ["order", "next", "use", "sharing", "wide", "time"])
def test_without_results_the_command_stands_there(results, claim):
    app = open_page("albert", owner="me", part="The claim", claim=claim)
    assert any("experiment albert --seeds 3" in block.value for block in app.code)


def test_each_direction_gets_its_verdict(results):
    values = {
        "nsp": {"sop": [0.5, 0.51, 0.52], "nsp": [0.9, 0.91, 0.92], "who_is_meant": [0.5, 0.5, 0.51]},
        "all": {"sop": [0.8, 0.82, 0.81], "nsp": [0.4, 0.42, 0.41], "who_is_meant": [0.4, 0.41, 0.4]},
        "mlm": {"sop": [0.5, 0.5, 0.5], "nsp": [0.5, 0.5, 0.5], "who_is_meant": [0.5, 0.51, 0.52]},
        "none": {"who_is_meant": [0.9, 0.9, 0.91], "sop": [0.5] * 3, "nsp": [0.5] * 3},
    }
    lines = "".join(json.dumps(record) + "\n" for record in records(values))
    (results / "albert.jsonl").write_text(lines)
    told = text_of(open_page("albert", owner="me", part="The claim", claim="order"))
    assert re.search(r"asked for the order: \+34\.5 in the paper, \+30\.0 ± .* over 3 seeds – \*\*agrees\*\*", told)
    told = text_of(open_page("albert", owner="me", part="The claim", claim="next"))
    assert re.search(r"asked for the order: \+26\.5 in the paper, −9\.0 ± .* – \*\*disagrees\*\*", told)
    told = text_of(open_page("albert", owner="me", part="The claim", claim="sharing"))
    assert re.search(r"all \(ALBERT\): −1\.5 in the paper, −50\.0 ± .* – \*\*agrees\*\*", told)
    assert "attention: +0.1 in the paper, no seed in common here" in told
    app = open_page("albert", owner="me", part="The claim", claim="time")
    row = app.table[0].value.set_index("arm").loc["all shared (ALBERT)"]
    assert row["weights"] == "1,234" and row["a step, ms"].startswith("300") and row["an answer, ms"].startswith("2")


def test_what_has_been_recorded_is_read(runs_folder, monkeypatch):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    from ui.claim import records_of

    kept = records_of("albert")
    assert all(record["arm"] in RELATIVE_EXPERIMENTS["albert"].arms for record in kept)
    assert all(0 <= record["metrics"][name] <= 1 for record in kept for name in ("who_is_meant", "nsp", "sop"))
    assert len({(record["arm"], record["seed"]) for record in kept}) == len(kept)


# --- trained together -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", [False, True])
def test_both_sides_read_the_same_rows(pairs):
    sizes = {"num_hidden_layers": 4}
    options = {} if pairs else {"second": None}
    bert, albert = (
        _settings(side, 40, 2, 20, pairs)
        for side in (Side("BERT", sizes=sizes), Side("A", "albert", options, {**sizes, "shared": "attention"}))
    )
    same = ("steps", "seed", "batch_size", "max_length", "input_format", "masking", "optimization", "preset")
    assert all(getattr(bert, name) == getattr(albert, name) for name in same)
    assert albert.config().shared == "attention" and bert.config().num_hidden_layers == 4
    assert bert.input_format == ("segment_pair" if pairs else "doc_sentences")
    assert albert.objective.second == ("sop" if pairs else None)


@pytest.fixture(scope="module")
def together(runs_folder, tmp_path_factory):
    """BERT and ALBERT after a few steps, as the page's runs."""
    from jobs.files import pack
    from jobs.run import Run
    from tests.pages.finished_runs import ended
    from ui.runs import manager

    made = []
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3}
    narrow = {"embedding_size": 8, "shared": "attention"}
    for side in (Side("BERT", sizes=sizes), Side("ALBERT", "albert", {"second": None}, {**sizes, **narrow})):
        folder = tmp_path_factory.mktemp(side.relative) / "model"
        events = pretrain_toy(
            _settings(side, 2, 0, 15), folder, stories=40, watch=["soon [MASK] found the rings under the bed."]
        )
        events = [event.as_dict() for event in events]
        kind = f"albert/7/{side.relative}-0"
        run = Run(manager(), manager().directory, "me", side.title, kind, "minibert.toy.pretrain:pretrain_toy")
        made.append(ended(run, events, pack(folder)))
    return made


@pytest.mark.slow
def test_what_was_trained_together_is_laid_over_each_other(together):
    app = open_page("albert", owner="me", part="Train both")
    curves = figure(app, "both-curves")
    assert {trace["name"] for trace in curves["data"] if trace.get("name")} == {"BERT", "ALBERT"}
    read = [run.latest("step")["tokens"] for run in together]
    assert read[0] == read[1] > 0  # the same tokens
    assert figure(app, "both-answers")


@pytest.mark.slow
def test_a_pair_of_ones_own_opens_in_the_picture(together):
    app = open_page("albert", owner="me", pair=together[1].id, part="Order or topic")
    assert app.selectbox(key="pair").value == together[1].id and not app.error
    boxes = drawn_blocks(app)["ALBERT"]
    assert [box[:2] for box in boxes] == [("attention 1", f"feed-forward {n}") for n in (1, 2, 3)]
    assert any("asked nothing about pairs" in info.value for info in app.info)


@pytest.mark.slow
def test_train_both_begins_two_runs(runs_folder):
    from ui.runs import manager

    app = open_page("albert", owner="else", part="Train both")
    assert "No run yet" in text_of(app)
    app.slider(key="both-steps").set_value(50)
    app = whole(app.button(key="train-both").click().run())
    runs = manager().runs("else")
    assert [run.title for run in runs[::-1]] == ["BERT", "ALBERT"]
    assert len({run.kind.rpartition("/")[0] for run in runs}) == 1
    for run in runs:
        run.cancel()


def test_the_quiz_and_the_papers_figures():
    lesson = Lesson("albert")
    assert len(load_quiz(lesson.folder / "quiz.toml")) >= 5
    text = (lesson.folder / "paper.toml").read_text()
    for value in ("52.0", "78.9", "90.5", "86.5", "table 4", "table 5", "81.6", "80.2"):
        assert value in text
