"""The page of the paper's experiments: what it says of recorded results, made up and shipped, and of missing ones."""

import json
import tomllib
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pytest

from minibert import toy_world
from minibert.experiments.catalogue import EXPERIMENTS, Scale
from minibert.experiments.tasks import TASKS
from tests.pages import driver
from tests.pages.driver import ROOT, plain, text_of
from ui.lesson import LESSONS, Lesson

LESSON = Lesson("experiments")
open_page = partial(driver.open_page, "experiments")
PAPER = tomllib.loads((LESSONS / "experiments" / "paper.toml").read_text(encoding="utf-8"))


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIBERT_RESULTS", str(tmp_path))
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path / "runs"))
    return tmp_path


def record(experiment: str, arm: str, seed: int, metrics: dict, **changes) -> dict:
    chosen = next(one for one in EXPERIMENTS[experiment].arms if one.name == arm)
    return {
        "experiment": experiment, "arm": arm, "seed": seed, "metrics": metrics, "steps": Scale().step_at(chosen.at),
        "tokens": 4_000_000, "parameters": 1_000_000, "pretraining": asdict(chosen.pretraining),
        "pretraining_seconds": 3000.0, "finetuning_seconds": 600.0, "scale": Scale().as_dict(),
        "examples": {"sst2": 5000}, "measured_on": {"sst2": 872}, "data": ["text.txt"],
        "command": f"python -m minibert experiment {experiment} --seeds 3",
        "machine": {"processor": "a <b>fast</b> one", "device": "cpu", "torch": "2", "date": "2020-01-01"}, **changes,
    }  # fmt: skip


def write(folder: Path, name: str, records: list[dict]) -> None:
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))


def objectives(folder: Path, changes: dict[str, tuple[float, ...]]) -> None:
    """Base at 0.70, 0.72, 0.71; each arm that much above it, by seed."""
    base = (0.70, 0.72, 0.71)
    records = [record("objectives", "mlm+nsp", seed, {"sst2": base[seed]}) for seed in range(3)]
    for arm, gaps in changes.items():
        records += [record("objectives", arm, seed, {"sst2": base[seed] + gap}) for seed, gap in enumerate(gaps)]
    write(folder, "objectives", records)


def test_missing_results_are_said_plainly_with_the_command(results):
    for name in EXPERIMENTS:
        app = open_page(experiment=name)
        assert "No results of this experiment" in text_of(app)
        assert app.code[0].value == f"python -m minibert experiment {name} --seeds 3"
        assert not app.error


def test_directions_are_judged_by_the_interval(results):
    objectives(
        results,
        {
            "no-nsp": (0.010, 0.012, 0.011),  # the paper: −0.1
            "left-to-right": (-0.05, -0.051, -0.052),  # the paper: −0.6
            "left-to-right+bilstm": (-0.05, 0.04, -0.01),  # the paper: −1.1
        },
    )
    text = text_of(open_page())
    assert "Of 3 directions in the paper, ours agree in 1, disagree in 1, and leave 1 open." in text
    assert "no NSP: −0.1 in the paper, +1.1 ± 0.2 here, over 3 seeds – **other direction**" in text
    assert "left-to-right, no NSP: −0.6 in the paper, −5.1 ± 0.2 here, over 3 seeds – **same direction**" in text
    assert "BiLSTM: −1.1 in the paper, −0.7 ± 11.2 here, over 3 seeds – **unclear" in text


def test_one_seed_tells_no_direction(results):
    objectives(results, {"no-nsp": (-0.2,)})
    text = text_of(open_page())
    assert "−20.0 here, from a single seed – **unclear" in text


def test_what_was_scaled_down_is_counted(results):
    objectives(results, {"no-nsp": (0.0, 0.0, 0.0)})
    app = open_page()
    table = app.table[0].value
    assert list(table["times fewer"])[:2] == [
        "109",
        "32,768",
    ]  # 109,482,240 / 1,000,000 and 131,072,000,000 / 4,000,000
    text = text_of(app)
    assert "SST-2 5,000 (measured on 872)" in text
    assert "6 runs with 3 seeds, 6.0 hours" in text
    assert "<b>" not in "\n".join(block.value for block in app.markdown if "hours" in block.value)
    assert any(block.value == "python -m minibert experiment objectives --seeds 3" for block in app.code)


def test_only_the_newest_scale_is_shown(results):
    old = [record("objectives", "mlm+nsp", 0, {"sst2": 0.1}, scale={**Scale().as_dict(), "tokens": 5})]
    write(results, "objectives", [*old, record("objectives", "mlm+nsp", 0, {"sst2": 0.7})])
    assert "1 run with 1 seed" in text_of(open_page())


def test_without_the_base_there_is_no_difference(results):
    write(results, "objectives", [record("objectives", "no-nsp", 0, {"sst2": 0.7})])
    assert "base arm has not been run" in open_page().info[0].value


def test_a_broken_results_file_is_named(results):
    (results / "objectives.jsonl").write_text("nonsense\n\n")
    assert "line 1: not a record" in plain(open_page().error[0].value)


def test_steps_and_perplexity(results):
    arms = [arm.name for arm in EXPERIMENTS["steps"].arms]
    write(
        results,
        "steps",
        [record("steps", a, s, {"sst2": 0.8 - 0.01 * i - 0.001 * s}) for i, a in enumerate(arms) for s in (0, 1)],
    )
    text = text_of(open_page(experiment="steps"))
    assert "Of 5 directions in the paper, ours agree in 5" in text
    sizes = ("2/128/2", "1/128/2")
    values = {"2/128/2": 40.0, "1/128/2": 50.0}
    write(
        results,
        "size",
        [record("size", a, s, {"mlm_perplexity": values[a] + s, "sst2": 0.7}) for a in sizes for s in (0, 1)],
    )
    app = open_page(experiment="size")
    assert "+1.2 in the paper, +10.0 ± 0.0 here, over 2 seeds – **same direction**" in text_of(app)
    assert any("Lower is better" in caption.value for caption in app.caption)


def test_the_toy_world_is_as_large_as_the_lesson_says():
    words = [token for token in toy_world.vocabulary() if token.isalpha()]
    assert round(len(words), -2) == 400 and "about four hundred words" in LESSON.section("Run a small one now")[1]


def test_a_small_run_is_offered_for_every_arm(results):
    for name, experiment in EXPERIMENTS.items():
        app = open_page(experiment=name)
        assert len(app.selectbox(key=f"arm-{name}").options) == sum(arm.at == 1.0 for arm in experiment.arms)


def test_the_shipped_results_are_drawn(monkeypatch, tmp_path):
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path))
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    for name in EXPERIMENTS:
        app = open_page(experiment=name)
        assert not app.error
        if (LESSONS / "results" / f"{name}.jsonl").exists():
            assert "What was scaled down" in text_of(app)


def test_the_papers_numbers_are_about_our_arms():
    for name, experiment in EXPERIMENTS.items():
        paper, arms = PAPER[name], {arm.name for arm in experiment.arms}
        assert set(paper["arms"]) == arms
        assert next(iter(paper["arms"])) == experiment.base.name
        for column in paper["column"]:
            assert set(column.get("values", column.get("signs"))) <= arms
            assert column["ours"] in experiment.tasks or (column["ours"] == "mlm_perplexity" and experiment.heldout)
            assert column["ours"] in {*TASKS, "mlm_perplexity"}


def test_the_masking_table_is_the_one_of_the_masking_lesson():
    rows = (LESSONS / "masking" / "table8.csv").read_text().splitlines()[1:]
    columns = {column["ours"]: column["values"] for column in PAPER["masking"]["column"]}
    for row in rows:
        mask, same, random, mnli, ner, features = row.split(",")
        arm = f"{mask}/{same}/{random}"
        assert [columns[key][arm] for key in ("sst2", "ner", "ner_features")] == [
            float(mnli), float(ner), float(features),
        ]  # fmt: skip


def test_every_section_is_placed():
    source = (ROOT / "pages" / "experiments.py").read_text(encoding="utf-8")
    assert all(f'"{heading}"' in source for heading in LESSON.sections)
