"""LAMB and AdamW on NEZHA's page: two runs at a batch of the reader's, and what was recorded as the batch grows."""

import json
import re

from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.toy.large_batches import RATES, BatchSettings, train_in_batches
from tests.pages.driver import figure, open_page, text_of, whole

CLAIM = "LAMB’s claim"


def test_before_a_run_it_is_said_what_will_happen(runs_folder):
    told = text_of(open_page("nezha", owner="me", part="Batches"))
    assert "No run yet.** 256 steps of 128 rows each" in told and "√2 times the rate" in told


def test_two_runs_are_laid_over_each_other(runs_folder):
    from jobs.run import Run
    from tests.pages.finished_runs import ended
    from ui.runs import manager

    for name in RATES:
        settings = BatchSettings(name, 32, 64, stories=20, measurements=2, hidden_size=16, layers=1)
        events = [event.as_dict() for event in train_in_batches(settings)]
        run = Run(
            manager(), manager().directory, "trains", name, f"nezha-batches/{name}",
            "minibert.toy.large_batches:train_in_batches",
        )  # fmt: skip
        ended(run, events, {})
    app = open_page("nezha", owner="trains", part="Batches")
    curves = [line for line in figure(app, "batch-curves")["data"] if line.get("name")]
    colours = {line["name"]: line["line"]["color"] for line in curves}
    ratios = figure(app, "trust-ratios")["data"]
    assert [trace["name"] for trace in ratios] == ["adamw", "lamb"] and len(ratios[0]["x"]) == len(ratios[1]["x"])
    assert {trace["name"]: trace["marker"]["color"] for trace in ratios} == colours  # one colour an optimizer


def test_train_both_begins_two_runs_at_twice_the_rules_rate(runs_folder):
    from ui.runs import manager

    app = open_page("nezha", owner="else", part="Batches")
    app.select_slider(key="batch-rows").set_value(512)
    app.select_slider(key="rows-read").set_value(8_192)
    app.select_slider(key="rate-times").set_value(2)
    whole(app.button(key="train-batches").click().run())
    runs = manager().runs("else")
    assert [run.title for run in runs[::-1]] == [
        f"{name}, batches of 512, rate × 2" for name in ("AdamW", "LAMB")
    ]  # fmt: skip
    for run in runs:
        run.cancel()


# --- recorded ---------------------------------------------------------------------------------------------------------


def records(losses: dict[str, list[float]]) -> list[dict]:
    machine = {"processor": "a processor", "torch": "2", "date": "2026-11-26"}
    return [
        {
            "experiment": "lamb", "arm": arm, "seed": seed, "pretraining": {}, "scale": {"rows_read": 64},
            "metrics": {"loss": loss, "right": 0.5}, "parameters": 1, "steps": 2, "tokens": 99, "curve": [],
            "seconds": 3.0, "finetuning_seconds": 0.0, "data": ["toy"], "machine": machine,
            "command": "python -m minibert experiment lamb",
        }
        for arm, values in losses.items()
        for seed, loss in enumerate(values)
    ]  # fmt: skip


def test_without_results_the_command_stands_there(results):
    app = open_page("nezha", owner="me", part=CLAIM)
    assert any("experiment lamb --seeds 3" in block.value for block in app.code)
    assert not figure(app, "batches-recorded")


def test_each_direction_gets_its_verdict(results):
    flat = [2.0, 2.1, 2.2]
    losses = {
        "adamw-32": flat, "lamb-32": flat, "adamw-128": flat, "lamb-128": [1.0, 1.1, 1.2], "adamw-256": flat,
        "lamb-256": [3.0, 3.1, 3.2], "adamw-512": flat, "lamb-512": [1.0, 3.0, 2.2], "adamw-512-searched": flat,
        "lamb-512-searched": [2.5, 2.6, 2.7],
    }  # fmt: skip
    (results / "lamb.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records(losses)))
    app = open_page("nezha", owner="me", part=CLAIM)
    told = text_of(app)
    assert re.search(r"Batches of 128, by the rule: .* \+1\.00 ± 0\.00 nats here, over 3 seeds – \*\*agrees", told)
    assert re.search(r"Batches of 256, by the rule: .* −1\.00 ± 0\.00 nats here, over 3 seeds – \*\*disagrees", told)
    assert re.search(r"Batches of 512, by the rule: .* – \*\*unclear", told)
    assert re.search(r"both rates searched for: .* −0\.50 ± 0\.00 nats here, over 3 seeds – \*\*agrees", told)
    assert re.search(r"batches of 512 against 32: .* none lost .* – \*\*unclear", told)
    names = [line["name"] for line in figure(app, "batches-recorded")["data"] if line.get("name")]
    assert names == ["AdamW", "LAMB", "AdamW, rate searched for anew", "LAMB, rate searched for anew"]


def test_what_has_been_recorded_is_what_the_words_say(runs_folder, monkeypatch):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    from ui.claim import records_of

    kept = records_of("lamb")
    arms = RELATIVE_EXPERIMENTS["lamb"].arms
    assert {(record["arm"], record["seed"]) for record in kept} == {(arm, seed) for arm in arms for seed in range(3)}
    told = text_of(open_page("nezha", owner="me", part=CLAIM))
    assert told.count("unclear: within the spread") == 3
    assert re.search(r"both rates searched for: .* – \*\*agrees", told)
    assert re.search(r"batches of 512 against 32: .* – \*\*disagrees", told)
