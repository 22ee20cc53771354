"""Readers: every accepted form, every refusal, every bad line named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minibert import tasks
from minibert.tasks import Example, TaskDataError, parse_classification, read_classification


def parse(text: str | bytes, name: str = "data.tsv"):
    return parse_classification(text if isinstance(text, bytes) else text.encode(), name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("sentence\tlabel\ngood film\t1\nbad film\t0\n", "a.tsv"),
        ("label\tsentence\r\n1\tgood film\r\n0\tbad film\r\n", "a.tsv"),
        ("1\tgood film\n0\tbad film", "a.txt"),
        ("text,label\ngood film,1\nbad film,0\n", "a.csv"),
        ('label,text\n1,"good film"\n0,"bad film"\n', "a.csv"),
        ("Label\tTEXT\n1\tgood film\n\n0\tbad film\n", "a.tsv"),
        ("\ufefftext,label\ngood film,1\nbad film,0\n", "a.csv"),
    ],
)
def test_every_form_reads_alike(text, name):
    data = parse(text, name)
    assert [(e.text, e.label) for e in data.examples] == [("good film", "1"), ("bad film", "0")]
    assert data.labels == ["0", "1"] and data.counts == {"0": 1, "1": 1} and not data.skipped


def test_other_columns_are_kept():
    data = parse("sentence\tlabel\tkind\nx\ta\tplain\ny\tb\tirony\n")
    assert data.examples[1] == Example("y", "b", {"kind": "irony"})


def test_quotes_in_tsv_are_characters_and_in_csv_quotes():
    assert parse('text\tlabel\n"Fine, he said\ta\nok\tb\n').examples[0].text == '"Fine, he said'
    data = parse('text,label\n"Fine, he said,\n ""twice""",a\nok,b\n', "a.csv")
    assert data.examples[0].text == 'Fine, he said,\n "twice"'


def test_labels_that_are_numbers_sort_as_numbers():
    assert parse("10\ta\n9\tb\n-1\tc\nx\td\n").labels == ["-1", "9", "10", "x"]


def test_bad_lines_are_passed_over_and_named():
    data = parse("sentence\tlabel\ngood\t1\nno label\n\t0\nbad\t\nfine\t0\n")
    assert len(data.examples) == 2
    assert data.skipped == [
        (3, "1 columns where 2 are expected"),
        (4, "the text is empty"),
        (5, "the label is empty"),
    ]


def test_line_numbers_count_quoted_line_breaks():
    data = parse('text,label\n"two\nlines",a\nlonely\nok,b\n', "a.csv")
    assert data.skipped == [(4, "1 columns where 2 are expected")]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("", "a.tsv", "a.tsv is empty"),
        ("\n \n", "a.tsv", "a.tsv is empty"),
        ("sentence\tscore\nx\t1\n", "a.tsv", r"line 1: the header has no label column .*it has 'sentence', 'score'"),
        ("kind\tlabel\nx\t1\n", "a.tsv", "line 1: the header has no text column"),
        ("just a line\nanother\n", "a.txt", "expected a header with `sentence` and `label`.*found 1 column$"),
        ("a\tb\tc\n", "a.tsv", "found 3 columns"),
        ("sentence\tlabel\nx\t1\ny\t1\n", "a.tsv", "all 2 examples have the label '1'; there is nothing to tell apart"),
        ("sentence\tlabel\nx\n", "a.tsv", "no usable line; line 2: 1 columns"),
        (b"text\tlabel\nx\t1\ncaf\xe9\t0\n", "a.tsv", "a.tsv, line 3: not UTF-8"),
        ("text\tlabel\nx\0y\t1\n", "a.tsv", "line 2: a NUL byte"),
        ('text,label\n"never closed,1\n', "a.csv", "a.csv, line 2: unexpected end of data"),
    ],
)
def test_unusable_files_say_why(content, name, message):
    with pytest.raises(TaskDataError, match=message):
        parse(content, name)


def test_size_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(tasks, "LARGEST_FILE", 2**20)
    with pytest.raises(TaskDataError, match=r"big.tsv has 2 MB; at most 1 MB can be read"):
        parse(b"x" * 2**21, "big.tsv")
    (tmp_path / "big.tsv").write_bytes(b"x" * 2**21)
    with pytest.raises(TaskDataError, match=r"big.tsv has 2 MB"):
        read_classification(tmp_path / "big.tsv")
    with pytest.raises(TaskDataError, match="does not exist"):
        read_classification(tmp_path / "none.tsv")


@given(st.binary(max_size=200), st.sampled_from(["a.tsv", "a.csv", "a.txt"]))
def test_whatever_the_bytes_there_is_data_or_a_clear_error(content, name):
    try:
        data = parse_classification(content, name)
    except TaskDataError as error:
        assert str(error).startswith(name)
    else:
        assert len(data.labels) >= 2 and all(e.text and e.label for e in data.examples)


cell = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1).filter(lambda s: s.strip())


@given(st.lists(st.tuples(cell, st.sampled_from("ab")), min_size=2).filter(lambda rows: len({r[1] for r in rows}) == 2))
def test_what_is_written_is_read(rows):
    data = parse("sentence\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
    assert [(e.text, e.label) for e in data.examples] == [(text.strip(), label) for text, label in rows]
