"""Files as Excel, pandas, the csv module, SNLI and transformers write them: read as these read them, or refused."""

import csv
import io
import json

import pandas as pd
import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from minibert.command_line.lines import file_lines
from minibert.command_line.prediction import parse_input
from minibert.finetune.split import TooFewError, split_dev
from minibert.heads import names_from_config
from minibert.sentence_vectors.inference import read_inference
from minibert.tasks import TASKS, TaskDataError, guess_format, guess_task, label_order
from minibert.tasks.tables import LONGEST_TEXT
from minibert.tasks.tagging import entities


def parse(task: str, text: str | bytes, name: str = "data.csv", **options):
    return TASKS[task].parse(text if isinstance(text, bytes) else text.encode(), name, **options)


def read(text: str | bytes, name: str = "data.csv", **options):
    return [(one.text, one.label) for one in parse("classification", text, name, **options).examples]


GOOD = [("good, film", "pos"), ("bad, film", "neg"), ("nice, one", "pos")]
SEMICOLONS = [("a b", "pos"), ("c d", "neg")]


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;", "\nsep=;"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_excels_first_line_names_the_separator(first, end):
    assert read(f"{first}\ntext;label\na b;pos\nc d;neg\n".replace("\n", end)) == SEMICOLONS
    assert read("sep=\\t\ntext\tlabel\na b\tpos\nc d\tneg\n") == SEMICOLONS
    assert read("sep=|\ntext|label\na b|pos\nc d|neg\n", "data.tsv") == SEMICOLONS


@pytest.mark.parametrize("name", ["data.tsv", "data.txt", "data.csv"])
@pytest.mark.parametrize("blank", ["", "\n", "\r\n\r\n", " \n"])
def test_the_separator_is_judged_on_what_is_not_blank(name, blank):
    assert read(blank + "pos\tgood, film\nneg\tbad, film\npos\tnice, one\n", name) == GOOD
    assert read(blank + "".join(f"{text}\t{label}\n" for text, label in GOOD), name) == GOOD
    assert read(blank + "hello,you\tpos\nbye,you\tneg\nhi,there\tpos\n", name)[0] == ("hello,you", "pos")


def test_of_several_separators_the_one_that_splits_all_lines_alike():
    for separator in "\t,;|":
        other = ";" if separator == "," else ","
        lines = [f"one{other} two{separator}pos", f"one{other} two{other} three{separator}neg", f"none{separator}pos"]
        assert [label for _, label in read("\n".join(lines))] == ["pos", "neg", "pos"]
    assert parse("similarity", "sentence1;sentence2;score\na;b;1.5\n").examples[0].score == 1.5
    with pytest.raises(TaskDataError, match=r"data.csv: its lines can be split at .* alike: .* sep="):
        read("a;b,c\nd;e,f\n")
    assert read("sep=,\na;b,c\nd;e,f\n", format="label-last") == [("a;b", "c"), ("d;e", "f")]


def test_a_long_cell_is_read_or_refused_with_its_length():
    for name, separator in (("a.csv", ","), ("a.tsv", "\t"), ("a.csv", ";")):
        long = "x" * 131_073
        assert read(f"text{separator}label\n{long}{separator}a\ny{separator}b\n", name)[0] == (long, "a")
    cell = "\n".join(["x" * 1000] * 1100)
    data = parse("classification", f'text,label\n"{cell}",a\nfine,b\n')
    assert len(data.examples) == 1
    assert data.problems[0].line == 2 and f"at most {LONGEST_TEXT:,} are read" in data.problems[0].why


QUOTED = ["a\tb", "two\nlines", 'he said "x"', '"', '""', "plain", '"all"', "a\r\nb"]


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
def test_pandas_quotes_in_tsv(quoting):
    frame = pd.DataFrame({"text": QUOTED, "label": ["x", "y"] * 4})
    text = frame.to_csv(sep="\t", index=False, quoting=quoting)
    assert read(text, "data.tsv") == list(frame.itertuples(index=False, name=None))
    plain = pd.DataFrame({"text": ["a", "b"], "label": [1, 0]}).to_csv(sep="\t", index=False, quoting=quoting)
    assert read(plain, "data.tsv") == [("a", "1"), ("b", "0")]


def test_glues_quotes_in_tsv_are_characters():
    for cell in ('"Fine."', '"Fine', 'a "b"', '"a" b'):
        assert read(f'sentence\tlabel\n{cell}\t1\nother"\t0\n', "data.tsv") == [(cell, "1"), ('other"', "0")]


@pytest.mark.parametrize("header", ["What the guest wrote,Stars (1-2)", "What the guest wrote,How It Felt"])
def test_a_header_is_known_by_what_stands_below_it(header):
    labels = ("1", "2") if "1-2" in header else ("good", "bad")
    rows = [(f"a room with number {i}", labels[i % 2]) for i in range(8)]
    data = parse("classification", "\n".join([header, *map(",".join, rows)]))
    assert [(one.text, one.label) for one in data.examples] == rows and data.problems[0].line == 1


# --- labels -----------------------------------------------------------------------------------------------------------


def test_labels_that_look_like_numbers_and_are_none():
    assert label_order("--1") == (1, 0, "--1") and label_order("-1") == (0, -1, "-1")
    assert label_order("--5") == (1, 0, "--5") and label_order("-") == (1, 0, "-") and label_order("²") == (1, 0, "²")
    assert parse("classification", f"text,label\na,{'9' * 5000}\nb,--1\nc,2\n").labels[0] == "2"


SNLI = "gold_label\tsentence1\tsentence2\nentailment\ta\tb\n-\tc\td\ncontradiction\ta\te\nneutral\ta\tf\n"


def test_snlis_pairs_without_a_label_are_named_and_passed_over(tmp_path, capsys):
    data = parse("pair", SNLI, "snli.txt")
    assert data.labels == ["contradiction", "entailment", "neutral"] and len(data.examples) == 3
    assert data.problems[0].line == 3 and "'-'" in data.problems[0].why
    (tmp_path / "snli.txt").write_text(SNLI)
    assert len(read_inference(tmp_path / "snli.txt")) == 3 and "line 3" in capsys.readouterr().err
    headless = SNLI.partition("\n")[2] * 3
    assert "-" not in parse("pair", headless, "snli.txt").labels
    assert parse("classification", "text,label\na,-\nb,+\n").labels == ["+", "-"]  # a class of its own


@pytest.mark.parametrize(
    "cell", ["joy, anger", "['joy', 'anger']", '["joy", "anger"]', "['joy' 'anger']", "('joy', 'anger')"]
)
def test_lists_of_labels(cell):
    frame = pd.DataFrame({"text": ["a", "b"], "labels": [cell, ""]})
    data = parse("multilabel", frame.to_csv(index=False))
    assert [one.labels for one in data.examples] == [("joy", "anger"), ()] and not data.problems


def test_lists_of_zeros_and_ones_are_labels_by_place():
    names = ["fear", "joy", "anger"]
    for cell in ("[0, 1, 1]", "[0 1 1]", "[False, True, True]", "[0.0, 1.0, 1.0]"):
        text = f'text,labels\na,"{cell}"\nb,"[1, 0, 0]"\n'
        assert [one.labels for one in parse("multilabel", text, labels=names).examples] == [("joy", "anger"), ("fear",)]
        with pytest.raises(TaskDataError, match=r"says which labels by their places: name all 3"):
            parse("multilabel", text)
    assert parse("multilabel", 'text,labels\na,"[27]"\nb,"[2, 17]"\n').examples[1].labels == ("2", "17")
    with pytest.raises(TaskDataError, match="is no list of labels"):
        parse("multilabel", "text,labels\na,\"['joy'\"\n")


@pytest.mark.parametrize("missing", ["", "NaN", "nan", "<NA>"])
def test_missing_labels_and_whole_numbers_are_as_in_pandas(missing):
    data = parse("classification", f"text,label\na,1\nb,{missing}\nc,1.0\nd,0.0\n")
    assert data.labels == ["0", "1"] and data.counts["1"] == 2
    assert [problem.line for problem in data.problems] == [3]
    frame = pd.DataFrame({"text": list("abc"), "label": [1, None, 0]})  # integers become 1.0 and 0.0
    text = frame.to_csv(index=False, na_rep=missing)
    assert parse("classification", text).labels == ["0", "1"]
    scored = parse("similarity", f"sentence1,sentence2,score\na,b,{missing}\nc,d,2.0\n")
    assert [one.score for one in scored.examples] == [2.0] and scored.problems[0].line == 2
    assert parse("multilabel", f"text,labels\na,{missing}\nb,joy\n").examples[0].labels == ()


@pytest.mark.parametrize("values", [{"num_labels": 3}, {"id2label": {"0": "a", "1": "b"}}, {}, {"num_labels": 1}])
def test_names_of_labels_are_those_of_transformers(values):
    numbers = (
        {**values, "id2label": {int(k): v for k, v in values["id2label"].items()}} if "id2label" in values else values
    )
    assert names_from_config(values) == list(transformers.BertConfig(**numbers).id2label.values())


@pytest.mark.parametrize("names", [{"0": "a", "1": "a"}, {"1": "a", "2": "b"}, {"0": "a", "2": "b"}, {"a": "b"}])
def test_names_of_labels_that_cannot_be_are_refused(names):
    with pytest.raises(ValueError, match="id2label"):
        names_from_config({"id2label": names})


# --- other tasks ------------------------------------------------------------------------------------------------------


def reference_groups(tags):
    """What `aggregation_strategy="simple"` of transformers makes of one tag a word."""
    pipeline = transformers.TokenClassificationPipeline.__new__(transformers.TokenClassificationPipeline)
    pipeline.tokenizer = type("Tokenizer", (), {"convert_tokens_to_string": staticmethod(" ".join)})()
    words = [
        {"entity": tag, "score": 1.0, "index": i, "word": "w", "start": i, "end": i + 1} for i, tag in enumerate(tags)
    ]
    groups = pipeline.group_entities(words)
    return [(one["start"], one["end"], one["entity_group"]) for one in groups if one["entity_group"] != "O"]


@given(st.lists(st.sampled_from(["O", "NOUN", "VERB", "LABEL_2", "B", "I", "B-PER", "I-PER"]), max_size=6))
def test_tags_without_a_prefix_join_as_in_transformers(tags):
    assert entities(tags) == reference_groups(tags)


def test_tags_of_foreign_models():
    assert entities(["NOUN", "VERB"]) == [(0, 1, "NOUN"), (1, 2, "VERB")]
    assert entities(["LABEL_2", "LABEL_2", "O", "DET"]) == [(0, 2, "LABEL_2"), (3, 4, "DET")]
    assert TASKS["tagging"].answerable(["NOUN", "O", "B-PER", "I-PER"]) == ["NOUN", "PER"]


def test_tagging_without_any_entity_is_refused():
    with pytest.raises(TaskDataError, match=r"every tag is O"):
        TASKS["tagging"].check(parse("tagging", "Ada O\nsleeps O\n", "a.txt"))
    with pytest.raises(TaskDataError, match=r"no label on any example"):
        TASKS["multilabel"].check(parse("multilabel", "text,labels\na,\nb,\n"))


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("sent1,sent2,ending1,ending0,label", "A,B,one,zero,0"),
        ("label,sent1,sent2,ending0,ending1", "0,A,B,zero,one"),
        ("ending1,label,ending0,sent2,sent1", "one,0.0,zero,B,A"),
        ("sent1,ending0,ending1,label", "A,zero,one,0"),
    ],
)
def test_endings_are_told_by_the_header(header, row):
    (example,) = parse("choice", f"{header}\n{row}\n").examples
    assert example.choices == ("zero", "one") and example.choices[example.label] == "zero" and example.context == "A"


def test_endings_not_numbered_from_0_are_refused():
    for names in ("ending1,ending2", "ending0,ending2", "ending0,ending0"):
        with pytest.raises(TaskDataError, match="endings must be numbered ending0, ending1"):
            parse("choice", f"sent1,sent2,{names},label\nA,B,x,y,1\n", format="swag")


def test_a_file_about_one_passage_says_so():
    questions = [{"id": str(i), "question": "Who?", "answers": [{"text": "Ada", "answer_start": 0}]} for i in range(9)]
    squad = {"data": [{"paragraphs": [{"context": "Ada slept.", "qas": questions}]}]}
    with pytest.raises(TooFewError, match="all 9 examples are about one passage"):
        split_dev(parse("span", json.dumps(squad), "a.json"))


def test_lines_of_a_file_that_is_not_utf8_are_named(tmp_path):
    file = tmp_path / "lines.txt"
    file.write_bytes("\ufeffgood\r\nfilm\n".encode())
    assert list(file_lines(file)) == ["good", "film"]
    for content, line in (("good\n".encode("utf-16"), 1), (b"good\ncaf\xe9\n", 2)):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=rf"lines.txt, line {line}: not UTF-8"):
            list(file_lines(file))


@pytest.mark.parametrize("line", ["[1]", "[]", "[[1]]", "[null]", '["a", 1]', "[see", "{a}", "[{}]"])
def test_a_text_in_brackets_is_a_text(line):
    assert parse_input(line) == line
    assert parse_input('["a", "b"]') == ["a", "b"] and parse_input('{"text": "a"}') == {"text": "a"}


# --- any table --------------------------------------------------------------------------------------------------------

letters = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp"))
words = st.text(st.one_of(letters, st.sampled_from(" ,;|\"'=")), min_size=1, max_size=12).filter(str.strip)
broken = st.builds("{}{}{}".format, words, st.sampled_from(["\t", "\n", "\r\n", " "]), words)


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.tuples(st.one_of(words, broken), st.sampled_from(["pos", "neg"])), min_size=4, max_size=8),
    separator=st.sampled_from("\t,;|"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    named=st.booleans(),
    blank=st.booleans(),
    bom=st.booleans(),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    with_pandas=st.booleans(),
)
def test_any_table_is_read_as_it_was_written_or_refused(rows, separator, quoting, named, blank, bom, end, with_pandas):
    columns = ["text", "label"]
    if end == "\r":  # pandas and the csv module do not quote the other line ends then, and misread them, too
        rows = [(text.replace("\n", " ").replace("\r", " "), label) for text, label in rows]
    if with_pandas:
        frame = pd.DataFrame(rows, columns=columns)
        text = frame.to_csv(sep=separator, index=False, header=named, quoting=quoting, lineterminator=end)
    else:
        file = io.StringIO(newline="")
        writer = csv.writer(file, delimiter=separator, quoting=quoting, lineterminator=end)
        writer.writerows([columns, *rows] if named else rows)
        text = file.getvalue()
    content = ("\ufeff" * bom + end * blank + text).encode()
    name = "data.tsv" if separator == "\t" else "data.csv"
    format = None if named else "label-last"
    try:
        data = parse("classification", content, name, format=format)
    except TaskDataError as error:
        assert not named and "alike" in str(error)
        return
    assert guess_format(content, name, "classification") == "header" or not named
    assert [(one.text, one.label) for one in data.examples] == [(text.strip(), label) for text, label in rows]


def test_json_lines_are_the_table_that_pandas_wrote():
    frame = pd.DataFrame({"text": ['a "b"\tc', "d\ne", "f, g"], "label": [1, 0, 1], "note": ["x", None, "z"]})
    data = parse("classification", frame.to_json(orient="records", lines=True), "a.jsonl")
    assert [(one.text, int(one.label)) for one in data.examples] == list(
        zip(frame["text"], frame["label"], strict=True)
    )
    assert [one.extra["note"] for one in data.examples] == ["x", "", "z"] and not data.problems
    several = pd.DataFrame({"text": ["a", "b"], "labels": [["joy", "anger"], []]})
    read = parse("multilabel", several.to_json(orient="records", lines=True), "a.jsonl").examples
    assert [set(one.labels) for one in read] == [{"joy", "anger"}, set()]


SNLI_LINE = {
    "annotator_labels": ["neutral"],
    "gold_label": "neutral",
    "sentence1": "A man.",
    "sentence2": "A tall one.",
}


def test_snlis_json_lines_are_pairs_and_squads_one_object_is_not():
    disputed = SNLI_LINE | {"gold_label": "-"}
    text = "".join(json.dumps(one) + "\n" for one in (SNLI_LINE, disputed, SNLI_LINE))
    assert guess_task(text.encode(), "snli_1.0_dev.jsonl") == "pair"
    data = parse("pair", f"{text}[1]\n{{\n{json.dumps(SNLI_LINE | {'other': 1})}\n", "snli_1.0_dev.jsonl")
    assert [(one.text, one.pair, one.label) for one in data.examples] == [("A man.", "A tall one.", "neutral")] * 2
    assert [problem.line for problem in data.problems] == [4, 5, 6, 2]
    squad = json.dumps({"version": "1.1", "data": []})
    assert guess_task(squad.encode(), "a.json") == guess_task(squad.replace(", ", ",\n").encode(), "a.json") == "span"
