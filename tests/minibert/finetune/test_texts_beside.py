"""Columns read as further texts: in the row, in the saved model, at the service, and refused where a task cannot."""

import json

import pytest

from minibert.finetune.predictor import Predictor
from minibert.inside.explanations.attribution import Case
from minibert.service.server import Limits, request_schema
from minibert.tasks import TASKS, Example, Options, TaskData
from minibert.tasks.pairs import PairExample
from tests.minibert.finetune.runs import run

TASK = TASKS["classification"]
THREE = Options(max_length=20, texts_beside=("title", "reply"))
REVIEW = Example("abcdef", extra={"title": "xy", "reply": "pqrs"})


def read(letters, example, options, task=TASK) -> tuple[str, list[int]]:
    (row,) = task.features(letters, [example], ["0", "1"], options)
    return "".join(letters.vocab[i] for i in row.ids).replace("##", ""), row.segments


def test_three_texts_and_two_segments(letters):
    row, segments = read(letters, REVIEW, THREE)
    assert row == "[CLS]abcdef[SEP]xy[SEP]pqrs[SEP]" and segments == [0] * 8 + [1] * 8
    assert read(letters, Example("ab"), THREE)[0] == "[CLS]ab[SEP][SEP][SEP]"  # a missing text is empty


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"truncation": "budget", "budgets": (3, 1, 4)}, "[CLS]abc[SEP]x[SEP]pqrs[SEP]"),
        ({"truncation": "longest_first"}, "[CLS]abc[SEP]xy[SEP]pqr[SEP]"),
        ({"truncation": "head"}, "[CLS]abcdef[SEP]xy[SEP][SEP]"),
        ({"truncation": "tail"}, "[CLS]ef[SEP]xy[SEP]pqrs[SEP]"),
    ],
)
def test_cut_to_length(letters, options, expected):
    options = Options(max_length=12, texts_beside=("title", "reply"), **options)
    row, _ = read(letters, REVIEW, options)
    assert row == expected
    (drawn,) = TASK.input_rows(letters, REVIEW, ["0", "1"], options)
    kept = "".join(token for token, cut in zip(drawn.tokens, drawn.cut, strict=True) if not cut)
    assert kept.replace("##", "") == expected and sum(drawn.cut) == 12 - (drawn.length - 4)


def test_a_pair_with_a_third_text(letters):
    example = PairExample("ab", "cd", extra={"title": "x"})
    assert read(letters, example, Options(texts_beside=("title",)), TASKS["pair"])[1] == [0] * 4 + [1] * 5


def told_apart_by_the_title(count: int) -> TaskData:
    return TaskData([Example("a b c", str(i % 2), {"title": "z" if i % 2 else "b"}) for i in range(count)])


def test_it_is_learned_from_and_travels_with_the_model(small_checkpoint, tmp_path):
    data = told_apart_by_the_title(96), told_apart_by_the_title(16)
    options = {"texts_beside": ("title",), "epochs": 4, "max_length": 16}
    assert run(small_checkpoint, data=data, out=tmp_path / "model", **options)[-1].metrics["accuracy"] == 1.0
    predictor = Predictor.from_directory(tmp_path / "model")
    given = [{"text": "a b c", "title": "z"}, {"text": "a b c", "title": "b"}]
    assert [answer["label"] for answer in predictor.predict(given)] == ["1", "0"]
    form = request_schema(predictor, Limits(characters=50))["properties"]["inputs"]["items"]["anyOf"][1]
    assert form["properties"]["title"] == {"type": "string", "maxLength": 50} and form["required"] == ["text"]
    with pytest.raises(ValueError, match="reads more than the text"):
        Case.of(predictor, given[0])


def test_a_saved_task_that_reads_none_is_refused(answering, tmp_path):
    folder = answering("tagging").save(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    config["minibert_options"]["texts_beside"] = ["title"]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="reads no further texts"):
        Predictor.from_directory(folder)
