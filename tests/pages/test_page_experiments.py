"""The page of the paper's experiments: what it says of recorded results, made up and shipped, and of missing ones."""

import json
import math
import tomllib
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from minibert.experiments.catalogue import EXPERIMENTS, TOY_SCALE, Scale
from minibert.experiments.results import by_arm, paired_difference, read_records
from minibert.toy import world as toy_world
from tests.pages import driver
from tests.pages.driver import ROOT, figure, link, plain, text_of
from tests.pages.recorded import write_records
from ui.lesson import LESSONS, Lesson

LESSON = Lesson("experiments")
open_page = partial(driver.open_page, "experiments")
real = partial(open_page, text="real")
toy = partial(open_page, text="toy")
TASK_DATA = ROOT.parent / "shared" / "data" / "tasks" / "en"
NAMES = [name for name, experiment in EXPERIMENTS.items() if not experiment.toy]
TOY = EXPERIMENTS["toy-world"]
PAPER = tomllib.loads((LESSONS / "experiments" / "paper.toml").read_text(encoding="utf-8"))


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIBERT_RESULTS", str(tmp_path))
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path / "runs"))
    return tmp_path


def record(experiment: str, arm: str, seed: int, metrics: dict, **changes) -> dict:
    chosen = next(one for one in EXPERIMENTS[experiment].arms if one.name == arm)
    scale = TOY_SCALE if experiment == "toy-world" else Scale()
    return {
        "experiment": experiment, "arm": arm, "seed": seed, "metrics": metrics, "steps": scale.step_at(chosen.at),
        "tokens": 4_000_000, "parameters": 1_000_000, "pretraining": asdict(chosen.pretraining),
        "pretraining_seconds": 3000.0, "finetuning_seconds": 600.0, "scale": scale.as_dict(),
        "examples": {"sst2": 5000}, "measured_on": {"sst2": 872}, "data": ["text.txt"],
        "command": f"python -m minibert experiment {experiment} --seeds 3",
        "machine": {"processor": "a <b>fast</b> one", "device": "cpu", "torch": "2", "date": "2020-01-01"}, **changes,
    }  # fmt: skip


def objectives(folder: Path, changes: dict[str, tuple[float, ...]]) -> None:
    """Base at 0.70, 0.72, 0.71; each arm that much above it, by seed."""
    base = (0.70, 0.72, 0.71)
    records = [record("objectives", "mlm+nsp", seed, {"sst2": base[seed]}) for seed in range(3)]
    for arm, gaps in changes.items():
        records += [record("objectives", arm, seed, {"sst2": base[seed] + gap}) for seed, gap in enumerate(gaps)]
    write_records(folder, "objectives", records)


FLOOR = {"determined": 0.25, "meant": 0.3, "meant_features": 0.3, "mlm_perplexity": 90.0}


def on_toy(folder: Path, values: dict[str, tuple[float, ...]], metric: str = "meant", **changes) -> None:
    """Arm → score by seed."""
    changes = {
        "floor": FLOOR,
        "data": ["small toy world"],
        "examples": {"meant": 1000},
        "measured_on": {"meant": 500},
    } | changes
    records = [
        record("toy-world", arm, seed, {metric: value}, **changes)
        for arm, seeds in values.items()
        for seed, value in enumerate(seeds)
    ]
    write_records(folder, "toy-world", records)


def test_missing_results_are_said_plainly_with_the_command(results):
    for name in NAMES:
        for open_one, experiment in ((real, name), (toy, "toy-world")):
            app = open_one(experiment=name)
            assert "No results of this experiment" in text_of(app)
            assert app.code[0].value == f"python -m minibert experiment {experiment} --seeds 3"
            assert not app.error


def test_a_link_made_before_there_was_a_toy_world_shows_real_text(results):
    objectives(results, {"no-nsp": (0.0, 0.0, 0.0)})
    on_toy(results, {"mlm": (0.6, 0.61)})
    assert "always “positive”" not in drawn(open_page())  # the menu: the toy world
    assert "always the first one named" in drawn(open_page())
    for old in ({"experiment": "objectives"}, {"measure-objectives": "sst2"}, {"experiment": "nothing"}):
        assert "SST-2" in figure(open_page(**old), "scores")["layout"]["xaxis"]["title"]["text"]
    app = open_page()  # what is chosen on the new page is in its link
    app.pills(key="experiment").set_value("size").run()
    assert link(app, "text") == "toy" and link(app, "experiment") == "size"


def drawn(app, key: str = "scores") -> str:
    """The names in a figure's legend."""
    return " ".join(trace.get("name") or "" for trace in figure(app, key)["data"])


def test_directions_are_judged_by_the_interval(results):
    objectives(
        results,
        {
            "no-nsp": (0.010, 0.012, 0.011),  # the paper: −0.1
            "left-to-right": (-0.05, -0.051, -0.052),  # the paper: −0.6
            "left-to-right+bilstm": (-0.05, 0.04, -0.01),  # the paper: −1.1
        },
    )
    app = real()
    text = text_of(app)
    assert title_of(app, "differences") == "4 directions in the paper: agree 1, disagree 1, unclear 2"
    assert "no NSP: −0.1 in the paper, +1.1 ± 0.2 here, over 3 seeds – **other direction**" in text
    assert "left-to-right, no NSP: −0.6 in the paper, −5.1 ± 0.2 here, over 3 seeds – **same direction**" in text
    assert "BiLSTM: −1.1 in the paper, −0.7 ± 11.2 here, over 3 seeds – **unclear" in text
    assert title_of(app) == "Best here: no NSP 72.1 · in the paper: BERT base: MLM + NSP 92.7"


def title_of(app, key: str = "scores") -> str:
    return driver.title_of(app, key)


def test_the_papers_numbers_ours_and_the_floor_share_a_scale(results):
    on_toy(results, {"mlm": (0.62, 0.64), "left-to-right": (0.8, 0.78), "left-to-right+bilstm": (0.95, 0.94)})
    app = toy(experiment="objectives")
    fig = figure(app, "scores")
    low, high = fig["layout"]["xaxis"]["range"]
    assert low < 30 and high > 95 and "xaxis2" not in fig["layout"]
    shown = [trace["x"] for trace in fig["data"] if trace["mode"] == "markers+text"]
    assert shown == [[87.9], [77.8], [84.9]]
    assert [shape["x0"] for shape in fig["layout"]["shapes"]] == [30]
    assert title_of(app) == "Best here: left-to-right + BiLSTM 94.5 · in the paper: masked, no NSP 87.9"
    assert "left-to-right + BiLSTM, against left-to-right, no NSP: +7.1 in the paper" in text_of(app)


def test_the_bilstm_is_compared_with_left_to_right_too(results):
    """The paper's point about it, SQuAD 77.8 → 84.9, is lost beside the base: 84.9 is below that as well."""
    on_toy(results, {"mlm": (0.85, 0.86), "left-to-right": (0.7, 0.71), "left-to-right+bilstm": (0.8, 0.81)})
    app = toy(experiment="objectives")
    text = text_of(app)
    assert "- left-to-right + BiLSTM: −3.0 in the paper, −5.0 ± 0.0 here, over 2 seeds – **same direction**" in text
    assert "against left-to-right, no NSP: +7.1 in the paper, +10.0 ± 0.0 here, over 2 seeds – **same" in text
    assert any("Where a row names another arm" in caption.value for caption in app.caption)
    labels = figure(app, "differences")["layout"]["yaxis"]["ticktext"]
    assert labels[1:] == ["left-to-right + BiLSTM", "left-to-right + BiLSTM<br>against left-to-right, no NSP"]


def test_equal_numbers_in_the_paper_are_said_to_be_equal(results):
    arms = {"segment-pair+nsp": 0.5, "full-sentences": 0.6}
    write_records(
        results, "formats", [record("formats", a, s, {"ner": f + 0.001 * s}) for a, f in arms.items() for s in (0, 1)]
    )
    app = real(experiment="formats")
    text = text_of(app)
    assert "0.0 in the paper, +10.0 ± 0.0 here, over 2 seeds – **no difference in the paper**" in text
    assert "no number in the paper" not in text and title_of(app) == "The paper’s numbers do not differ"
    assert "All measures together" not in text


def test_all_measures_are_summed_up(results):
    gaps = {"mlm+nsp": (0.0, 0.0, 0.0), "no-nsp": (0.02, 0.02, 0.021), "left-to-right": (-0.02, -0.02, -0.021)}
    unclear = (0.05, -0.05, 0.01)
    write_records(
        results,
        "objectives",
        [
            record("objectives", arm, s, {"sst2": 0.7 + gap[s], "mrpc": 0.7 + gap[s] * unclear[s], "ner": 0.5})
            for arm, gap in gaps.items()
            for s in range(3)
        ],
    )
    assert (
        "All measures together: in 6 comparisons the paper tells a direction. In 2 of them no verdict can be had here: "
        "in 0 too little was learned, in 2 the paper measured another task. Of the other 4, ours point the same way in "
        "1, the other way in 1, and are unclear in 2**" in text_of(real())
    )


def test_where_too_little_was_learned_there_is_no_verdict(results):
    """However far apart the seeds say two arms are."""

    def page(base: float, floor: float = 0.3):
        on_toy(
            results,
            {"mlm": (base, base + 0.001), "left-to-right": (base - 0.05, base - 0.049)},
            floor=FLOOR | {"meant": floor},
        )
        return toy(experiment="objectives")

    app = page(0.53)  # (53.05 − 30) / 70: just less than a third
    assert (
        title_of(app)
        == title_of(app, "differences")
        == ("No verdict: the best arm has learned 33% of what can be learned")
    )
    assert "−5.0 ± 0.0 here, over 2 seeds – **no verdict: too little learned**" in text_of(app)
    assert "less than a third: **too little for a verdict.**" in text_of(app)
    assert title_of(page(0.55), "differences") == "1 direction in the paper: agree 1"
    assert title_of(page(0.25)) == "No verdict: no arm does better than always the first one named"


def test_where_the_paper_has_another_task_there_is_no_verdict_on_real_text(results):
    arms = {"mlm+nsp": 0.5, "left-to-right": 0.4}
    write_records(
        results,
        "objectives",
        [record("objectives", a, s, {"ner": f + 0.001 * s}) for a, f in arms.items() for s in (0, 1)],
    )
    app = real(**{"measure-objectives": "ner"})
    assert title_of(app) == "No verdict: the paper measured another task (SQuAD F1)"
    assert "**no verdict: another task in the paper**" in text_of(app)


def test_what_needs_no_understanding_stands_beside_the_figure(results):
    def page(**changes):
        metrics = {"mrpc": 0.67}
        changes = {"measured_on": {"mrpc": 1725}, "examples": {"mrpc": 4076}} | changes
        records = [record("objectives", "mlm+nsp", 0, metrics, **changes)]
        write_records(results, "objectives", [*records, record("objectives", "no-nsp", 0, {"mrpc": 0.65}, **changes)])
        return real()

    app = page()
    assert "Always answering “paraphrase” is right in 66.5 %." in text_of(app)
    assert "Of the way from there to BERT base (86.7), the best arm has gone 3%" in text_of(app)
    assert [shape["x0"] for shape in figure(app, "scores")["layout"]["shapes"]] == [66.49]
    assert "always “paraphrase”" in drawn(app)
    for changes in ({"measured_on": {"mrpc": 90}}, {"command": "python -m minibert experiment x --tasks mine"}):
        other = page(**changes)  # counted on other pairs: nothing is claimed
        assert "Always answering" not in text_of(other) and not figure(other, "scores")["layout"].get("shapes")
        assert "always “paraphrase”" not in drawn(other)


def test_one_seed_tells_no_direction(results):
    objectives(results, {"no-nsp": (-0.2,)})
    text = text_of(real())
    assert "−20.0 here, from a single seed – **unclear" in text


def test_what_was_scaled_down_is_counted(results):
    objectives(results, {"no-nsp": (0.0, 0.0, 0.0)})
    app = real(part="What was scaled down")
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
    write_records(results, "objectives", [*old, record("objectives", "mlm+nsp", 0, {"sst2": 0.7})])
    assert "1 run with 1 seed" in text_of(real(part="What was scaled down"))


def test_without_the_base_there_is_no_difference(results):
    write_records(results, "objectives", [record("objectives", "no-nsp", 0, {"sst2": 0.7})])
    assert "base arm has not been run" in real().info[0].value


def test_a_broken_results_file_is_named(results):
    (results / "objectives.jsonl").write_text("nonsense\n\n")
    assert "line 1: not a record" in plain(real().error[0].value)


def test_steps_and_perplexity(results):
    arms = [arm.name for arm in EXPERIMENTS["steps"].arms]
    write_records(
        results,
        "steps",
        [record("steps", a, s, {"sst2": 0.8 - 0.01 * i - 0.001 * s}) for i, a in enumerate(arms) for s in (0, 1)],
    )
    app = real(experiment="steps")
    assert title_of(app, "over-steps") == "No verdict: the paper measured another task (MNLI accuracy)"
    assert "left-to-right, 1/16, against MLM + NSP, 1/16: lower in the paper, −5.0 ± 0.0 here" in text_of(app)
    toy_arms = PAPER["toy"]["steps"]["arms"]
    on_toy(results, {arm: (0.8 - 0.01 * i, 0.799 - 0.01 * i) for i, arm in enumerate(toy_arms)})
    app = toy(experiment="steps")
    assert title_of(app, "over-steps") == "5 directions in the paper: agree 5"
    lines = [trace["x"] for trace in figure(app, "over-steps")["data"] if trace.get("mode") == "lines+markers"]
    assert lines == [[80, 160, 320]] * 2
    sizes = ("2/128/2", "1/128/2")
    values = {"2/128/2": 40.0, "1/128/2": 50.0}
    write_records(
        results,
        "size",
        [record("size", a, s, {"mlm_perplexity": values[a] + s, "sst2": 0.7}) for a in sizes for s in (0, 1)],
    )
    app = real(experiment="size")
    assert "+1.2 in the paper, +10.0 ± 0.0 here, over 2 seeds – **same direction**" in text_of(app)
    assert any("Lower is better" in caption.value for caption in app.caption)


def test_the_toy_world_is_as_large_as_the_lesson_says():
    words = [token for token in toy_world.vocabulary() if token.isalpha()]
    assert round(len(words), -2) == 400 and "about four hundred words" in LESSON.section("Run a small one now")[1]


def test_a_run_is_offered_for_every_arm_of_the_on_toy(results):
    for name in NAMES:
        for open_one in (real, toy):
            app = open_one(experiment=name, part="Run one now")
            assert len(app.selectbox(key=f"arm-{name}").options) == len(PAPER["toy"][name]["arms"])


@pytest.fixture
def own(results, runs_folder):
    """Makes a run of one's own that has ended, of an arm, with these events behind what it began with."""
    from jobs.run import Run
    from ui.runs import manager

    def make(arm: str, *events: dict, kind: str = "experiment/toy-world"):
        run = Run(manager(), manager().directory, results.name, f"{arm} · seed 3", kind, "none")
        run.store()
        begun = {"event": "started", "settings": {"arm": arm, "seed": 3}, "details": {}}
        lines = [{"number": i, "time": run.created, **event} for i, event in enumerate([begun, *events])]
        run.add([json.dumps(line) for line in lines])
        run.change("finished")
        manager()._runs[run.id] = run

    return make


def steps_of(loss: float, **parts) -> tuple[dict, ...]:
    step = {"event": "step", "step": 10, "progress": 0.5, "loss": loss, "tokens_per_second": 9.0, "parts": parts}
    tuning = {"event": "stage", "arm": "x", "seed": 3, "stage": "meant", "progress": 0.8}
    return (step, tuning, {**step, "step": 5, "loss": 0.125, "parts": {}})


def test_losses_share_a_scale_only_where_the_same_is_asked(own, results):
    """And a curve is of the tokens' loss alone, without NSP, and ends where something else is trained."""
    own("mlm", *steps_of(4.5, mlm_loss=4.5))
    own("1/128/2", *steps_of(4.75, mlm_loss=4.75))
    own("left-to-right", *steps_of(2.0))
    own("segment-pair+nsp", *steps_of(5.5, mlm_loss=4.25, nsp_loss=1.25))
    own("100/0/0", *steps_of(4.0, mlm_loss=4.0))
    app = toy(experiment="objectives", part="Run one now", owner=results.name)
    fig = figure(app, "loss")
    axes = {trace["name"].split(" · ")[1]: (trace["yaxis"], trace["y"]) for trace in fig["data"]}
    assert axes["mlm"][0] == axes["1/128/2"][0]  # the same question, by a smaller model
    assert len({axis for axis, _ in axes.values()}) == 4
    assert axes["segment-pair+nsp"][1] == [4.25] and axes["left-to-right"][1] == [2.0]
    assert "do not compare" in title_of(app, "loss")


def test_a_run_of_ones_own_is_a_star_among_the_recorded(own, results):
    on_toy(results, {"mlm": (0.62, 0.64), "left-to-right": (0.8, 0.78)})
    measured = {"event": "eval", "step": 320, "metrics": {"meant": 0.7, "determined": 0.66}}
    own("left-to-right", *steps_of(2.0), measured, {"event": "done", "step": 320, "metrics": measured["metrics"]})
    own("80/10/10", {"event": "eval", "step": 9, "metrics": {"heldout_loss": 4.6}}, kind="experiment/masking")  # older
    app = toy(experiment="objectives", part="Run one now", owner=results.name)
    stars = [t["x"] for t in figure(app, "scores")["data"] if t.get("marker", {}).get("symbol") == "star" and t["x"][0]]
    assert stars == [[70]]
    table = app.table[-1].value
    assert list(table.iloc[:, -2:].iloc[0]) == ["66.0", "70.0"] and len(table) == 1
    assert not any(
        t.get("marker", {}).get("symbol") == "star"
        for t in figure(toy(experiment="size", owner=results.name), "scores")["data"]
    )


def test_kinds_of_words_stand_beside_each_other(results):
    metrics = [
        {"meant": 0.6, "determined": 0.5, "determined.article": a, "determined.name": n}
        for a, n in ((0.9, 0.6), (0.4, 0.5))
    ]
    arms = ("mlm", "left-to-right", "left-to-right+bilstm")
    scores = dict(zip(arms, (*metrics, metrics[1]), strict=True))
    write_records(
        results, "toy-world", [record("toy-world", a, s, m, floor=FLOOR) for a, m in scores.items() for s in (0, 1)]
    )
    app = toy(experiment="objectives", part="Word by word")
    fig = figure(app, "kinds")
    assert title_of(app, "kinds") == "Widest apart in “a or an”: masked, no NSP 90, left-to-right, no NSP 40"
    assert {t["name"]: t["x"] for t in fig["data"] if t["type"] == "bar"} == {
        "masked, no NSP": [90, 60], "left-to-right, no NSP": [40, 50],
    }  # fmt: skip
    assert text_of(app).count("→ **") == 3  # questions of the task
    assert "choose it above" in real(experiment="objectives", part="Word by word").info[0].value


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_results_are_drawn(monkeypatch, tmp_path, name):
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path))
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    for open_one in (real, toy):
        app = open_one(experiment=name, part="What was scaled down")
        assert not app.error
        assert "What was scaled down" in text_of(app)
        assert figure(app, "over-steps" if name == "steps" else "scores")


def test_the_toy_worlds_base_has_learned_enough_for_a_verdict():
    """The reason to have it: less than a third of the way there would be none."""
    records = read_records(LESSONS / "results" / "toy-world.jsonl")
    for metric in ("meant", "determined"):
        base, floor = by_arm(records, metric)["mlm"], records[-1]["floor"][metric]
        assert (fmean(base.values()) - floor) / (1 - floor) > 1 / 3 and len(base) == 3


def test_the_lesson_tells_what_the_shipped_results_say_of_the_bilstm():
    found = by_arm(read_records(LESSONS / "results" / "objectives.jsonl"), "ner")
    ours = [100 * fmean(found[arm].values()) for arm in ("left-to-right", "left-to-right+bilstm")]
    said = "NER falls from {:.1f} to {:.1f}".format(*ours)
    assert said in LESSON.section("Objectives")[1] and said in (LESSON.folder / "quiz.toml").read_text("utf-8")
    assert paired_difference(found["left-to-right+bilstm"], found["left-to-right"]).clear
    there = by_arm(read_records(LESSONS / "results" / "toy-world.jsonl"), "meant")
    arms = there["left-to-right+bilstm"], there["left-to-right"]
    assert all(arms[0][seed] > arms[1][seed] for seed in arms[1]) and not paired_difference(*arms).clear
    assert "gains in every one of our seeds, but so unevenly" in (LESSON.folder / "quiz.toml").read_text("utf-8")


def test_the_guide_tells_what_the_shipped_results_say():
    """Larger models worse on real text, and no verdict; left-to-right ahead on the toy world, clearly."""
    found = by_arm(read_records(LESSONS / "results" / "size.jsonl"), "mlm_perplexity")
    assert fmean(found["4/256/4"].values()) > fmean(found["2/128/2"].values()) > 200
    there = by_arm(read_records(LESSONS / "results" / "toy-world.jsonl"), "meant")
    ahead = paired_difference(there["left-to-right"], there["mlm"])
    assert ahead.clear and ahead.mean > 0


@pytest.mark.skipif(not TASK_DATA.is_dir(), reason="the tasks are not in ../shared/data/tasks")
def test_the_commoner_answers_are_counted():
    rows = {
        "sst2": [line.split("\t")[1] for line in (TASK_DATA / "sst2" / "dev.tsv").read_text("utf-8").splitlines()[1:]],
        "mrpc": [line.split("\t")[0] for line in (TASK_DATA / "mrpc" / "test.tsv").read_text("utf-8").splitlines()[1:]],
    }
    for name, answers in rows.items():
        floor = PAPER["floor"][name]
        assert len(answers) == floor["of"]["measured_on"]
        assert Counter(answers).most_common(1) == [("1", round(floor["value"] * len(answers) / 100))]
        assert floor["value"] == round(100 * answers.count("1") / len(answers), 2)


@pytest.mark.release
@pytest.mark.skipif(not TASK_DATA.is_dir(), reason="the tasks are not in ../shared/data/tasks")
def test_lookup_and_frequencies_are_counted(tmp_path):
    from minibert.experiments.catalogue import Pretraining
    from minibert.experiments.corpus import CORPUS, prepare
    from minibert.experiments.finetuning import read_data
    from minibert.experiments.pretraining import batches_of
    from minibert.model import IGNORE
    from minibert.tasks.tagging import entity_scores, pieces_of
    from minibert.text.cooccurrence import frequencies

    texts, scale, floor = [TASK_DATA.parents[1] / "pretrain" / "en" / name for name in CORPUS], Scale(), PAPER["floor"]
    corpus = prepare(texts, scale.vocab_size, heldout=TASK_DATA.parents[1] / "heldout-text" / "valid.txt")

    def tagged(data):
        """Each sentence's words, in pieces, with their tags; as the results were recorded, without words that one row
        has no room for."""
        for example, words in zip(data.examples, pieces_of(corpus.tokenizer, data.examples), strict=True):
            ends = np.cumsum([len(word) for word in words])
            rows = zip(words, example.tags, ends, strict=True)
            yield [(tuple(word), tag) for word, tag, end in rows if end <= scale.max_length - 2]

    train, dev = read_data("ner", TASK_DATA, scale)
    seen = {}
    for word, tag in (pair for sentence in tagged(train) for pair in sentence):
        seen.setdefault(word, Counter())[tag] += 1
    usual = {word: tags.most_common(1)[0][0] for word, tags in seen.items()}
    guesses = [[usual.get(word, "O") for word, _ in sentence] for sentence in tagged(dev)]
    truth = [[tag for _, tag in sentence] for sentence in tagged(dev)]
    f1 = entity_scores(truth, guesses)["f1"]
    assert round(100 * f1, 2) == floor["ner"]["value"] == floor["ner_features"]["value"]
    sizes = len(dev.examples), len(train.examples)
    assert sizes == (floor["ner"]["of"]["measured_on"], floor["ner"]["of"]["examples"])

    counts = frequencies(corpus.store, corpus.tokenizer.vocab_size) + 1.0
    nats = read = asked = 0
    for batch in batches_of(Pretraining(objective="mlm"), corpus.heldout, corpus.tokenizer, scale, seed=0):
        hidden = batch.labels[batch.labels != IGNORE].numpy()
        nats -= np.log(counts[hidden] / counts.sum()).sum()
        asked, read = asked + len(hidden), read + batch.tokens
        if read >= scale.heldout_tokens:
            break
    assert round(math.exp(nats / asked), 1) == floor["mlm_perplexity"]["value"]


def test_the_papers_numbers_are_about_our_arms():
    for name in NAMES:
        for paper, experiment in ((PAPER[name], EXPERIMENTS[name]), (PAPER["toy"][name], TOY)):
            known, arms = {arm.name for arm in experiment.arms}, set(paper["arms"])
            assert arms <= known if experiment.toy else arms == known
            assert experiment.toy or next(iter(paper["arms"])) == experiment.base.name
            assert {arm for pair in paper.get("against", {}).items() for arm in (pair[0], *pair[1])} <= arms
            for column in paper["column"]:
                assert set(column.get("values", column.get("signs"))) <= arms
                assert all(len(paper.get("against", {}).get(arm, [0])) == 1 for arm in column.get("signs", ()))
                heldout = {"mlm_perplexity"} if experiment.heldout else set()
                heldout |= {"determined"} if experiment.toy else set()
                assert column["ours"] in {*experiment.tasks, *heldout}
                assert column["ours"] in PAPER["toy_best" if experiment.toy else "bert_base"]
    assert {arm for name in NAMES for arm in PAPER["toy"][name]["arms"]} == {arm.name for arm in TOY.arms}


def test_what_is_another_task_is_said_of_real_text():
    """The paper's MNLI and SQuAD are not our SST-2, MRPC and NER."""
    for name in NAMES:
        for column in PAPER[name]["column"]:
            task = {"sst2": "SST-2", "mrpc": "MRPC", "ner": "NER", "ner_features": "NER", "mlm_perplexity": "MLM"}
            assert column.get("other_task", False) == (
                task[column["ours"]] not in column["name"] or "and" in column["name"]
            )


def test_the_toy_worlds_columns_have_the_papers_numbers():
    """As in the columns that stand beside real text, and table 5's row without NSP."""
    theirs = {name: {c["name"]: c["values"] for c in PAPER[name]["column"] if "values" in c} for name in NAMES}
    same = {"mlm": {"objectives": "no-nsp", "masking": "80/10/10", "size": "2/128/2", "formats": "doc-sentences"}}
    compared = 0
    for name in NAMES:
        for column in PAPER["toy"][name]["column"]:
            for arm, value in column.get("values", {}).items():
                assert theirs[name][column["name"]][same.get(arm, {}).get(name, arm)] == value
                compared += 1
    assert compared == 14


def test_the_masking_table_is_the_one_of_the_masking_lesson():
    rows = (LESSONS / "masking" / "table8.csv").read_text().splitlines()[1:]
    columns = {column["ours"]: column["values"] for column in PAPER["masking"]["column"]}
    for row in rows:
        mask, same, random, mnli, ner, features = row.split(",")
        arm = f"{mask}/{same}/{random}"
        assert [columns[key][arm] for key in ("sst2", "ner", "ner_features")] == [
            float(mnli), float(ner), float(features),
        ]  # fmt: skip


def test_each_size_stands_beside_its_row_of_the_table():
    """Table 6 of Devlin et al. 2019: MLM perplexity, MRPC, SST-2."""
    table = {
        "2/128/2": (4.68, 84.8, 91.3),  # 6/768/12
        "1/128/2": (5.84, 79.8, 88.4),  # 3/768/12
        "2/128/1": (5.24, 82.2, 90.7),  # 6/768/3
        "4/128/2": (3.99, 86.7, 92.9),  # 12/768/12
        "4/256/4": (3.54, 86.9, 93.3),  # 12/1024/16
    }
    columns = {column["ours"]: column for column in PAPER["size"]["column"]}
    for arm, numbers in table.items():
        assert tuple(columns[key]["values"][arm] for key in ("mlm_perplexity", "mrpc", "sst2")) == numbers
    assert "values" not in columns["ner"]


def test_every_section_is_placed():
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sections" / "experiments").glob("*.py"))
    assert all(f'"{heading}"' in source for heading in LESSON.sections)


def test_what_bert_reached_is_the_paper_s_and_leads_to_a_task_of_ours():
    from minibert.tasks import TASKS

    rows = tomllib.loads((LESSONS / "experiments" / "results.toml").read_text(encoding="utf-8"))["row"]
    scores = {row["name"].split(":")[0].split(",")[0]: (row["score"], row["gain"]) for row in rows}
    wanted = {"GLUE": (80.5, 7.7), "MultiNLI": (86.7, 4.6), "SQuAD 1.1": (93.2, 1.5), "SQuAD 2.0": (83.1, 5.1)}
    assert wanted.items() <= scores.items()  # those of the abstract
    assert all(row["task"] in TASKS and row["gain"] > 0 for row in rows)
    app = open_page(part="What BERT reached")
    drawn = figure(app, "reached")
    before, after = (trace["x"] for trace in drawn["data"] if trace.get("mode") == "markers+text")
    assert list(after) == [row["score"] for row in rows]
    assert [round(b - a, 1) for a, b in zip(before, after, strict=True)] == [row["gain"] for row in rows]
