"""The real sets beside the project are read whole, with the counts of their descriptions."""

from pathlib import Path

import pytest

from minibert.tasks import TASKS, guess_task

SETS = Path(__file__).resolve().parents[4] / "shared" / "data" / "tasks"
COUNTS = {  # of cmrc2018_trial 1,000 of 1,002: two answers are empty
    ("classification", "en/sst2"): {"train.tsv": 67_349, "dev.tsv": 872, "test-labeled.tsv": 1_821},
    ("classification", "en/cola"): {"train.tsv": 8_551, "dev.tsv": 1_043},
    ("classification", "zh/chnsenticorp"): {"train.tsv": 9_600, "dev.tsv": 1_200, "test.tsv": 1_200},
    ("pair", "en/mrpc"): {"train.tsv": 4_076, "test.tsv": 1_725},
    ("pair", "en/rte"): {"train.tsv": 2_490, "dev.tsv": 277},
    ("pair", "en/hans"): {"heuristics_evaluation_set.tsv": 30_000},
    ("pair", "zh/lcqmc"): {"dev.txt": 8_802, "test.txt": 12_500},
    ("similarity", "en/stsb"): {"train.tsv": 5_749, "dev.tsv": 1_500, "sts-test.tsv": 1_379},
    ("multilabel", "en/goemotions/original"): {"train.tsv": 43_410, "dev.tsv": 5_426},
    ("multilabel", "en/goemotions/ekman"): {"test.tsv": 5_427},
    ("tagging", "en/conll2003"): {"eng.train": 14_041, "eng.testa": 3_250, "eng.testb": 3_453},
    ("tagging", "zh/peopledaily_ner"): {"dev.txt": 4_631},
    ("span", "en/squad"): {"half1.json": 5_169, "half2.json": 5_401},
    ("span", "zh/cmrc2018"): {"cmrc2018_dev.json": 3_219, "cmrc2018_trial.json": 1_000},
    ("choice", "en/mctest"): {"mc160.train.statements.tsv": 4 * 70, "mc500.test.statements.tsv": 4 * 150},
    ("choice", "en/arct2"): {"train.csv": 2_420, "dev-adv-negated.csv": 632, "test.csv": 888},
    ("intent", "en/snips"): {"train.md": 13_084, "val.md": 700, "test.md": 700},
    ("intent", "en/atis"): {"train.md": 4_478, "val.md": 500, "test.md": 893},
}
PROBLEMS = {"zh/cmrc2018/cmrc2018_dev.json": 200, "zh/cmrc2018/cmrc2018_trial.json": 7}  # answers not found, mostly

pytestmark = pytest.mark.skipif(not SETS.is_dir(), reason="the real sets of ../shared/data/tasks are not here")


@pytest.mark.parametrize(
    ("task", "file", "count"),
    [
        pytest.param(task, f"{folder}/{file}", count, marks=[pytest.mark.release] * (count > 1_000))
        for (task, folder), files in COUNTS.items()
        for file, count in files.items()
    ],
)
def test_every_record_is_read_or_named(task, file, count):
    if not (SETS / file).exists():
        pytest.skip(f"{file} is not here")
    data = TASKS[task].read(SETS / file)
    assert len(data.examples) == count and len(data.problems) == PROBLEMS.get(file, 0)
    content = (SETS / file).read_bytes()
    start = content if file.endswith("json") else content[: content.rindex(b"\n", 0, 20_000)]
    assert guess_task(start, file) == task
