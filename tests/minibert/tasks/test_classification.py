"""Readers: every accepted form, every refusal, every bad line named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from minibert.tasks import TASKS, Example, Problem, TaskDataError, tables

TASK = TASKS["classification"]


def parse(text: str | bytes, name: str = "data.tsv", **options):
    return TASK.parse(text if isinstance(text, bytes) else text.encode(), name, **options)


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
    assert data.labels == ["0", "1"] and data.counts == {"0": 1, "1": 1} and not data.problems


def test_quotes_in_tsv_are_characters_and_in_csv_quotes():
    assert parse('text\tlabel\n"Fine, he said\ta\nok\tb\n').examples[0].text == '"Fine, he said'
    data = parse('text,label\n"Fine, he said,\n ""twice""",a\nlonely\nok,b\n', "a.csv")
    assert data.examples[0].text == 'Fine, he said,\n "twice"'
    assert data.problems == [Problem(4, 2, "1 column where 2 are expected")]  # quoted line breaks are counted


def test_bad_lines_are_passed_over_and_named():
    text = "sentence\tlabel\ngood\t1\nno label\n\t0\nbad\t\nfine\t0\n"
    problems = ["1 column where 2 are expected", "the text is empty", "the label is empty"]
    data = parse(text)
    assert len(data.examples) == 2
    assert data.problems == [Problem(3, 2, problems[0]), Problem(4, 1, problems[1]), Problem(5, 2, problems[2])]
    with pytest.raises(TaskDataError, match=r"data.tsv, line 3, column 2: 1 column where 2 are expected"):
        parse(text, strict=True)


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("", "a.tsv", "a.tsv is empty"),
        ("\n \n", "a.tsv", "a.tsv is empty"),
        ("sentence\tscore\nx\t1\n", "a.tsv", r"line 1: the header has no label column .*it has 'sentence', 'score'"),
        ("kind\tlabel\nx\t1\n", "a.tsv", "line 1: the header has no text column"),
        ("just a line\nanother\n", "a.txt", "expected a header with `sentence` and `label`.*found 1 column$"),
        ("a\tb\tc\n", "a.tsv", "found 3 columns"),
        ("sentence\tlabel\nx\n", "a.tsv", "no usable line; line 2, column 2: 1 column"),
        (b"text\tlabel\nx\t1\ncaf\xe9\t0\n", "a.tsv", "a.tsv, line 3: not UTF-8"),
        ("text\tlabel\nx\0y\t1\n", "a.tsv", "line 2: a NUL byte"),
        ('text,label\n"never closed,1\n', "a.csv", "a.csv, line 2: unexpected end of data"),
        ('text,label\nfine,pos\n"bad,neg\nwell,pos\n', "a.csv", "line 3: .*a quote that opens here is never closed"),
        ('"text"x,label\nfine,pos\n', "a.csv", "a.csv, line 1: "),
    ],
)
def test_unusable_files_say_why(content, name, message):
    with pytest.raises(TaskDataError, match=message):
        parse(content, name)


def test_size_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "LARGEST_FILE", 2**20)
    (tmp_path / "big.tsv").write_bytes(b"x" * 2**21)
    for attempt in (lambda: parse(b"x" * 2**21, "big.tsv"), lambda: TASK.read(tmp_path / "big.tsv")):
        with pytest.raises(TaskDataError, match=r"big.tsv has 2 MB; at most 1 MB can be read"):
            attempt()
    with pytest.raises(TaskDataError, match="does not exist"):
        TASK.read(tmp_path / "none.tsv")


cell = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1).filter(lambda s: s.strip())


@given(st.lists(st.tuples(cell, st.sampled_from("ab")), min_size=2).filter(lambda rows: len({r[1] for r in rows}) == 2))
def test_what_is_written_is_read(rows):
    data = parse("sentence\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
    assert [(e.text, e.label) for e in data.examples] == [(text.strip(), label) for text, label in rows]


OPINIONS = "id,Opinion,Stars\n1,good film,up\n2,bad film,down\n3,fine,up\n4,dull,down\n"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (OPINIONS, {"text": "Opinion", "label": "stars"}),
        (OPINIONS, {"text": 2, "label": "Stars"}),
        (OPINIONS, {"text": 2, "label": 3}),  # a first line whose label no other line has is a header
        (OPINIONS.partition("\n")[2], {"text": 2, "label": 3}),
        (OPINIONS.replace("Opinion", "sentence"), {"label": "Stars"}),
    ],
)
def test_columns_can_be_named_or_counted(text, columns):
    data = parse(text, "a.csv", columns=columns)
    assert [e.text for e in data.examples] == ["good film", "bad film", "fine", "dull"]
    assert data.labels == ["down", "up"]
    assert len(data.problems) == (columns == {"text": 2, "label": 3} and text is OPINIONS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"text": "Opinion", "label": "Sterne"}}, "no label column .sterne.; it has 'id', 'Opinion', 'S"),
        ({"columns": {"text": 2, "label": 4}}, "no column 4 for the label: this line has 3"),
        ({"columns": {"text": 0, "label": 3}}, "no column 0 for the text"),
        ({"columns": {"text": "Opinion", "label": 2}}, "column 2 cannot be several at once: text, label"),
        ({"columns": {"score": 2}}, "no column 'score' for classification; it can be text, label"),
        ({"columns": {"text": 2, "label": 3}, "format": "cola"}, "choose columns or the format"),
        ({"format": "sideways"}, "no format 'sideways' for classification; it can be header, label-first"),
    ],
)
def test_columns_and_formats_that_cannot_be_are_refused(options, message):
    with pytest.raises(TaskDataError, match=message):
        parse(OPINIONS, "a.csv", **options)
    with pytest.raises(TaskDataError, match="its files have no columns to choose"):
        TASKS["tagging"].parse(b"Ada B-PER\n", "a.txt", columns={"text": 1})


def test_every_table_takes_columns():
    for task, columns, line in (
        ("pair", {"first text": 1, "second text": 2, "label": 3}, "a b\tc d\tyes\ne f\tg h\tno"),
        ("similarity", {"first text": "A", "second text": "B", "score": "C"}, "A\tB\tC\na b\tc d\t1\ne f\tg h\t2"),
        ("multilabel", {"text": "A", "labels": "C"}, "A\tB\tC\na b\tc\tjoy,fear\ne f\tc\t"),
    ):
        data = TASKS[task].parse(line.encode(), "a.tsv", columns=columns)
        assert [example.text for example in data.examples] == ["a b", "e f"] and not data.problems


def test_what_stands_in_which_column():
    cola = parse("gj04\t1\t\tThe sailors rode.\ncj99\t0\t*\tAs you eat, least.\n")  # without a header
    assert cola.examples[0] == Example("The sailors rode.", "1", {"source": "gj04", "mark": ""})
    assert cola.examples[1] == Example("As you eat, least.", "0", {"source": "cj99", "mark": "*"})
    others = parse("sentence\tlabel\tkind\nx\ta\tplain\ny\tb\tirony\n")
    assert others.examples[1] == Example("y", "b", {"kind": "irony"})
    last = parse("good film\tyes\nbad film\tno\nfine film\tyes\n")
    assert last.examples[2] == Example("fine film", "yes")
    assert parse("good\tyes\nbad\tno\n", format="label-last").examples[0] == Example("good", "yes")


@pytest.mark.parametrize("form", ["{text},{label}", "{label},{text}"])
def test_a_header_of_unknown_names_is_no_example(form):
    rows = [("tweet", "emotion"), *[(f"nice film {i}", "pos") for i in range(3)], *[(f"bad {i}", "neg") for i in "ab"]]
    text = "".join(form.format(text=text, label=label) + "\n" for text, label in rows)
    data = parse(text, "a.csv")
    assert data.labels == ["neg", "pos"] and len(data.examples) == 5 and data.examples[0].text == "nice film 0"
    why = "no other line has 'emotion' as its label: taken for a header and passed over"
    assert data.problems == [Problem(1, 1 + form.startswith("{text}"), why)]
    with pytest.raises(TaskDataError, match=r"a.csv, line 1, column \d: no other line has 'emotion'"):
        parse(text, "a.csv", strict=True)
    declared = parse(text, "a.csv", labels=["pos", "neg", "emotion"])
    assert len(declared.examples) == 6 and not declared.problems


def test_a_first_line_whose_label_is_rare_stays_an_example():
    for text in (
        "3\tgood film\n" + "1\tfilm\n0\tbad\n" * 4,  # a rare class
        "great\tWell, what a film!\n" + "fine\tfilm\nawful\tbad\n" * 4,
        "great\twhat a great film\n" + "fine\tfilm\nawful\tbad\n" * 4,
        "great\tfilm\nfine\tfilm\nawful\tbad\nso so\twell\n",  # nothing comes twice
    ):
        data = parse(text, format="label-first")
        assert len(data.examples) == text.count("\n") and not data.problems


def test_wrong_quotes_cost_a_line_of_a_csv_file_and_not_the_file():
    text = 'text,label\n"good" film,pos\n"bad, film",neg\nfine film,pos\n'
    data = parse(text, "a.csv")
    assert [(e.text, e.label) for e in data.examples] == [("bad, film", "neg"), ("fine film", "pos")]
    (problem,) = data.problems
    assert problem.line == 2 and problem.why.endswith("a quote inside quotes is written twice")
    with pytest.raises(TaskDataError, match=r"a.csv, line 2: "):
        parse(text, "a.csv", strict=True)


def test_declared_labels_are_kept_others_named_all_counted_and_those_that_are_numbers_sort_as_numbers():
    data = parse("label\ttext\nyes\tgood\nmaybe\twell\nyes\tfine\n", labels=["no", "yes"])
    assert data.labels == ["no", "yes"] and len(data.examples) == 2
    assert data.problems == [Problem(3, 1, "'maybe' is none of the labels no, yes")]
    assert data.imbalance.as_dict() == {"counts": {"no": 0, "yes": 2}, "ratio": 1.0, "majority": 1.0, "missing": ["no"]}

    assert parse("10\ta\n9\tb\n-1\tc\nx\td\n").labels == ["-1", "9", "10", "x"]
    data = parse("label\ttext\n" + "a\tx\n" * 6 + "b\ty\n" * 2 + "c\tz\n")
    assert data.imbalance.ratio == 6 and data.imbalance.majority == pytest.approx(6 / 9)
    with pytest.raises(TaskDataError, match="all 2 examples have the label '1'; there is nothing to tell apart"):
        TASK.check(parse("sentence\tlabel\nx\t1\ny\t1\n"))


def test_metrics_are_scikit_learns():
    truth, answers = list("aabbbcaab"), list("abbbacaab")
    examples = [Example("x", label) for label in truth]
    predictions = [{"label": label, "probabilities": dict.fromkeys("abc", 1 / 3)} for label in answers]
    scores = TASK.score(predictions, examples)
    assert scores["accuracy"] == pytest.approx(7 / 9)
    assert scores["macro_f1"] == pytest.approx(metrics.f1_score(truth, answers, average="macro"))
    assert scores["mcc"] == pytest.approx(metrics.matthews_corrcoef(truth, answers))
