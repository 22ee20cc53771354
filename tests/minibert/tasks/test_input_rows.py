"""The rows as they are drawn are those that the tasks make: same tokens, same targets, and what was cut of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minibert.tasks import TASKS, Options
from minibert.tasks.classification import Example
from minibert.tasks.input_rows import ELSEWHERE, LATER
from minibert.tasks.lengths import length_for, row_lengths, share_that_fits
from minibert.tasks.spans import Answer, SpanExample
from minibert.tasks.tagging import TaggedExample
from minibert.tokenizer import Tokenizer
from tests.minibert.tasks.toys import toy
from tests.shipped import DATA, SETS


@pytest.mark.parametrize("length", [24, 128])
@pytest.mark.parametrize("name", list(TASKS))
def test_what_is_drawn_is_what_is_read(name, length, mini):
    task, options = TASKS[name], Options(max_length=length, doc_stride=8)
    data = task.read(DATA / SETS[name]).take(range(0, 60, 5))
    labels = task.labels(data)
    cut = 0
    for example in data.examples:
        rows = task.input_rows(mini[1], example, labels, options)
        features = task.features(mini[1], [example], labels, options)
        read = features[0].ids if name in ("choice", "next-utterance") else [one.ids for one in features]
        kept = [[i for i, gone in zip(row.ids, row.cut, strict=True) if not gone] for row in rows]
        assert kept == [list(ids) for ids in read]
        assert all(row.length <= length for row in rows)
        assert len({row.cut.count(False) + row.padding for row in rows}) == 1  # [PAD] makes them alike
        cut += sum(sum(row.cut) for row in rows)
    if name != "tagging" and length == 128:
        assert cut == 0


def test_cut_tokens_stand_where_they_were(mini):
    options = Options(max_length=8, truncation="head_tail")
    example = Example("one two three four five six seven eight nine ten", "a")
    (row,) = TASKS["classification"].input_rows(mini[1], example, ["a", "b"], options)
    assert row.length == 8 and len(row.ids) == 12
    assert [t for t, gone in zip(row.tokens, row.cut, strict=True) if gone] == ["two", "three", "four", "five"]
    assert row.targets[0] == "a" and not any(row.targets[1:])


@given(st.text(alphabet="ab ", max_size=30), st.integers(4, 12), st.sampled_from(["longest_first", "head", "tail"]))
def test_any_text_is_cut_as_the_task_cuts_it(text, length, truncation):
    tokenizer = Tokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##a", "##b"])
    options = Options(max_length=length, truncation=truncation)
    task, example = TASKS["classification"], Example(text)
    (row,) = task.input_rows(tokenizer, example, ["x"], options)
    (features,) = task.features(tokenizer, [example], ["x"], options)
    assert [i for i, gone in zip(row.ids, row.cut, strict=True) if not gone] == features.ids


def test_metadata_tokens_stand_in_front(mini):
    tokenizer = Tokenizer(list(mini[1].pieces), special_tokens=["[KIND=IRONY]"])
    options = Options(max_length=6, metadata=("kind",), metadata_as="token", metadata_values={"kind": ["irony"]})
    example = Example("one two three four", "a", {"kind": "irony"})
    (row,) = TASKS["classification"].input_rows(tokenizer, example, ["a"], options)
    assert row.tokens[:3] == ("[CLS]", "[KIND=IRONY]", "one") and row.cut == (False,) * 5 + (True, False)


def test_a_tag_stands_at_the_first_piece_of_each_word_in_one_window(mini):
    words = ("Helmsay", "is", "far", "from", "Oslo", "and", "Lima", "too", ".")
    tags = ("B-LOC", "O", "O", "O", "B-LOC", "O", "B-LOC", "O", "O")
    example, options = TaggedExample(words, tags), Options(max_length=8, doc_stride=4)
    rows = TASKS["tagging"].input_rows(mini[1], example, ["O", "B-LOC", "I-LOC"], options)
    assert len(rows) > 1
    asked = [a for row in rows for a in row.targets if a not in ("", LATER, ELSEWHERE)]
    assert asked == list(tags)
    assert rows[0].tokens[1:4] == ("hel", "##ms", "##ay") and rows[0].targets[:4] == ("", "B-LOC", LATER, LATER)
    assert ELSEWHERE in rows[1].targets


def test_an_intent_and_what_it_cuts(mini):
    task = TASKS["intent"]
    data = task.read(DATA / SETS["intent"]).take([0])
    (row,) = task.input_rows(mini[1], data.examples[0], task.labels(data), Options(max_length=6))
    assert row.targets[0] == data.examples[0].intent and row.tokens[3] == "at"
    assert row.cut[4:6] == (True, True) and row.length == 5  # "noon" is two pieces: a word is read whole or not
    assert row.tokens[-1] == "[SEP]" and not row.cut[-1]


def test_start_and_end_stand_in_every_window_with_the_answer(mini):
    context = "one two three four five six seven eight nine ten"
    example = SpanExample("", "what is it now", context, (Answer("seven eight", context.index("seven")),))
    options = Options(max_length=10, doc_stride=2, max_question=2)
    rows = TASKS["span"].input_rows(mini[1], example, ["start", "end"], options)
    for row in rows:
        start, end, total = row.tokens_of
        assert total == 10
        if start <= 6 and end > 7:
            assert row.tokens[row.targets.index("S")] == "seven" and row.tokens[row.targets.index("E")] == "eight"
        else:
            assert row.targets[0] == "S E"
        gone = [token for token, cut in zip(row.tokens, row.cut, strict=True) if cut]
        assert gone == ["it", "now"]
    assert any("S" in row.targets for row in rows) and any(row.targets[0] == "S E" for row in rows)


@given(st.lists(st.integers(1, 600), min_size=1, max_size=80), st.integers(1, 100))
def test_the_length_for_a_share_is_numpys_quantile(lengths, percent):
    length = length_for(lengths, percent / 100)
    assert length == np.quantile(lengths, percent / 100, method="inverted_cdf")
    assert share_that_fits(lengths, length - 1) < percent / 100 <= share_that_fits(lengths, length) + 1e-9


@pytest.mark.parametrize("name", TASKS)
def test_nothing_is_cut_at_the_longest_and_something_below(name, letters):
    task, data = TASKS[name], toy(name, 12, 0)
    labels = task.labels(data)
    lengths = row_lengths(task, letters, data.examples, labels, Options(max_length=16, doc_stride=4))
    longest = max(lengths)
    at = Options(max_length=longest, doc_stride=longest, max_question=longest)

    def read(options: Options) -> list[int]:
        rows = task.features(letters, data.examples, labels, options)
        return [max(row.length for row in rows if row.example == i) for i in range(len(data.examples))]

    assert read(at) == lengths
    if task.too_long == "truncation":
        assert max(read(replace(at, max_length=longest - 1))) == longest - 1
