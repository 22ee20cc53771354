"""Our own data sets through our own readers: nothing of them is passed over, and an upload of one is recognized."""

import pytest

from minibert.tasks import TASKS, guess_task
from tests.lessons.data_files import DATA

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


@pytest.mark.parametrize("name", SETS)
def test_it_is_read_whole_and_its_task_is_guessed(name):
    task, ending = SETS[name]
    paths = [DATA / name / f"{part}{ending}" for part in ("train", "dev")]
    train, dev = (TASKS[task].read(path) for path in paths)
    assert train.problems == dev.problems == [] and min(len(train.examples), len(dev.examples)) >= 30
    assert set(dev.labels) <= set(train.labels)  # what is learned is what is asked
    assert guess_task(paths[0].read_bytes(), paths[0].name) == task
