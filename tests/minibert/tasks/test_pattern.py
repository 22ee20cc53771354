"""A pattern is refused clearly or read whole, and only its texts are ever cut."""

import pytest

from minibert.tasks import BY_PATTERN, TASKS, Options, guess_task, task_named
from minibert.tasks.classification import Example
from minibert.tasks.pairs import PairExample
from minibert.tasks.pattern import Pattern, PatternError, cloze, with_prompt_tokens, word_ids
from tests.minibert.tasks.toys import toy

WORDS = {"without": ["n"], "with": ["y"]}


def tokens(tokenizer, text: str, pattern: str = "{text} it [MASK].", max_length: int = 24) -> list[str]:
    made = cloze(tokenizer, Pattern.of(pattern).pieces(tokenizer), tokenizer.encode_bulk([text]), max_length)
    assert tokenizer.vocab[made.ids[made.blank]] == "[MASK]"
    return [tokenizer.vocab[i] for i in made.ids]


def test_the_text_stands_in_the_pattern(letters):
    assert tokens(letters, "a b") == ["[CLS]", "a", "b", "i", "##t", "[MASK]", ".", "[SEP]"]
    assert tokens(letters, "a", "[MASK]: {text}")[:4] == ["[CLS]", "[MASK]", "[UNK]", "a"]
    with pytest.raises(PatternError, match="no room"):
        tokens(letters, "a", max_length=6)
    assert tokens(letters, "a [MASK] [SEP] b").count("[MASK]") == 1  # what somebody types is no second blank
    assert tokens(letters, "a [MASK] [SEP] b")[1:5] == ["a", "[UNK]", "[UNK]", "b"]
    assert tokens(letters, "你 {text} 😀 <b>")[-5:] == ["i", "##t", "[MASK]", ".", "[SEP]"]


@pytest.mark.parametrize("length", [7, 12])
@pytest.mark.parametrize("truncation", ["longest_first", "head", "tail", "head_tail"])
def test_only_the_text_is_cut(letters, length, truncation):
    pieces = Pattern.of("{text} it [MASK].").pieces(letters)
    made = cloze(letters, pieces, letters.encode_bulk(["a b " * 50]), length, truncation)
    assert len(made.ids) == length and [letters.vocab[i] for i in made.ids[-5:]] == ["i", "##t", "[MASK]", ".", "[SEP]"]
    assert sum(len(lost) for _, lost in made.lost) == 100 - (length - 6)


def test_a_pattern_that_cannot_be_used_says_why():
    for pattern, said in (
        ("", "{text}"),
        ("{text}", "MASK"),
        ("{text} [MASK] [MASK]", "2 times"),
        ("{text} {text} [MASK]", "2 times"),
        ("{text} {second} [MASK]", "{second}"),
        ("{text} {colour} [MASK]", "{colour}"),
        ("{text} [SEP] [MASK]", "SEP"),
    ):
        with pytest.raises(PatternError, match=said):
            Pattern.of(pattern)


def test_a_word_that_cannot_be_used_says_why(letters):
    for words, said in (
        ({"a": ["bad"], "b": ["g"]}, "b ##a ##d"),
        ({"a": ["好"], "b": ["g"]}, r"'好'.*UNK"),
        ({"a": [""], "b": ["g"]}, "nothing"),
        ({"a": [], "b": ["g"]}, "'a'"),
        ({"a": ["x"], "b": ["x"]}, "'a'.* 'b'"),
        ({"a": ["x", "x"], "b": ["y"]}, "twice"),
        ({"a": ["[MASK]"], "b": ["y"]}, "MASK"),
        ({"a": ["x"] * 30, "b": ["y"]}, "20"),
    ):
        with pytest.raises(PatternError, match=said):
            word_ids(letters, words)


def test_a_vocabulary_of_ones_own_gets_the_tokens_of_the_prompt(letters):
    assert with_prompt_tokens(letters, "[unused2] {text} [unused1] [unused2] [MASK]") == ["[unused2]", "[unused1]"]
    assert Pattern.of("[unused2] {text} [unused1] [unused2] [MASK]").prompt == ("[unused2]", "[unused1]")
    with pytest.raises(PatternError, match=r"has no \[unused1\]"):
        Pattern.of("{text} [unused1] [MASK]").pieces(letters)


def test_it_is_a_task_by_name_and_no_file_is_guessed_to_be_one():
    assert list(BY_PATTERN) == ["cloze", "cloze-pair"] and not set(BY_PATTERN) & set(TASKS)
    assert guess_task(b"sentence\tlabel\nx\t1\n", "a.tsv") == "classification"
    assert task_named("cloze").parse(b"sentence\tlabel\nx\t1\n", "a.tsv").examples == [Example("x", "1")]


def test_two_texts_have_their_places_in_one_row(letters):
    task, example = task_named("cloze-pair"), PairExample("a b", "c", "1")
    options = Options(pattern="{second}? [MASK], {text}", words={"0": ["n"], "1": ["y"]}, max_length=20)
    options = task.fitted(options, letters, ["0", "1"])
    (row,) = task.features(letters, [example], ["0", "1"], options)
    assert [letters.vocab[i] for i in row.ids] == ["[CLS]", "c", "?", "[MASK]", ",", "a", "b", "[SEP]"]
    assert row.target == 1 and set(row.segments) == {0}


def test_a_row_is_drawn_with_what_was_cut(letters):
    task = task_named("cloze")
    options, labels = Options(pattern="{text} it [MASK].", words=WORDS, max_length=9), ["without", "with"]
    options = task.fitted(options, letters, labels)
    (row,) = task.input_rows(letters, Example("a b c d e", "with"), labels, options)
    assert row.length == 9 and sum(row.cut) == 2 and row.tokens[1:6] == ("a", "b", "c", "d", "e")
    assert row.targets[row.tokens.index("[MASK]")] == "with"


def test_what_it_does_not_read_is_refused(letters):
    task = task_named("cloze")
    good = {"pattern": "{text} [MASK]", "words": WORDS}
    task.check_reading(Options(**good), toy("classification", 4, 0))
    for bad in ({"metadata": ("kind",)}, {"bilstm": True}, {"loss": "focal"}, {"texts_beside": ("kind",)}):
        with pytest.raises(ValueError):
            task.check_reading(Options(**good, **bad), toy("classification", 4, 0))
