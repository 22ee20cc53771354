"""Comparisons of fine-tuning: what an arm is, how a comparison runs and goes on, and what its records count."""

from dataclasses import replace

import pytest

from minibert.__main__ import main
from minibert.checkpoint import config_values
from minibert.command_line import experiment
from minibert.experiments.compare import read_data, run_comparison, settings_of, sizes
from minibert.experiments.comparisons import COMPARISONS, FROZEN, REQUIRED, Comparison, cell, comparison_named
from minibert.experiments.events import Finished
from minibert.experiments.results import read_records
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.folders import ROOT
from minibert.train import Eval
from tests.minibert.tasks.toys import toy


@pytest.fixture
def folder(tmp_path):
    """A data set of a comparison: toy/train.tsv and toy/dev.tsv."""
    (tmp_path / "toy").mkdir()
    for part, count, seed in (("train", 24, 0), ("dev", 10, 1)):
        rows = "".join(f"{e.text}\t{e.label}\n" for e in toy("classification", count, seed).examples)
        (tmp_path / "toy" / f"{part}.tsv").write_text("text\tlabel\n" + rows, encoding="utf-8")
    return tmp_path


TOY = Comparison(
    "toy",
    "A toy",
    "classification",
    "toy",
    ("train.tsv", "dev.tsv"),
    {"epochs": 1, "batch_size": 8, "learning_rate": 1e-3, "max_length": 24},
    {"tuned": {}, "frozen": {"freeze": "all"}},
)


def run(start, folder, out, comparison=TOY, **options):
    return [e.record for e in run_comparison(comparison, start, folder, out, **options) if isinstance(e, Finished)]


def test_a_comparison_runs_every_arm_and_seed_and_goes_on_where_it_stopped(small_checkpoint, folder, tmp_path):
    out = tmp_path / "results.jsonl"
    events = run_comparison(TOY, small_checkpoint, folder, out, seeds=2)
    first = next(event for event in events if isinstance(event, Finished)).record
    events.close()  # interrupted
    assert [(r["arm"], r["seed"]) for r in read_records(out, REQUIRED)] == [("tuned", 0)]
    rest = run(small_checkpoint, folder, out, seeds=2, command="again")
    assert [(r["arm"], r["seed"]) for r in rest] == [("frozen", 0), ("tuned", 1), ("frozen", 1)]
    assert run(small_checkpoint, folder, out, seeds=2) == []
    assert len(read_records(out, REQUIRED)) == 4 and first["measured_on"] == 10 and first["steps"] == 3
    other = replace(TOY, base={**TOY.base, "epochs": 2})  # other settings are run again
    again = run(small_checkpoint, folder, out, comparison=other, seeds=1)
    assert [r["settings"]["epochs"] for r in again] == [2, 2]

    train, dev = read_data(TOY, folder)
    events = finetune(small_checkpoint, "classification", train, dev, settings_of(TOY.values("tuned"), 0))
    assert first["metrics"] == [event for event in events if isinstance(event, Eval)][-1].metrics
    assert first["majority"] == max(dev.counts.values()) / 10


@pytest.mark.parametrize("model", ["mini-en", "minilm-en"])
def test_what_is_recorded_is_not_run_again(model):
    hidden = config_values(ROOT / "checkpoints" / model)["hidden_size"]
    for name in COMPARISONS:
        comparison = comparison_named(name, hidden)
        for record in read_records(ROOT / "lessons" / "results" / model / f"{name}.jsonl", REQUIRED):
            assert record["settings"] == comparison.values(record["arm"])


def test_sizes_are_those_of_the_saved_model(small_checkpoint, tmp_path):
    train, dev = toy("classification", 16, 0), toy("classification", 8, 1)
    for changes in ({}, {"freeze": "all"}, {"freeze": "all", "layers": "last_four_concat", "bilstm": True}):
        settings = settings_of({**TOY.base, **changes}, 0)
        counted = sizes(small_checkpoint, "classification", train, settings)
        out = tmp_path / str(len(changes))
        list(finetune(small_checkpoint, "classification", train, dev, settings, out=out))
        model = Predictor.from_directory(out).model
        body = sum(weight.numel() for weight in model.bert.parameters())
        assert counted.whole == sum(weight.numel() for weight in model.parameters())
        assert counted.head == counted.whole - body
        assert counted.trained == counted.stored == (counted.head if changes else counted.whole)


def test_every_arm_has_settings_that_exist():
    for comparison in COMPARISONS.values():
        for arm in comparison.arms:
            settings = settings_of(comparison.values(arm), 1, max_seconds=3)
            assert settings.seed == 1 and settings.max_seconds == 3
    assert set(COMPARISONS["stability"].arms) >= {cell(2, 3e-4, True), cell(6, 1e-3, False)}
    wider = comparison_named("stability", 384)
    assert set(wider.arms) >= {cell(2, 1e-4, True), cell(6, 7e-4, False)} and len(wider.arms) == 12
    rates = {arm: values["learning_rate"] for arm, values in comparison_named("features", 384).arms.items()}
    assert rates["fine-tuned"] == 3e-4 and rates["last"] == FROZEN["learning_rate"]
    with pytest.raises(ValueError, match="there are features"):
        comparison_named("nothing")
    with pytest.raises(ValueError, match="has no arm"):
        COMPARISONS["features"].values("nothing")


def test_the_command(small_checkpoint, folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(COMPARISONS, "toy", replace(TOY, embedded=False, seeds=1))
    monkeypatch.setattr(experiment, "SHIPPED", small_checkpoint)
    out = tmp_path / "records.jsonl"
    monkeypatch.delenv("MINIBERT_DATA", raising=False)
    assert main(["experiment", "toy", "--out", str(out)]) == 2
    assert "--tasks is missing; or let MINIBERT_DATA name a folder that holds tasks/en" in capsys.readouterr().err
    assert main(["experiment", "toy", "--tasks", str(folder), "--out", str(out)]) == 0
    assert "frozen, seed 0" in capsys.readouterr().err
    assert read_records(out, REQUIRED)[0]["command"] == f"python -m minibert experiment toy --seeds 1 --tasks {folder}"
    out = tmp_path / "from another.jsonl"
    monkeypatch.setattr(experiment, "SHIPPED", tmp_path / "nothing")
    said = f"--model {small_checkpoint} --tasks {folder}"
    assert main(["experiment", "toy", *said.split(), "--out", str(out)]) == 0
    record = read_records(out, REQUIRED)[0]
    assert record["model"] == small_checkpoint.name
    assert record["command"] == f"python -m minibert experiment toy --seeds 1 {said}"
