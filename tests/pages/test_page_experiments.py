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
from streamlit.testing.v1 import AppTest

from minibert.experiments.catalogue import DOWNSTREAM, EXPERIMENTS, Scale
from minibert.experiments.results import by_arm, paired_difference, read_records
from minibert.toy import world as toy_world
from tests.pages import driver
from tests.pages.driver import ROOT, figure, plain, text_of, whole
from tests.pages.recorded import write_records
from ui.lesson import LESSONS, Lesson

LESSON = Lesson("experiments")
open_page = partial(driver.open_page, "experiments")
TASK_DATA = ROOT.parent / "shared" / "data" / "tasks" / "en"
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


def objectives(folder: Path, changes: dict[str, tuple[float, ...]]) -> None:
    """Base at 0.70, 0.72, 0.71; each arm that much above it, by seed."""
    base = (0.70, 0.72, 0.71)
    records = [record("objectives", "mlm+nsp", seed, {"sst2": base[seed]}) for seed in range(3)]
    for arm, gaps in changes.items():
        records += [record("objectives", arm, seed, {"sst2": base[seed] + gap}) for seed, gap in enumerate(gaps)]
    write_records(folder, "objectives", records)


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
    assert "Of 4 directions in the paper, ours agree in 1, disagree in 1, and leave 2 open." in text
    assert "no NSP: −0.1 in the paper, +1.1 ± 0.2 here, over 3 seeds – **other direction**" in text
    assert "left-to-right, no NSP: −0.6 in the paper, −5.1 ± 0.2 here, over 3 seeds – **same direction**" in text
    assert "BiLSTM: −1.1 in the paper, −0.7 ± 11.2 here, over 3 seeds – **unclear" in text


def test_the_bilstm_is_compared_with_left_to_right_too(results):
    """The paper's point about it, SQuAD 77.8 → 84.9, is lost beside the base: 84.9 is below that as well."""
    ner = {"mlm+nsp": 0.55, "left-to-right": 0.48, "left-to-right+bilstm": 0.40}
    noise = (0.0, 0.01, 0.02)
    write_records(
        results,
        "objectives",
        [record("objectives", arm, s, {"ner": f + noise[s] * (1 + f)}) for arm, f in ner.items() for s in range(3)],
    )
    app = open_page()
    text = text_of(app)
    assert "- left-to-right + BiLSTM: −3.6 in the paper, −15.2 ± 0.4 here, over 3 seeds – **same direction**" in text
    assert "BiLSTM, against left-to-right, no NSP: +7.1 in the paper, −8.1 ± 0.2 here, over 3 seeds – **other" in text
    assert "Where a row names another arm" in text
    labels = figure(app, "differences")["layout"]["yaxis"]["ticktext"]
    assert labels[1:] == ["left-to-right + BiLSTM", "left-to-right + BiLSTM<br>against left-to-right, no NSP"]


def test_equal_numbers_in_the_paper_are_said_to_be_equal(results):
    arms = {"segment-pair+nsp": 0.5, "full-sentences": 0.6}
    write_records(
        results, "formats", [record("formats", a, s, {"ner": f + 0.001 * s}) for a, f in arms.items() for s in (0, 1)]
    )
    text = text_of(open_page(experiment="formats"))
    assert "0.0 in the paper, +10.0 ± 0.0 here, over 2 seeds – **no difference in the paper**" in text
    assert "no number in the paper" not in text and "Of 0 directions" in text
    assert "All measures together" not in text


def test_all_measures_are_summed_up(results):
    gaps = {"mlm+nsp": (0.0, 0.0, 0.0), "no-nsp": (0.02, 0.02, 0.021), "left-to-right": (-0.02, -0.02, -0.021)}
    unclear = (0.05, -0.05, 0.01)
    write_records(
        results,
        "objectives",
        [
            record("objectives", arm, s, {"sst2": 0.7 + gap[s], "mrpc": 0.7 + gap[s] * unclear[s]})
            for arm, gap in gaps.items()
            for s in range(3)
        ],
    )
    assert (
        "All measures together: in 4 comparisons the paper tells a direction. Ours point the same way in 1, the "
        "other way in 1, and are unclear in 2**" in text_of(open_page())
    )


def test_what_needs_no_understanding_stands_beside_the_figure(results):
    def page(**changes):
        metrics = {"mrpc": 0.67}
        changes = {"measured_on": {"mrpc": 1725}, "examples": {"mrpc": 4076}} | changes
        records = [record("objectives", "mlm+nsp", 0, metrics, **changes)]
        write_records(results, "objectives", [*records, record("objectives", "no-nsp", 0, {"mrpc": 0.65}, **changes)])
        return open_page()

    app = page()
    assert "Always answering “paraphrase” is right in 66.5 %." in text_of(app)
    assert "On average over the seeds, 1 of 2 arms do better, the best by 0.5." in text_of(app)
    assert [shape["x0"] for shape in figure(app, "scores")["layout"]["shapes"]] == [66.49]
    assert any("dotted line" in caption.value for caption in app.caption)
    for changes in ({"measured_on": {"mrpc": 90}}, {"command": "python -m minibert experiment x --tasks mine"}):
        other = page(**changes)  # counted on other pairs: nothing is claimed
        assert "Always answering" not in text_of(other) and not figure(other, "scores")["layout"].get("shapes")
        assert not any("dotted line" in caption.value for caption in other.caption)


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
    write_records(results, "objectives", [*old, record("objectives", "mlm+nsp", 0, {"sst2": 0.7})])
    assert "1 run with 1 seed" in text_of(open_page())


def test_without_the_base_there_is_no_difference(results):
    write_records(results, "objectives", [record("objectives", "no-nsp", 0, {"sst2": 0.7})])
    assert "base arm has not been run" in open_page().info[0].value


def test_a_broken_results_file_is_named(results):
    (results / "objectives.jsonl").write_text("nonsense\n\n")
    assert "line 1: not a record" in plain(open_page().error[0].value)


def test_steps_and_perplexity(results):
    arms = [arm.name for arm in EXPERIMENTS["steps"].arms]
    write_records(
        results,
        "steps",
        [record("steps", a, s, {"sst2": 0.8 - 0.01 * i - 0.001 * s}) for i, a in enumerate(arms) for s in (0, 1)],
    )
    text = text_of(open_page(experiment="steps"))
    assert "Of 9 directions in the paper, ours agree in 9" in text
    assert "left-to-right, 1/16, against MLM + NSP, 1/16: lower in the paper, −5.0 ± 0.0 here" in text
    sizes = ("2/128/2", "1/128/2")
    values = {"2/128/2": 40.0, "1/128/2": 50.0}
    write_records(
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


def test_small_runs_show_what_compares_only(results, runs_folder):
    """A curve is of the masked tokens' loss, without NSP; a held-out loss stands where arms are asked the same."""
    from jobs.run import Run
    from ui.runs import manager

    step = {"event": "step", "step": 10, "progress": 1.0, "loss": 5.5, "tokens_per_second": 9.0}
    events = [
        {**step, "parts": {"mlm_loss": 4.75}},
        {"event": "eval", "step": 10, "metrics": {"heldout_loss": 4.625}},  # of a run made before it was left out
        {"event": "done", "step": 10, "metrics": {}},
    ]
    for name, compares in (("masking", False), ("formats", False), ("size", True)):
        run = Run(manager(), manager().directory, "me", "a run", f"experiment/{name}", "none")
        run.store()
        run.add([json.dumps({"number": i, "time": run.created, **event}) for i, event in enumerate(events)])
        run.change("finished")
        manager()._runs[run.id] = run
        app = AppTest.from_file(str(ROOT / "pages" / "experiments.py"), default_timeout=240)
        app.session_state["_owner"] = "me"
        app.query_params["experiment"] = name
        whole(app.run())
        assert figure(app, "loss")["data"][0]["y"] == [4.75]
        row = app.table[-1].value.iloc[0]
        assert row["last training loss"] == "4.750"
        assert ("held-out loss" in row) == compares and EXPERIMENTS[name].heldout == compares


def test_the_shipped_results_are_drawn(monkeypatch, tmp_path):
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path))
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    for name in EXPERIMENTS:
        app = open_page(experiment=name)
        assert not app.error
        if (LESSONS / "results" / f"{name}.jsonl").exists():
            assert "What was scaled down" in text_of(app)


def test_the_lesson_tells_what_the_shipped_results_say_of_the_bilstm():
    found = by_arm(read_records(LESSONS / "results" / "objectives.jsonl"), "ner")
    ours = [100 * fmean(found[arm].values()) for arm in ("left-to-right", "left-to-right+bilstm")]
    said = "NER falls from {:.1f} to {:.1f}".format(*ours)
    assert said in LESSON.section("Objectives")[1] and said in (LESSON.folder / "quiz.toml").read_text("utf-8")
    assert paired_difference(found["left-to-right+bilstm"], found["left-to-right"]).clear


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


@pytest.mark.slow
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
    for name, experiment in EXPERIMENTS.items():
        paper, arms = PAPER[name], {arm.name for arm in experiment.arms}
        assert set(paper["arms"]) == arms
        assert next(iter(paper["arms"])) == experiment.base.name
        assert {arm for pair in paper.get("against", {}).items() for arm in (pair[0], *pair[1])} <= arms
        for column in paper["column"]:
            assert set(column.get("values", column.get("signs"))) <= arms
            assert all(len(paper.get("against", {}).get(arm, [0])) == 1 for arm in column.get("signs", ()))
            assert column["ours"] in experiment.tasks or (column["ours"] == "mlm_perplexity" and experiment.heldout)
            assert column["ours"] in {*DOWNSTREAM, "mlm_perplexity"}


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
    source = (ROOT / "pages" / "experiments.py").read_text(encoding="utf-8")
    assert all(f'"{heading}"' in source for heading in LESSON.sections)
