"""The real sets beside the project are read whole, with the counts of their descriptions."""

from pathlib import Path

import pytest

from minibert.tasks import TASKS, guess_task

SETS = Path(__file__).resolve().parents[4] / "shared" / "data" / "tasks"
COUNTS = {
    ("classification", "en/sst2/train.tsv"): 67_349,
    ("classification", "en/sst2/dev.tsv"): 872,
    ("classification", "en/sst2/test-labeled.tsv"): 1_821,
    ("classification", "en/cola/train.tsv"): 8_551,
    ("classification", "en/cola/dev.tsv"): 1_043,
    ("classification", "zh/chnsenticorp/train.tsv"): 9_600,
    ("classification", "zh/chnsenticorp/dev.tsv"): 1_200,
    ("classification", "zh/chnsenticorp/test.tsv"): 1_200,
    ("pair", "en/mrpc/train.tsv"): 4_076,
    ("pair", "en/mrpc/test.tsv"): 1_725,
    ("pair", "en/rte/train.tsv"): 2_490,
    ("pair", "en/rte/dev.tsv"): 277,
    ("pair", "en/hans/heuristics_evaluation_set.tsv"): 30_000,
    ("pair", "zh/lcqmc/dev.txt"): 8_802,
    ("pair", "zh/lcqmc/test.txt"): 12_500,
    ("similarity", "en/stsb/train.tsv"): 5_749,
    ("similarity", "en/stsb/dev.tsv"): 1_500,
    ("similarity", "en/stsb/sts-test.tsv"): 1_379,
    ("multilabel", "en/goemotions/original/train.tsv"): 43_410,
    ("multilabel", "en/goemotions/original/dev.tsv"): 5_426,
    ("multilabel", "en/goemotions/ekman/test.tsv"): 5_427,
    ("tagging", "en/conll2003/eng.train"): 14_041,
    ("tagging", "en/conll2003/eng.testa"): 3_250,
    ("tagging", "en/conll2003/eng.testb"): 3_453,
    ("tagging", "zh/peopledaily_ner/dev.txt"): 4_631,
    ("span", "en/squad/half1.json"): 5_169,
    ("span", "en/squad/half2.json"): 5_401,
    ("span", "zh/cmrc2018/cmrc2018_dev.json"): 3_219,
    ("span", "zh/cmrc2018/cmrc2018_trial.json"): 1_000,  # of 1,002: two answers are empty
    ("choice", "en/mctest/mc160.train.statements.tsv"): 4 * 70,
    ("choice", "en/mctest/mc500.test.statements.tsv"): 4 * 150,
    ("choice", "en/arct2/train.csv"): 2_420,
    ("choice", "en/arct2/dev-adv-negated.csv"): 632,
    ("choice", "en/arct2/test.csv"): 888,
    ("intent", "en/snips/train.md"): 13_084,
    ("intent", "en/snips/val.md"): 700,
    ("intent", "en/snips/test.md"): 700,
    ("intent", "en/atis/train.md"): 4_478,
    ("intent", "en/atis/val.md"): 500,
    ("intent", "en/atis/test.md"): 893,
}
PROBLEMS = {"zh/cmrc2018/cmrc2018_dev.json": 200, "zh/cmrc2018/cmrc2018_trial.json": 7}

pytestmark = pytest.mark.skipif(not SETS.is_dir(), reason="the real sets of ../shared/data/tasks are not here")


@pytest.mark.parametrize(
    ("task", "file"),
    [
        pytest.param(*one, marks=[pytest.mark.release] * (number > 1_000), id="-".join(one))
        for one, number in COUNTS.items()
    ],
)
def test_every_record_is_read_or_named(task, file):
    if not (SETS / file).exists():
        pytest.skip(f"{file} is not here")
    data = TASKS[task].read(SETS / file)
    assert len(data.examples) == COUNTS[task, file] and len(data.problems) == PROBLEMS.get(file, 0)
    content = (SETS / file).read_bytes()
    start = content if file.endswith("json") else content[: content.rindex(b"\n", 0, 20_000)]
    assert guess_task(start, file) == task


def test_labels_are_named_and_chinese_answers_found():
    emotions = TASKS["multilabel"].read(SETS / "en/goemotions/original/dev.tsv")
    assert emotions.labels[0] == "admiration" and len(emotions.labels) == 28
    assert emotions.examples[1].labels == ("approval", "neutral")
    cmrc = TASKS["span"].read(SETS / "zh/cmrc2018/cmrc2018_trial.json")
    lost = sum(example.place is None for example in cmrc.examples)
    assert lost == 5
