"""What papers claim: the table, the floors in it, and what our recorded results say of every claim."""

import json
import math
from collections import Counter
from pathlib import Path

import pytest

from minibert.__main__ import main
from minibert.experiments import claims
from minibert.experiments.catalogue import EXPERIMENTS
from minibert.experiments.comparisons import COMPARISONS
from minibert.experiments.finetuning import TOY_SEEDS
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.experiments.results import VERDICTS, by_arm, read_records
from minibert.experiments.toy_corpus import COUNTED, SEEDS, WORLD
from minibert.tasks import TASKS
from minibert.tasks.sampling import spread
from minibert.tasks.tagging import entity_scores
from minibert.toy import world
from minibert.toy.pronoun_task import NAMES, who_is_meant
from minibert.toy.tasks import meant

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
    assert set(counts) == set(VERDICTS) and counts == Counter(row["verdict"] for row in rows)


@pytest.mark.parametrize("name", TABLES)
def test_claims_are_about_arms_of_ours(name):
    table, experiment = TABLES[name], TABLES[name].get("results", name).rpartition("/")[2]
    if experiment in EXPERIMENTS:
        known = set(EXPERIMENTS[experiment].arms)
    else:
        known = set((RELATIVE_EXPERIMENTS | COMPARISONS)[experiment].arms)
    found = claims.claims(name)
    for one in found:
        assert {one.arm, one.base, one.control} - {None} <= known
        assert one.source and (one.what or one.arm in table["arms"])
    assert set(table.get("arms", ())) <= known and len({one.said for one in found}) == len(found)
    metrics = {metric for record in read_records(claims.results_of(name), set()) for metric in record["metrics"]}
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
    train, test = (meant(n, seed).examples for n, seed in zip((1000, 500), TOY_SEEDS, strict=True))
    known = {one.answers[0].text for one in (*train, *test)}
    kinds, words = Counter(one.answers[0].text in NAMES for one in train), {True: Counter(), False: Counter()}
    for one in train:
        words[one.answers[0].text in NAMES].update(set(one.question.split()))

    def likelihood(question: str, person: bool) -> float:
        shares = ((words[person][word] + 0.5) / (kinds[person] + 1) for word in set(question.split()))
        return math.log(kinds[person]) + sum(map(math.log, shares))

    def guess(one) -> str:
        person = likelihood(one.question, True) > likelihood(one.question, False)
        asked = set(one.question.split())
        fitting = (w for w in one.context.split() if w in known - asked and (w in NAMES) == person)
        return next(fitting, "")

    right = sum(guess(one) == one.answers[0].text for one in test)
    for metric in ("meant", "meant_features"):
        floor = claims.tables()["floor"][metric]
        assert floor["value"] == round(100 * right / len(test), 2)
        assert floor["of"] == {"measured_on": len(test), "examples": len(train)}


def test_the_commonest_answer_about_roles_is_recorded():
    shares = by_arm(read_records(claims.results_of("sembert"), set()), "commonest")
    floors = {one.floor for one in claims.claims("sembert") if one.metric.startswith("meant")}
    assert floors == {round(100 * share, 2) for seeds in shares.values() for share in seeds.values()}


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
        floors = {one.floor for one in claims.claims(name) if one.metric == metric}
        assert floors == {round(100 * most / len(chosen), 2)}
