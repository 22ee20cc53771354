"""Intents: Rasa's markdown, words and tags from places in the text."""

import pytest

from minibert.tasks import TASKS, Options, Problem, TaskDataError
from minibert.tasks.intents import Entity, IntentExample

TASK = TASKS["intent"]
LABELS = {"intents": ["a", "b"], "tags": ["O", "B-x", "I-x"]}
RASA = """## intent:PlayMusic
  - play [the song](music_item) by [ella](artist)
- just play

## intent:atis_flight#atis_airfare
- to [st. louis](toloc.city_name) or [nyc]{"entity": "city", "value": "New York"}
- to [us](country:United States)

## lookup:cities
- paris
## intent:broken
- to [paris](city
- [](x)
no list
"""


def test_rasa():
    data = TASK.parse(RASA.encode(), "nlu.md")
    first, second, third, fourth = data.examples[:4]
    assert first == IntentExample(
        "play the song by ella", "PlayMusic", (Entity(5, 13, "music_item"), Entity(17, 21, "artist"))
    )
    assert second == IntentExample("just play", "PlayMusic")
    assert third.text == "to st. louis or nyc" and third.intent == "atis_flight#atis_airfare"
    assert [third.text[e.start : e.end] for e in third.entities] == ["st. louis", "nyc"]
    assert third.entities[1].type == "city" and fourth.entities == (Entity(3, 5, "country"),)
    assert data.problems[:2] == [
        Problem(9, 1, "a lookup section holds no examples; passed over"),
        Problem(12, 12, "an entity is not closed: it is written [words](type)"),
    ]
    assert data.problems[-1] == Problem(14, 1, "expected `## intent:NAME` or an example `- …` under one")
    with pytest.raises(TaskDataError, match=r"nlu.md, line 9, column 1"):
        TASK.parse(RASA.encode(), "nlu.md", strict=True)


def test_an_entity_that_is_not_of_words_is_named():
    for line, column, why in (
        ("- to [New](x)[York](y) now", 6, "the entity 'New' is a part of 'NewYork': it must hold whole words"),
        ("- now play[ing](z)", 11, "the entity 'ing' is a part of 'playing': it must hold whole words"),
        ("- [a](x) and [ ](y)", 14, "the entity ' ' holds no word"),
    ):
        data = TASK.parse(f"## intent:a\n- [北京](c)[上海](c)\n{line}\n".encode(), "nlu.md")
        assert data.problems == [Problem(3, column, why)] and len(data.examples) == 1


def test_words_and_tags():
    example = IntentExample("go to st. louis", "x", (Entity(6, 15, "city"),))
    assert example.words == ("go", "to", "st", ".", "louis")
    assert example.tags == ("O", "O", "B-city", "I-city", "I-city")
    side_by_side = IntentExample("北京上海", "x", (Entity(0, 2, "city"), Entity(2, 4, "city")))
    assert side_by_side.tags == ("B-city", "I-city", "B-city", "I-city")


def test_an_intent_that_training_has_not_seen_is_no_error(letters):
    (row,) = TASK.features(letters, [IntentExample("cd", "c", (Entity(0, 2, "y"),))], LABELS, Options(max_length=8))
    assert row.target == (-100, [-100] * 4)

    example = IntentExample("a b c d e f g h", "a", (Entity(14, 15, "x"),))  # what is too long is outside
    (row,) = TASK.features(letters, [example], LABELS, Options(max_length=6))
    assert letters.decode(row.ids) == "[CLS] a b c d [SEP]" and [w for _, w in row.words] == [0, 1, 2, 3]


def test_both_counts_what_is_entirely_right():
    examples = [IntentExample("a b", "x", (Entity(0, 1, "k"),)), IntentExample("a", "y")]
    answers = [{"intent": "x", "tags": ["O", "O"]}, {"intent": "y", "tags": ["O"]}]
    scores = TASK.score(answers, examples)
    assert scores["intent_accuracy"] == 1.0 and scores["both"] == 0.5 and scores["entity_f1"] == 0.0
    assert TASK.score(answers[:1], [IntentExample("a b", "not seen")])["intent_accuracy"] == 0.0
