"""What papers claim: the table, the floors in it, and what our recorded results say of every claim."""

import json
from collections import Counter
from pathlib import Path

import pytest

from minibert.__main__ import main
from minibert.experiments import claims, derived, floors
from minibert.experiments.catalogue import EXPERIMENTS
from minibert.experiments.comparisons import COMPARISONS
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.experiments.results import VERDICTS, Difference, by_arm, read_records
from minibert.experiments.toy_corpus import COUNTED, SEEDS, WORLD
from minibert.tasks import TASKS
from minibert.tasks.sampling import spread
from minibert.tasks.tagging import entity_scores
from minibert.toy import world
from minibert.toy.pronoun_task import NAMES, who_is_meant

ROOT = Path(__file__).resolve().parents[3]
TASK_DATA = ROOT.parent / "shared" / "data" / "tasks"
TABLES = {name: table for name, table in claims.tables().items() if {"column", "direction"} & set(table)}


@pytest.fixture(autouse=True)
def shipped(monkeypatch):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)


def test_the_recorded_results_have_these_verdicts(capsys):
    """After new records: python -m minibert experiment --verdicts, and read what has changed before it is written."""
    lines = Path(__file__).with_name("verdicts.tsv").read_text(encoding="utf-8").splitlines()
    assert main(["experiment", "--verdicts", "--json"]) == 0
    *rows, counts = map(json.loads, capsys.readouterr().out.splitlines())
    assert ["\t".join(row[key] for key in ("table", "said", "verdict")) for row in rows] == lines
    assert set(counts) <= set(VERDICTS) and counts == Counter(row["verdict"] for row in rows)


@pytest.mark.parametrize("name", TABLES)
def test_claims_are_about_arms_of_ours(name):
    table, experiment = TABLES[name], TABLES[name].get("results", name).rpartition("/")[2]
    records = read_records(claims.results_of(name), set())
    if {"derived", "order"} & set(table):
        records = claims.recorded(name, records)
        known = {one["arm"] for one in records}
    elif experiment in EXPERIMENTS:
        known = set(EXPERIMENTS[experiment].arms)
    else:
        known = set((RELATIVE_EXPERIMENTS | COMPARISONS)[experiment].arms)
    found = claims.claims(name)
    for one in found:
        assert {one.arm, one.base, one.control} - {None} <= known
        assert one.source and (one.what or one.arm in table["arms"])
    assert set(table.get("arms", ())) <= known and len({one.said for one in found}) == len(found)
    metrics = {metric for record in records for metric in record["metrics"]}
    assert {metric for one in found for metric in (one.metric, one.other or one.metric)} <= metrics


# --- what is had without understanding --------------------------------------------------------------------------------


def test_the_name_said_last_is_counted():
    train, test = who_is_meant(800, 11).examples, who_is_meant(200, 12).examples
    usual: dict[str, Counter] = {}
    for word, tag in ((word, tag) for one in train for word, tag in zip(one.words, one.tags, strict=True)):
        if tag != "O":
            usual.setdefault(word, Counter())[tag] += 1

    def tags(words):
        people: list[str] = []
        for word in words:
            if word in NAMES:
                people.append(word)
            place = list(dict.fromkeys(people)).index(people[-1]) if people else 2
            both = word in usual and usual[word].most_common(1)[0][0] == "B-BOTH"
            known = word in usual and place < 2
            yield "O" if not known else "B-BOTH" if both else ("B-FIRST", "B-SECOND")[place]

    f1 = entity_scores([one.tags for one in test], [list(tags(one.words)) for one in test])["f1"]
    assert round(100 * f1, 2) == claims.tables()["floor"]["who_is_meant"]["value"]


def test_what_two_neighbours_tell_is_counted():
    others = world.stories(COUNTED, SEEDS["counted"], WORLD)
    share = world.guessable_without_context(others, neighbours=2)
    assert claims.tables()["floor"]["determined"]["value"] == round(100 * share, 2)


def test_a_word_list_that_says_who_or_what_is_meant_is_counted():
    for metric, share in floors.words_meant().items():
        floor = claims.tables()["floor"][metric]
        assert floor["value"] == round(100 * share, 2)
        assert floor["of"] == dict(zip(("examples", "measured_on"), (1000, 500), strict=True))


@pytest.mark.release
def test_the_floors_of_the_tables_are_counted():
    checked = 0
    for results, metric, value in floors.all_floors(TASK_DATA if TASK_DATA.is_dir() else None):
        for name, table in TABLES.items():
            if table.get("results", name).rpartition("/")[2] == results and metric in table.get("floors", {}):
                assert table["floors"][metric] == value, (name, metric)
                checked += 1
    assert checked > 20


def test_the_commonest_answer_about_roles_is_recorded():
    shares = by_arm(read_records(claims.results_of("sembert"), set()), "commonest")
    told = {floor for metric, floor in TABLES["sembert"]["floors"].items() if metric.startswith("meant")}
    assert told == {round(100 * share, 2) for seeds in shares.values() for share in seeds.values()}


@pytest.mark.skipif(not TASK_DATA.is_dir(), reason="the tasks are not in ../shared/data/tasks")
def test_the_commonest_answers_of_the_tasks_are_counted():
    for name, file, task, measured, metric in (
        ("few_labels-en", "en/sst2/dev.tsv", "classification", 200, "accuracy"),
        ("few_labels-zh", "zh/chnsenticorp/dev.tsv", "classification", 200, "accuracy"),
        ("smaller-size", "en/sst2/dev.tsv", "classification", 872, "accuracy"),
        ("dialogue", "en/atis/test.md", "intent", 700, "atis_intent"),
        ("dialogue", "en/snips/test.md", "intent", 700, "snips_intent"),
    ):
        examples = TASKS[task].read(TASK_DATA / file).examples
        chosen = [examples[i] for i in spread(len(examples), measured)]
        ((_, most),) = Counter(getattr(one, "intent", None) or one.label for one in chosen).most_common(1)
        assert TABLES[name]["floors"][metric] == round(100 * most / len(chosen), 2)


# --- what is made of the records --------------------------------------------------------------------------------------


def test_runs_that_failed_are_counted_by_seed():
    def run(corrected: bool, seed: int, accuracy: float, epochs: int) -> dict:
        settings = {"bias_correction": corrected, "epochs": epochs}
        return {"arm": f"{settings}", "seed": seed, "metrics": {"accuracy": accuracy}, "majority": 0.5} | {
            "settings": settings
        }

    records = [run(True, 0, 0.7, 2), run(True, 0, 0.509, 6), run(False, 0, 0.48, 2), run(False, 0, 0.511, 6)]
    shares = by_arm(derived.failed([*records, run(False, 0, 0.5, 6)]), "failed")  # the last of a cell counts
    assert shares == {"corrected": {0: 0.5}, "uncorrected": {0: 1.0}}


def test_arms_in_the_papers_order_have_rank_correlation_one():
    made = [("a", 0.3), ("b", 0.2), ("c", 0.9), ("other", 1.0)]
    records = [{"arm": arm, "seed": 0, "metrics": {"f1": value}} for arm, value in made]
    paper = {"a": 95.0, "b": 91.0, "c": 96.4}
    (row,) = derived.ranks(
        [*records, {"arm": "a", "seed": 1, "metrics": {"f1": 0.1}}], "f1", paper
    )  # seed 1 is not whole
    assert row["seed"] == 0 and row["metrics"]["ranks"] == pytest.approx(1)


def test_what_no_seed_changes_is_judged_over_the_test_pairs(monkeypatch, tmp_path):
    (claim,) = (one for one in claims.claims("cone-plain") if one.arm == "whitened")
    records = [
        {"arm": arm, "seed": seed, "metrics": {"spearman": value}, "command": "", "data": []}
        for seed in range(3)
        for arm, value in (("mean", 0.6), ("whitened", 0.7))
    ]
    monkeypatch.setattr(claims, "paired_differences", lambda file: {})
    assert claims.judge("cone-plain", claim, records).verdict == "same in every seed"
    for half, said in ((2.0, "agrees"), (12.0, "unclear")):
        found = {("cone", "spearman", "whitened", "mean"): Difference(10.0, half, 1, pairs=1379)}
        monkeypatch.setattr(claims, "paired_differences", lambda file, found=found: found)
        assert claims.judge("cone-plain", claim, records).verdict == said
    other = {("cone", "spearman", "whitened", "mean"): Difference(9.0, 1.0, 1, pairs=1379)}  # of other weights
    monkeypatch.setattr(claims, "paired_differences", lambda file: other)
    assert claims.judge("cone-plain", claim, records).verdict == "same in every seed"
