"""Models that learned a cue: what is recorded, and that the records are of the sets as they are."""

from functools import cache

import pytest

from minibert.experiments import cues
from minibert.experiments.results import read_records
from minibert.folders import LESSONS
from minibert.inside.predictions.spurious_cues import CONDITIONS

# Where a model saw more than the cue: it falls, but not to what the cue alone would leave.
READ_BEYOND = {"minilm-en": ("overlap/planted",)}
sets_of = cache(cues.sets_of)


def test_an_accuracy_is_the_share_of_right_answers_of_its_condition():
    examples = [{"extra": {"condition": name}} for name in ("planted", "planted", "flipped")]
    predictions = [{"grade": grade} for grade in (1.0, 0.0, 1.0)]
    assert cues.accuracies(examples, predictions) == {"planted": 0.5, "flipped": 1.0}


@pytest.mark.parametrize("model", ["mini-en", "minilm-en"])
def test_what_ships_is_of_these_sets_and_shows_the_fall(model):
    records = read_records(LESSONS / "results" / model / "cues.jsonl", cues.REQUIRED)
    assert {record["arm"] for record in records} == {
        f"{case}/{training}" for case in ("not", "overlap") for training in ("planted", "balanced")
    }
    for record in records:
        case, training = record["arm"].split("/")
        _task, trainings, tests = sets_of(case)
        assert (record["examples"], record["measured_on"]) == (len(trainings[training].examples), len(tests.examples))
        helps, says_nothing, lies = (record["metrics"][name] for name in CONDITIONS)
        if training == "planted" and record["arm"] not in READ_BEYOND.get(model, ()):
            assert helps > 0.98 and 0.45 < says_nothing < 0.55 and lies < 0.02
        elif training == "planted":
            assert helps > 0.98 and 0.6 < says_nothing < 0.8 and 0.25 < lies < 0.5
