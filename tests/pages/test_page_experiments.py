"""The page of the paper's experiments: what it says of recorded results, made up and shipped, and of missing ones."""

import re
import tomllib
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pytest

from minibert.experiments import claims
from minibert.experiments.catalogue import EXPERIMENTS, Scale
from minibert.experiments.results import by_arm, paired_difference, read_records
from minibert.tasks import TASKS
from sections.experiments import one_scale, subject
from tests.pages import driver
from tests.pages.driver import assert_no_markup, figure, text_of, title_of
from tests.pages.finished_runs import ended
from tests.pages.recorded import write_records
from ui.claim import verdict_words
from ui.lesson import LESSONS

open_page = partial(driver.open_page, "experiments")
TOY, LEARNED = EXPERIMENTS["toy-world"], EXPERIMENTS["which-side"]
PAPER = claims.tables()
NAMES = [*subject.experiment_names()]
FLOOR = {"determined": 0.25, "meant": 0.3, "meant_features": 0.3, "mlm_perplexity": 90.0}


def record(experiment: str, arm: str, seed: int, metrics: dict, **changes) -> dict:
    chosen = EXPERIMENTS[experiment].arms[arm]
    scale = EXPERIMENTS[experiment].scale
    return {
        "experiment": experiment,
        "arm": arm,
        "seed": seed,
        "metrics": metrics,
        "steps": scale.step_at(chosen.at),
        "tokens": 4_000_000,
        "parameters": 1_000_000,
        "pretraining": asdict(chosen.pretraining),
        "pretraining_seconds": 3000.0,
        "finetuning_seconds": 600.0,
        "scale": asdict(scale),
        "examples": {"meant": 3000},
        "measured_on": {"meant": 500},
        "floor": FLOOR,
        "data": ["text.txt"],
        "command": f"python -m minibert experiment {experiment} --seeds 3",
        "machine": {"processor": "a <b>fast</b> one", "device": "cpu", "torch": "2", "date": "2020-01-01"},
        **changes,
    }


def recorded(folder: Path, name: str, values: dict[str, dict[str, tuple[float, ...]]]) -> None:
    """values: arm → metric → score by seed."""
    records = [
        record(name, arm, seed, {metric: found[seed] for metric, found in metrics.items()})
        for arm, metrics in values.items()
        for seed in range(len(next(iter(metrics.values()))))
    ]
    write_records(folder, name, records)


def page(folder: Path, experiment: str, values: dict[str, dict[str, tuple[float, ...]]], **link):
    """The page of an experiment, with these records of its arms: arm → metric → score by seed."""
    recorded(folder, PAPER[experiment]["results"], values)
    return open_page(experiment=experiment, **link)


def who_is_meant(values: dict[str, tuple[float, ...]]) -> dict[str, dict[str, tuple[float, ...]]]:
    return {arm: {"meant": seeds} for arm, seeds in values.items()}


def opened(app):
    """The same app where the differences are."""
    return driver.part(app, "What may be said")


def compared(app) -> list[tuple[str, float | None, float, float | None]]:
    """Of each comparison: its verdict, the paper's difference (None: its sign alone), ours, and half its interval."""
    opened(app)
    keys = {words: key for key, words in verdict_words().items()}
    found = []
    for row in [row for t in app.table if "verdict" in t.value for row in t.value.to_dict("records")]:
        ours, half = re.match(r"([+−][\d.]+)(?: ± ([\d.]+))?", row["here"]).groups()
        theirs = row["paper"] if row["paper"][0] in "+−" else None
        numbers = (n and float(n.replace("−", "-")) for n in (theirs, ours, half))
        found.append((keys[row["verdict"][2:].strip("*")], *numbers))
    return found


@pytest.mark.parametrize(("name", "experiment"), [("size", "toy-world"), ("steps", "which-side")])
def test_where_results_are_missing_the_command_stands_and_a_broken_file_is_named(results, name, experiment):
    app = open_page(experiment=name)
    assert app.code[0].value == f"python -m minibert experiment {experiment} --seeds 3" and not app.error
    (results / f"{experiment}.jsonl").write_text("nonsense\n\n")
    assert len(app.run().error) == 1


@pytest.mark.parametrize("text", ["real", "toy"])
def test_an_old_link_that_names_a_text_opens_its_experiment(results, text):
    values = {arm: {"determined": (0.6, 0.7), "meant": (0.8, 0.9)} for arm in ("mlm", "1/128/2")}
    app = page(results, "size", values, text=text, **{"measure-size": "mrpc"})
    assert app.session_state["experiment"] == "size" and app.session_state["measure-size"] == "determined"
    assert not app.error and figure(app, "scores")


def test_directions_are_judged_by_the_interval_and_what_was_scaled_down_is_counted(results):
    scores = {
        "mlm": (0.84, 0.86, 0.85),
        "left-to-right": (0.79, 0.809, 0.798),  # the paper: −10.1
        "left-to-right+bilstm": (0.79, 0.90, 0.84),  # −3 and +7.1
    }
    app = page(results, "objectives", who_is_meant(scores))
    assert compared(app) == [
        ("agrees", -10.1, -5.1, 0.2),
        ("unclear", -3.0, -0.7, 11.2),
        ("unclear", 7.1, 4.4, 11.3),
    ]
    assert re.findall(r"\d+", title_of(app, "differences")) == ["3", "1", "2"]
    driver.part(app, "What was scaled down")  # 109,482,240 and 131,072,000,000 and 42,598,400,000, / 1 and 4 million
    assert list(app.table[-1].value["times fewer"])[:3] == ["109", "32,768", "10,650"]
    assert re.search(r"\b3,000 \D+500\b", text_of(app))
    assert re.search(r"\b9 runs\D+3\D+6\.5 ", text_of(app))  # of three arms two share a pre-training
    assert any(block.value == "python -m minibert experiment which-side --seeds 3" for block in app.code)
    assert_no_markup(app)


# The paper's point about the BiLSTM, SQuAD 77.8 → 84.9, is lost beside the base: 84.9 is below that as well.
BILSTM = {"mlm": (0.85, 0.86), "left-to-right": (0.8, 0.81), "left-to-right+bilstm": (0.83, 0.84)}
EQUAL = {"segment-pair+nsp": (0.5, 0.501), "mlm": (0.6, 0.601)}


@pytest.mark.parametrize(
    ("name", "scores", "said"),
    [
        ("objectives", BILSTM, [("agrees", -3.0, -2.0, 0.0), ("agrees", 7.1, 3.0, 0.0)]),
        ("formats", EQUAL, [("no difference in the paper", 0.2, 10.0, 0.0)]),
        ("objectives", {"mlm": [0.85], "left-to-right": [0.5]}, [("unclear", -10.1, -35.0, None)]),
    ],
    ids=["against another arm too", "equal in the paper", "one seed"],
)
def test_a_comparison_has_its_verdict(results, name, scores, said):
    assert compared(page(results, name, who_is_meant(scores)))[-len(said) :] == said


def test_all_measures_are_summed_up(results):
    right = {"determined": (0.7, 0.71, 0.7), "determined.after": (0.6, 0.61, 0.6), "meant": (0.85, 0.86, 0.85)}
    gaps = {"determined": (-0.02, -0.02, -0.021), "determined.after": (0.02, 0.02, 0.021), "meant": (0.1, -0.1, 0.02)}
    other = {metric: [a + b for a, b in zip(seeds, gaps[metric], strict=True)] for metric, seeds in right.items()}
    app = opened(page(results, "objectives", {"mlm": right, "left-to-right": other}))
    said = re.search(r"^\*\*All measures.*$", text_of(app), re.MULTILINE)[0]
    assert list(map(int, re.findall(r"\d+", said))) == [3, 1, 1, 1]  # in all; for, against, unclear


def test_where_too_little_was_learned_there_is_no_verdict(results):
    """However far apart the seeds say two arms are."""

    def with_base(base: float):
        pair = {"mlm": (base, base + 0.001), "left-to-right": (base - 0.05, base - 0.049)}
        return page(results, "objectives", {arm: {"determined": seeds} for arm, seeds in pair.items()})

    app = with_base(0.503)  # (50.35 − 25.69) / (100 − 25.69): just less than a third
    assert "33%" in text_of(app) and figure(app, "scores") is None  # told, not drawn
    assert "33%" in title_of(opened(app), "differences")
    (row,) = compared(app)
    assert (row[0], *row[2:]) == ("too little learned", -5.0, 0.0)
    assert [one[0] for one in compared(with_base(0.51))] == ["agrees"]
    assert [one[0] for one in compared(with_base(0.25))] == ["too little learned"]


def test_what_needs_no_understanding_stands_beside_the_figure(results, monkeypatch):
    monkeypatch.setitem(PAPER["objectives"], "floors", {"meant": 40.0})
    values = who_is_meant({"mlm": (0.46,)})
    app = page(results, "objectives", values)
    # the floor, how far from there to everything
    assert re.search(r"40\.0\D+ 10%\D+100\.", text_of(opened(app)))
    drawn = figure(page(results, "objectives", values), "scores")
    assert {shape["x0"] for shape in drawn["layout"]["shapes"]} == {0}  # the scale is the way from there to all right
    theirs = [trace["x"][0] for trace in drawn["data"] if trace["mode"] == "markers+text"]
    assert theirs == [pytest.approx(100 * (87.9 - 20.2) / (100 - 20.2))]


def test_only_the_newest_scale_is_shown_and_without_the_base_no_difference(results):
    old = [record("which-side", "mlm", 0, {"meant": 0.1}, scale={**asdict(Scale()), "tokens": 5})]
    write_records(results, "which-side", [*old, record("which-side", "left-to-right", 0, {"meant": 0.7})])
    app = opened(open_page())
    assert app.info and figure(app, "differences") is None
    assert "1 run with 1 seed" in text_of(driver.part(app, "What was scaled down"))


def test_steps_and_perplexity(results):
    scores = {arm: {"determined": (0.8 - 0.01 * i, 0.799 - 0.01 * i)} for i, arm in enumerate(PAPER["steps"]["arms"])}
    app = page(results, "steps", scores)
    lines = [trace["x"] for trace in figure(app, "over-steps")["data"] if trace.get("mode") == "lines+markers"]
    assert lines == [[400, 800, 1600, 3200]] * 2
    assert [row[0] for row in compared(app)] == ["agrees"] * 7
    values = {"mlm": (4.0, 4.1), "1/128/2": (5.0, 5.1)}
    app = page(results, "size", {arm: {"mlm_perplexity": found, "meant": (0.7, 0.7)} for arm, found in values.items()})
    assert compared(app) == [("agrees", 1.2, 1.0, 0.0)]


def own(owner: str, arm: str, *events: dict, kind: str = "experiment/toy-world") -> None:
    """A run of one's own that has ended, of an arm, with these events behind what it began with."""
    from jobs.run import Run
    from ui.runs import manager

    run = Run(manager(), manager().directory, owner, f"{arm} · seed 3", kind, "none")
    ended(run, [{"event": "started", "settings": {"arm": arm, "seed": 3}, "details": {}}, *events], {})


def steps_of(loss: float, **parts) -> tuple[dict, ...]:
    step = {"event": "step", "step": 10, "progress": 0.5, "loss": loss, "tokens_per_second": 9.0, "parts": parts}
    tuning = {"event": "stage", "arm": "x", "seed": 3, "stage": "meant", "progress": 0.8}
    return (step, tuning, {**step, "step": 5, "loss": 0.125, "parts": {}})


def test_losses_share_a_scale_only_where_the_same_is_asked(results):
    """And a curve is of the tokens' loss alone, without NSP, and ends where something else is trained."""
    own("one", "mlm", *steps_of(4.5, mlm_loss=4.5))
    own("one", "1/128/2", *steps_of(4.75, mlm_loss=4.75))
    own("one", "left-to-right", *steps_of(2.0))
    own("one", "segment-pair+nsp", *steps_of(5.5, mlm_loss=4.25, nsp_loss=1.25))
    own("one", "100/0/0", *steps_of(4.0, mlm_loss=4.0))
    fig = figure(open_page(experiment="objectives", part="Run one now", owner="one"), "loss")
    axes = {trace["name"].split(" · ")[1]: (trace["yaxis"], trace["y"]) for trace in fig["data"]}
    assert axes["mlm"][0] == axes["1/128/2"][0]  # the same question, by a smaller model
    assert len({axis for axis, _ in axes.values()}) == 4
    assert axes["segment-pair+nsp"][1] == [4.25] and axes["left-to-right"][1] == [2.0]


def test_a_run_of_ones_own_is_a_star_among_the_recorded_the_papers_and_the_floor(results):
    learned = {"mlm": (0.62, 0.64), "left-to-right": (0.8, 0.78), "left-to-right+bilstm": (0.95, 0.94)}
    recorded(results, "which-side", who_is_meant(learned))
    recorded(results, "toy-world", who_is_meant(dict.fromkeys(("mlm", "100/0/0"), (0.82, 0.84))))
    measured = {"event": "eval", "step": 320, "metrics": {"meant": 0.7, "determined": 0.66}}
    own("two", "mlm", *steps_of(2.0), measured, measured | {"event": "done"})
    older = {"event": "eval", "step": 9, "metrics": {"heldout_loss": 4.6}}
    own("two", "80/10/10", older, kind="experiment/masking")

    def stars(app):
        drawn = figure(app, "scores")["data"]
        return [t["customdata"] for t in drawn if t.get("marker", {}).get("symbol") == "star" and t["x"][0]]

    app = open_page(experiment="masking", owner="two")
    assert stars(app) == [[70]]
    longer = open_page(experiment="objectives", owner="two")  # recorded ten times as long
    assert not stars(longer)
    fig = figure(longer, "scores")
    assert [t["text"] for t in fig["data"] if t["mode"] == "markers+text"] == [["87.9"], ["77.8"], ["84.9"]]
    assert {shape["x0"] for shape in fig["layout"]["shapes"]} == {0}
    table = driver.part(app, "Run one now").table[-1].value
    assert list(table.iloc[:, -2:].iloc[0]) == ["66.0", "70.0"] and len(table) == 1


def test_kinds_of_words_stand_beside_each_other(results):
    kinds = {"mlm": (0.4, 0.6), "left-to-right": (0.9, 0.5), "left-to-right+bilstm": (0.9, 0.5)}
    values = {
        arm: {"meant": [0.6] * 2, "determined": [0.5] * 2, "determined.article": [a] * 2, "determined.name": [n] * 2}
        for arm, (a, n) in kinds.items()
    }
    app = page(results, "objectives", values, part="Word by word")
    fig = figure(app, "kinds")
    assert re.findall(r"\d+", title_of(app, "kinds")) == ["1", "2", "1"]  # ahead in one of two kinds, behind in one
    assert {t["name"]: t["x"] for t in fig["data"] if t["type"] == "bar"} == {
        "masked, no NSP": [60, 40],
        "left-to-right, no NSP": [50, 90],
    }
    assert text_of(app).count("→ **") == 3  # questions of the task


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_results_are_drawn_and_a_run_is_offered_for_every_arm(runs_folder, monkeypatch, name):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    app = open_page(experiment=name)
    assert not app.error
    drawn = figure(app, "over-steps" if name == "steps" else "scores")
    assert (drawn is None) == (name == "masking")  # of which too little was learned
    assert not driver.part(app, "What was scaled down").error
    assert not driver.part(app, "Run one now").error
    assert len(app.selectbox(key=f"arm-{name}").options) == len(set(PAPER[name]["arms"]) & set(TOY.arms))


def test_what_the_shipped_results_say_is_what_the_lesson_and_the_guide_tell():
    def shipped(name: str, metric: str):
        return by_arm(read_records(LESSONS / "results" / f"{name}.jsonl"), metric)

    # Once the toy world is learned, the masked model is ahead where a later word decides, and only there; who is meant
    # nothing is left to gain of. Of the masking splits too little was learned, and [MASK] alone scores higher.
    records = claims.recorded("objectives", read_records(LESSONS / "results" / "which-side.jsonl"))
    verdicts = {
        one.claim.metric: one.verdict
        for one in claims.judged("objectives", records)
        if (one.claim.arm, one.claim.base) == ("left-to-right", "mlm")
    }
    assert verdicts == {"determined": "agrees", "determined.after": "agrees", "meant": "nothing left to gain"}
    before, after = (
        paired_difference(there["mlm"], there["left-to-right"])
        for there in (shipped("which-side", f"determined.{side}") for side in ("before", "after"))
    )
    assert after.clear and after.mean > 0.5 and not before.clear and abs(before.mean) < 0.1
    (masks,) = claims.judged("masking", claims.recorded("masking", read_records(claims.results_of("masking"))), "meant")
    assert masks.verdict == "too little learned" and masks.ours.mean > 0


def test_the_papers_numbers_are_about_our_arms():
    for name in NAMES:
        paper, experiment = PAPER[name], EXPERIMENTS[PAPER[name]["results"]]
        arms = set(paper["arms"])
        assert arms <= set(experiment.arms)
        assert {arm for pair in paper.get("against", {}).items() for arm in (pair[0], *pair[1])} <= arms
        for column in paper["column"]:
            assert set(column.get("values", column.get("signs"))) <= arms
            assert all(len(paper.get("against", {}).get(arm, [0])) == 1 for arm in column.get("signs", ()))
            heldout = {"mlm_perplexity"} if experiment.heldout else set()
            assert column["metric"] in {*experiment.tasks, *heldout, "determined", "determined.after"}
            assert column["metric"] in PAPER["ceiling"]
    told = {arm for name in NAMES for arm in PAPER[name]["arms"]}
    assert told >= set(TOY.arms) and told <= {*TOY.arms, *LEARNED.arms}


def test_the_papers_numbers_are_those_of_its_tables():
    """Each arm's numbers are a row of the paper's table that is shown beside them."""
    rows = {  # of our arms
        "objectives": {"mlm": "no NSP", "left-to-right": "left-to-right", "left-to-right+bilstm": "with BiLSTM"},
        "masking": {"mlm": "80/10/10", "100/0/0": "100/0/0", "0/0/100": "0/0/100"},
        "size": {"mlm": "6/768/12", "1/128/2": "3/768/12", "4/128/2": "12/768/12 (base)"},
        "formats": {"segment-pair+nsp": "segment pair + NSP", "mlm": "doc sentences"},
    }
    columns = {
        ("objectives", "meant"): "SQuAD F1",
        ("masking", "meant"): "NER F1",
        ("masking", "meant_features"): "NER F1, features",
        ("size", "mlm_perplexity"): "MLM perplexity",
        ("formats", "meant"): "SQuAD 1.1",
    }
    checked, tables = 0, one_scale.papers_tables()
    for name in NAMES:
        for column in (column for column in PAPER[name]["column"] if "values" in column):
            of = tables[name]["columns"].index(columns[name, column["metric"]])
            printed = {row["name"]: row["values"][of] for row in tables[name]["rows"]}
            assert column["values"] == {arm: printed[row] for arm, row in rows[name].items()}
            checked += 1
    assert checked == len(columns)
    for row in (LESSONS / "masking" / "table8.csv").read_text().splitlines()[1:]:  # of the masking lesson
        split, scores = row.split(",")[:3], list(map(float, row.split(",")[3:]))
        assert {"name": "/".join(split), "values": scores} in tables["masking"]["rows"]


def test_what_bert_reached_is_the_paper_s_and_leads_to_a_task_of_ours():
    rows = tomllib.loads((LESSONS / "experiments" / "results.toml").read_text(encoding="utf-8"))["row"]
    scores = {row["name"].split(":")[0].split(",")[0]: (row["score"], row["gain"]) for row in reversed(rows)}
    wanted = {"GLUE": (80.5, 7.7), "MultiNLI": (86.7, 4.6), "SQuAD 1.1": (93.2, 1.5), "SQuAD 2.0": (83.1, 5.1)}
    assert wanted.items() <= scores.items()  # those of the abstract
    assert all(row["task"] in TASKS and row["gain"] > 0 for row in rows)
    drawn = figure(open_page(part="What BERT reached"), "reached")
    before, after = (trace["x"] for trace in drawn["data"] if trace.get("mode") == "markers+text")
    assert list(after) == [row["score"] for row in rows]
    assert [round(b - a, 1) for a, b in zip(before, after, strict=True)] == [row["gain"] for row in rows]
