"""The rows as they are drawn are those that the tasks make: same tokens, same targets, and what was cut of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minibert.tasks import TASKS, Options
from minibert.tasks.classification import Example
from minibert.tasks.input_rows import ELSEWHERE, LATER
from minibert.tasks.spans import Answer, SpanExample
from minibert.tasks.tagging import TaggedExample
from minibert.tokenizer import Tokenizer
from tests.shipped import DATA, SETS


@pytest.fixture(scope="module")
def english():
    return Tokenizer.from_directory("checkpoints/mini-en")


@pytest.mark.parametrize("length", [24, 128])
@pytest.mark.parametrize("name", list(TASKS))
def test_what_is_drawn_is_what_is_read(name, length, english):
    task, options = TASKS[name], Options(max_length=length, doc_stride=8)
    data = task.read(DATA / SETS[name]).take(range(0, 60, 5))
    labels = task.labels(data)
    cut = 0
    for example in data.examples:
        rows = task.input_rows(english, example, labels, options)
        features = task.features(english, [example], labels, options)
        read = features[0].ids if name in ("choice", "next-utterance") else [one.ids for one in features]
        kept = [[i for i, gone in zip(row.ids, row.cut, strict=True) if not gone] for row in rows]
        assert kept == [list(ids) for ids in read]
        assert all(row.length <= length for row in rows)
        assert len({row.cut.count(False) + row.padding for row in rows}) == 1  # [PAD] makes them alike
        cut += sum(sum(row.cut) for row in rows)
    if name != "tagging" and length == 128:
        assert cut == 0


def test_cut_tokens_stand_where_they_were(english):
    options = Options(max_length=8, truncation="head_tail")
    example = Example("one two three four five six seven eight nine ten", "a")
    (row,) = TASKS["classification"].input_rows(english, example, ["a", "b"], options)
    assert row.length == 8 and len(row.ids) == 12
    assert [t for t, gone in zip(row.tokens, row.cut, strict=True) if gone] == ["two", "three", "four", "five"]
    assert row.asked[0] == "a" and not any(row.asked[1:])


@given(st.text(alphabet="ab ", max_size=30), st.integers(4, 12), st.sampled_from(["longest_first", "head", "tail"]))
def test_any_text_is_cut_as_the_task_cuts_it(text, length, truncation):
    tokenizer = Tokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##a", "##b"])
    options = Options(max_length=length, truncation=truncation)
    task, example = TASKS["classification"], Example(text)
    (row,) = task.input_rows(tokenizer, example, ["x"], options)
    (features,) = task.features(tokenizer, [example], ["x"], options)
    assert [i for i, gone in zip(row.ids, row.cut, strict=True) if not gone] == features.ids


def test_metadata_tokens_stand_in_front(english):
    tokenizer = Tokenizer(list(english.pieces), special_tokens=["[KIND=IRONY]"])
    options = Options(max_length=6, metadata=("kind",), metadata_as="token", metadata_values={"kind": ["irony"]})
    example = Example("one two three four", "a", {"kind": "irony"})
    (row,) = TASKS["classification"].input_rows(tokenizer, example, ["a"], options)
    assert row.tokens[:3] == ("[CLS]", "[KIND=IRONY]", "one") and row.cut == (False,) * 5 + (True, False)


def test_a_tag_stands_at_the_first_piece_of_each_word_in_one_window(english):
    words = ("Helmsay", "is", "far", "from", "Oslo", "and", "Lima", "too", ".")
    tags = ("B-LOC", "O", "O", "O", "B-LOC", "O", "B-LOC", "O", "O")
    options = Options(max_length=8, doc_stride=4)
    task = TASKS["tagging"]
    labels = ["O", "B-LOC", "I-LOC"]
    rows = task.input_rows(english, TaggedExample(words, tags), labels, options)
    assert len(rows) > 1
    asked = [a for row in rows for a in row.asked if a not in ("", LATER, ELSEWHERE)]
    assert asked == list(tags)
    first = rows[0]
    assert first.tokens[1:4] == ("hel", "##ms", "##ay") and first.asked[:4] == ("", "B-LOC", LATER, LATER)
    assert ELSEWHERE in rows[1].asked


def test_an_intent_and_what_it_cuts(english):
    task = TASKS["intent"]
    data = task.read(DATA / SETS["intent"]).take([0])
    (row,) = task.input_rows(english, data.examples[0], task.labels(data), Options(max_length=6))
    assert row.asked[0] == data.examples[0].intent and row.tokens[3] == "at"
    assert row.cut[4:6] == (True, True) and row.length == 5  # "noon" is two pieces: a word is read whole or not
    assert row.tokens[-1] == "[SEP]" and not row.cut[-1]


def test_start_and_end_stand_in_every_window_with_the_answer(english):
    context = "one two three four five six seven eight nine ten"
    example = SpanExample("", "what is it now", context, (Answer("seven eight", context.index("seven")),))
    options = Options(max_length=10, doc_stride=2, max_question=2)
    rows = TASKS["span"].input_rows(english, example, ["start", "end"], options)
    for row in rows:
        start, end, total = row.tokens_of
        assert total == 10
        if start <= 6 and end > 7:
            assert row.tokens[row.asked.index("S")] == "seven" and row.tokens[row.asked.index("E")] == "eight"
        else:
            assert row.asked[0] == "S E"
        gone = [token for token, cut in zip(row.tokens, row.cut, strict=True) if cut]
        assert gone == ["it", "now"]
    assert any("S" in row.asked for row in rows) and any(row.asked[0] == "S E" for row in rows)


def test_the_right_choice_is_known(english):
    task = TASKS["choice"]
    data = task.read(DATA / SETS["choice"]).take([0])
    rows = task.input_rows(english, data.examples[0], ["score"], Options())
    assert [row.right for row in rows].index(True) == data.examples[0].label
    assert sum(row.right for row in rows) == 1 and {1} & {s for row in rows for s in row.segments}
