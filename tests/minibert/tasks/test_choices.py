"""Choices: SWAG, MCTest with its answers file, ARCT."""

import numpy as np
import pytest
import torch

from minibert import checkpoint
from minibert.tasks import TASKS, Options, Problem, TaskDataError
from minibert.tasks.choices import ChoiceExample

TASK = TASKS["choice"]
SWAG = (
    "video-id,fold-ind,startphrase,sent1,sent2,gold-source,ending0,ending1,ending2,ending3,label\n"
    'v1,0,"He sits. He","He sits.",He,gold,"stands, slowly.",flies.,sings.,eats.,2\n'
    "v2,1,x,She runs.,She,gold,a,b,c,d,4\n"
)


def test_swag():
    data = TASK.parse(SWAG.encode(), "train.csv")
    (example,) = data.examples
    assert example.pairs[0] == ("He sits.", "He stands, slowly.") and example.label == 2
    assert data.problems == [Problem(3, 11, "the label is '4', not a number from 0 to 3")]
    assert data.labels == ["C"] and example.extra["video-id"] == "v1"
    with pytest.raises(TaskDataError, match=r"train.csv, line 3, column 11"):
        TASK.parse(SWAG.encode(), "train.csv", strict=True)


def test_mctest_takes_the_answers_beside(tmp_path):
    questions = "\t".join(f"one: Who {n}?\tdog\tcat\tcow\then" for n in range(2))
    story = f"mc.0\tAuthor: 1\tA dog.\\newlineIt barked.\t{questions}\n"
    (tmp_path / "mc160.dev.tsv").write_text(story)
    without = TASK.read(tmp_path / "mc160.dev.tsv")
    assert [e.label for e in without.examples] == [None, None]
    (tmp_path / "mc160.dev.ans").write_text("B\tE\n")
    data = TASK.read(tmp_path / "mc160.dev.tsv")
    (example,) = data.examples
    assert example.context == "A dog. It barked." and example.question == "Who 0?" and example.label == 1
    assert data.problems == [Problem(1, 9, "line 1 of the answers has 'E' for question 2, not A, B, C or D")]
    (tmp_path / "mc160.dev.ans").write_text("B\tD\n")
    (tmp_path / "mc160.dev.statements.tsv").write_text(story)
    assert len(TASK.read(tmp_path / "mc160.dev.statements.tsv", strict=True).examples) == 2


def test_arct():
    text = "#id\twarrant0\twarrant1\tcorrectLabelW0orW1\treason\tclaim\n1\tw a\tw b\t1\tbecause\tso\n"
    (example,) = TASK.parse(text.encode(), "dev.csv").examples
    assert example.context == "because so" and example.choices == ("w a", "w b") and example.label == 1


def test_questions_of_more_and_fewer_choices_share_a_batch(letters):
    examples = [ChoiceExample("ab", "q", ("c", "d", "e"), 2), ChoiceExample("ab", "", ("ff", "g"), 0)]
    rows = TASK.features(letters, examples, ["score"], Options(max_length=16))
    batch = TASK.batch(rows, letters.pad_id)
    assert batch.ids.shape == (2, 3, 7) and batch.segments.shape == batch.padding.shape == (2, 3, 7)
    assert letters.decode(batch.ids[0, 1]) == "[CLS] ab [SEP] q d [SEP]"
    assert batch.choices.tolist() == [[True, True, True], [True, True, False]] and batch.labels.tolist() == [2, 0]
    outputs = [{"logits": np.array([0.0, 1.0, 0.0])}, {"logits": np.array([0.0, 1.0, 9.0])}]
    answers = TASK.decode(outputs, rows, examples, ["score"], Options())
    assert [a["label"] for a in answers] == [1, 1] and len(answers[1]["probabilities"]) == 2
    assert TASK.score(answers, examples) == {"accuracy": 0.0}


def test_a_choice_that_is_none_takes_no_probability(letters, small_checkpoint):
    torch.manual_seed(0)
    model = TASK.head(checkpoint.load(small_checkpoint).config, ["score"], Options()).eval()
    examples = [ChoiceExample("ab", "", ("c", "d"), 0), ChoiceExample("ab", "", ("c", "d", "e"), 0)]
    rows = TASK.features(letters, examples, ["score"], Options(max_length=16))
    with torch.no_grad():
        both, alone = model(TASK.batch(rows, 0)).logits, model(TASK.batch(rows[:1], 0)).logits
    torch.testing.assert_close(both[0].softmax(-1)[:2], alone[0].softmax(-1), atol=1e-5, rtol=0)
