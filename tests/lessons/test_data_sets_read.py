"""Our own data sets through our own readers: nothing of them is passed over, and an upload of one is recognized."""

from pathlib import Path

import pytest

from minibert.tasks import TASKS, guess_task

DATA = Path(__file__).resolve().parents[2] / "lessons" / "data"
SETS = {
    "animals": ("classification", ".tsv"),
    "verdicts": ("classification", ".tsv"),
    "reviews": ("classification", ".tsv"),
    "reviews-zh": ("classification", ".tsv"),
    "pairs": ("pair", ".tsv"),
    "similarity": ("similarity", ".tsv"),
    "emotions": ("multilabel", ".tsv"),
    "entities": ("tagging", ".txt"),
    "entities-zh": ("tagging", ".txt"),
    "questions": ("span", ".json"),
    "questions-zh": ("span", ".json"),
    "questions-or-none": ("span-or-none", ".json"),
    "choices": ("choice", ".csv"),
    "stories": ("choice", ".tsv"),
    "intents": ("intent", ".md"),
    "intents-zh": ("intent", ".md"),
    "dialogues": ("next-utterance", ".txt"),
}


def test_every_folder_is_a_set_of_a_task():
    folders = {folder.name for folder in DATA.iterdir() if list(folder.glob("train.*"))}
    assert folders == set(SETS)
    assert {task for task, _ in SETS.values()} == set(TASKS)


@pytest.mark.parametrize("part", ["train", "dev"])
@pytest.mark.parametrize("name", SETS)
def test_it_is_read_whole(name, part):
    task, ending = SETS[name]
    data = TASKS[task].read(DATA / name / f"{part}{ending}")
    assert data.problems == []
    assert len(data.examples) >= 30


@pytest.mark.parametrize("name", SETS)
def test_what_is_learned_is_what_is_asked(name):
    task, ending = SETS[name]
    train, dev = (TASKS[task].read(DATA / name / f"{part}{ending}") for part in ("train", "dev"))
    assert set(dev.labels) <= set(train.labels)


@pytest.mark.parametrize("name", SETS)
def test_its_task_is_guessed(name):
    task, ending = SETS[name]
    path = DATA / name / f"train{ending}"
    assert guess_task(path.read_bytes(), path.name) == task
