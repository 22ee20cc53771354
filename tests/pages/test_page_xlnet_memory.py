"""XLNet's memory on its page: the reader's two rows, two runs beside each other, and what was recorded."""

import json
import re

import pytest
import torch

from minibert import checkpoint
from minibert.model import IGNORE, Batch
from minibert.segment_memory import guess_on, read_on
from minibert.toy.segments import SegmentSettings, train_on_segments
from tests.hostile import HOSTILE
from tests.pages.driver import ROOT, assert_no_markup, figure, open_page, text_of, whole

XLNET = ROOT / "checkpoints" / "xlnet-toy" / "xlnet"
ROWS = ("felix was an eager boy. felix lost the scarf.", "he searched alone.")


@pytest.fixture(scope="module")
def model():
    return checkpoint.load(XLNET).eval(), checkpoint.load_tokenizer(XLNET)


@torch.no_grad()
def expected(model, place: int, memory: bool) -> float:
    """P of the word at `place` of the second row, by the two functions the page does not call itself."""
    network, tokenizer = model
    first, second = (torch.tensor([tokenizer.encode(text, add_special=False).ids]) for text in ROWS)
    labels = torch.full_like(second, IGNORE)
    labels[0, place] = second[0, place]
    read = read_on(network.bert, Batch(first))[1] if memory else None
    return float(guess_on(network, Batch(second, labels=labels), read)[0].mlm_logits[0].softmax(-1)[second[0, place]])


@pytest.mark.parametrize("place", [0, 1])
def test_the_word_is_expected_as_the_model_does(runs_folder, model, place):
    app = open_page("xlnet", owner="me", part="Memory", before=ROWS[0], behind=ROWS[1], place=place + 1)
    shares = [float(share) / 100 for share in re.findall(r"\*\*([\d.]+)%\*\*", text_of(app))]
    wanted = [expected(model, place, memory) for memory in (True, False)]
    assert shares[-2:] == pytest.approx(wanted, abs=6e-4)
    bars = figure(app, "memory-attention")["data"]
    assert [bar["name"] for bar in bars] == ["memory", "its own row"]
    assert figure(app, "memory-expected")


def test_an_example_fills_in_both_rows(runs_folder):
    app = open_page("xlnet", owner="me", part="Memory")
    pills = next(group for group in app.button_group if group.key == "rows-example")
    assert pills.value == 0
    app = whole(pills.set_value(2).run())
    assert app.text_input(key="before").value.startswith("nora") and app.text_input(key="behind").value.endswith(
        "museum."
    )
    app = whole(app.text_input(key="behind").set_value("she slept.").run())
    assert next(group for group in app.button_group if group.key == "rows-example").value is None


@pytest.mark.parametrize("rows", [("", "he slept."), ("felix was tired.", " ")])
def test_a_row_without_words_is_asked_for(runs_folder, rows):
    app = open_page("xlnet", owner="me", part="Memory", before=rows[0], behind=rows[1])
    assert any("Type a word in each row" in info.value for info in app.info)


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_text(runs_folder, text):
    assert_no_markup(open_page("xlnet", owner="me", part="Memory", before=text, behind=text))


# --- trained ----------------------------------------------------------------------------------------------------------


def test_before_a_run_it_is_said_what_will_happen(runs_folder):
    assert "No run yet." in text_of(open_page("xlnet", owner="me", part="Its worth"))


def test_two_runs_are_laid_over_each_other(runs_folder):
    from jobs.run import Run
    from tests.pages.finished_runs import ended
    from ui.runs import manager

    for name in ("alone", "memory"):
        settings = SegmentSettings(2, name == "memory", batch_size=2, stories=6, held_out=6, evaluate_every=1)
        events = [event.as_dict() for event in train_on_segments(settings, XLNET)]
        run = Run(
            manager(), manager().directory, "trains", f"XLNet, {name}", f"xlnet-memory/{name}",
            "minibert.toy.segments:train_on_segments",
        )  # fmt: skip
        ended(run, events, {})
    lines = figure(open_page("xlnet", owner="trains", part="Its worth"), "memory-learned")["data"]
    assert len([line for line in lines if line.get("name")]) == 4


def test_train_both_begins_with_the_pages_xlnet(runs_folder):
    from ui.runs import manager

    app = open_page("xlnet", owner="else", part="Its worth")
    app.slider(key="memory-steps").set_value(50)
    whole(app.button(key="train-memory").click().run())
    runs = manager().runs("else")
    assert [run.title for run in runs[::-1]] == ["XLNet, without memory", "XLNet, with memory"]
    for run in runs:
        run.cancel()


# --- recorded ---------------------------------------------------------------------------------------------------------


def records(values: dict[str, dict[str, list[float]]]) -> list[dict]:
    machine = {"processor": "a processor", "torch": "2", "date": "2026-11-26"}
    return [
        {
            "experiment": "xlnet_memory", "arm": arm, "seed": seed, "pretraining": {}, "scale": {"test": 300},
            "metrics": {name: shares[seed] for name, shares in metrics.items()}, "parameters": 1, "steps": 400,
            "tokens": 99, "curve": [], "seconds": 3.0, "finetuning_seconds": 0.0, "data": ["toy"], "machine": machine,
            "command": "python -m minibert experiment xlnet_memory",
        }
        for arm, metrics in values.items()
        for seed in range(3)
    ]  # fmt: skip


def test_without_results_the_command_stands_there(results):
    app = open_page("xlnet", owner="me", part="Its worth")
    assert any("experiment xlnet_memory --seeds 3" in block.value for block in app.code)
    assert not figure(app, "memory-recorded")


@pytest.mark.parametrize(
    ("before", "said"),
    [([0.9, 0.91, 0.89], "agrees"), ([0.2, 0.21, 0.2], "disagrees"), ([0.2, 0.6, 0.5], "unclear")],
)
def test_the_verdict_follows_the_seeds(results, before, said):
    flat = [0.4, 0.41, 0.42]
    values = {
        "alone": {"before": flat, "here": flat},
        "memory": {"before": before, "here": flat, "before_forgotten": flat, "here_forgotten": flat},
    }
    (results / "xlnet_memory.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records(values)))
    told = text_of(open_page("xlnet", owner="me", part="Its worth"))
    assert re.search(rf"told in the row before: .* points here – \*\*{said}", told)
    assert "the paper says nothing of them; +0.0 ± 0.0 points here" in told


def test_what_has_been_recorded_is_what_the_words_say(runs_folder, monkeypatch):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    from ui.claim import records_of

    kept = records_of("xlnet_memory")
    assert {(record["arm"], record["seed"]) for record in kept} == {
        (arm, seed) for arm in ("alone", "memory") for seed in range(3)
    }
    for record in kept:
        first, last = record["curve"][0][1], record["metrics"]
        if record["arm"] == "memory":
            assert 0.87 < first["before"] < 0.89 < last["before"] and last["before_forgotten"] < 0.42
        else:
            assert first["before"] < 0.39 < last["before"] < 0.43
