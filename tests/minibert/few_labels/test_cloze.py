"""A cloze is a task as others are: it learns, is saved, served, exported; and transformers fills its blank alike."""

import copy
import json
import math

import numpy as np
import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.few_labels.zero_shot import predict_blank, zero_shot_predictor
from minibert.finetune.evaluation import evaluate
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.heads import BertForCloze
from minibert.service.export import export
from minibert.train import Done, Eval, Optimization, Step
from tests.minibert.commands import call
from tests.minibert.tasks.toys import toy

PATTERN, WORDS = "{text} it [MASK].", {"with": ["y", "z"], "without": ["n"]}
BASE = {"pattern": PATTERN, "words": WORDS, "max_length": 24, "dropout": 0.0, "evaluations_per_epoch": 1}
FAST = Optimization(learning_rate=5e-3)


@pytest.fixture(scope="module")
def run(small_checkpoint, tmp_path_factory):
    out = tmp_path_factory.mktemp("cloze") / "model"
    settings = FinetuneSettings(**BASE, epochs=14, batch_size=16, optimization=FAST, mlm_weight=1e-4)
    train, dev = toy("classification", 96, 0), toy("classification", 24, 1)
    return list(finetune(small_checkpoint, "cloze", train, dev, settings, out=out, probe_inputs=["a z"])), out, dev


def test_it_learns_and_answers_alike_when_it_is_loaded(run):
    events, out, dev = run
    evals = [event for event in events if isinstance(event, Eval)]
    assert evals[-1].metrics["accuracy"] > 0.9 and isinstance(events[-1], Done)
    predictor = Predictor.from_directory(out)
    assert isinstance(predictor.model, BertForCloze) and predictor.options.words == WORDS
    assert evaluate(predictor, dev).metrics == pytest.approx(evals[-1].metrics, abs=1e-4)
    first = next(event for event in events if isinstance(event, Step))
    assert first.loss == pytest.approx(first.parts["task_loss"] + 1e-4 * first.parts["mlm_loss"], abs=1e-6)


@pytest.fixture
def zero_shot(loaded, letters):
    return zero_shot_predictor(loaded[0], letters, PATTERN, WORDS)


@torch.no_grad()
def test_the_blank_is_filled_as_transformers_fills_it(zero_shot, small_checkpoint, letters):
    """Zero-shot: the logits of the words at [MASK], in rows of several lengths."""
    theirs = transformers.BertForMaskedLM.from_pretrained(small_checkpoint).eval()
    features = zero_shot.features(toy("classification", 7, 3).examples)
    outputs = zero_shot.model(zero_shot.task.batch(features, letters.pad_id)).logits
    for row, output in zip(features, outputs, strict=True):
        logits = theirs(input_ids=torch.tensor([row.ids])).logits[0, row.ids.index(letters.mask_id)]
        y, z, n = (float(logits[letters.ids[word]]) for word in "yzn")
        assert output.tolist() == pytest.approx([(y + z) / 2, n], abs=1e-4)


def test_the_distribution_is_the_softmax_worked_by_hand(zero_shot):
    seen = predict_blank(zero_shot, "a b")
    (y, z), (n,) = ([p for _, p in seen.shares[label]] for label in ("with", "without"))
    with_, without = math.sqrt(y * z), n  # the mean of logits is the geometric mean of probabilities
    assert seen.probabilities["with"] == pytest.approx(with_ / (with_ + without), abs=1e-5)
    assert seen.tokens[seen.blank] == "[MASK]" and seen.cut == 0
    assert seen.likeliest[0][1] >= seen.likeliest[-1][1] > 0


@torch.no_grad()
def test_what_was_saved_is_a_masked_language_model_of_transformers(run):
    _, out, dev = run
    predictor, theirs = Predictor.from_directory(out), transformers.AutoModelForMaskedLM.from_pretrained(out).eval()
    batch = predictor.task.batch(predictor.features(dev.examples[:5]), 0)
    logits = theirs(input_ids=batch.ids, attention_mask=batch.padding.long()).logits
    at = (batch.ids == predictor.model.mask_id).int().argmax(1)
    torch.testing.assert_close(predictor.model.at_blank(batch), logits[torch.arange(5), at], atol=1e-4, rtol=0)


@pytest.mark.release
def test_it_is_exported(run, tmp_path):
    assert export(run[1], tmp_path / "out", "onnx").difference < 1e-4
    assert len(export(run[1], tmp_path / "hf").notes) == 1


def test_config_that_makes_no_sense_is_refused(run, tmp_path):
    model = checkpoint.load(run[1])
    values = json.loads((run[1] / "config.json").read_text())
    assert values["cloze_words"] == model.words and values["architectures"] == ["BertForCloze"]
    for change in ({"cloze_words": [[1]]}, {"cloze_words": [[10**6], [1]]}, {"cloze_mask": -1}, {"cloze_words": "x"}):
        checkpoint.save(tmp_path / "m", model, notes=change)
        with pytest.raises(checkpoint.CheckpointError):
            checkpoint.load(tmp_path / "m")


def test_an_encoder_without_its_head_is_refused(small_checkpoint, tmp_path, letters):
    checkpoint.save(tmp_path / "bare", checkpoint.load(small_checkpoint).bert, letters)
    data = toy("classification", 8, 0)
    with pytest.raises(ValueError, match="no head"):
        next(finetune(tmp_path / "bare", "cloze", data, data, FinetuneSettings(**BASE)))


def test_from_the_command_line(small_checkpoint, tmp_path):
    file, out = tmp_path / "train.tsv", tmp_path / "out"
    rows = [f"{one.text}\t{one.label}" for one in toy("classification", 16, 0).examples]
    file.write_text("\n".join(["sentence\tlabel", *rows]) + "\n")
    line = (
        "finetune",
        "--task",
        "cloze",
        "--train",
        file,
        "--dev",
        file,
        "--model",
        small_checkpoint,
        "--epochs",
        1,
        "--pattern",
        PATTERN,
        "--out",
        out,
        "--words",
        "without=n",
    )
    assert call(*line, "with=y,z")[0] == 0
    assert 0 <= call("evaluate", "--model", out, "--data", file)[1][0]["accuracy"] <= 1
    code, _, err = call(*line, "with=yes")
    assert code == 2 and "'yes'" in err
    assert call(*line, "with=y", "--unlabelled", file, "--vat-weight", 1)[0] == 0
    assert call(*line, "with=y", "--unlabelled", file)[0] == 2


def test_zero_shot_leaves_the_model_as_it_was(loaded, zero_shot, letters):
    model, before = loaded[0], copy.deepcopy(loaded[0].state_dict())
    assert zero_shot.model.bert is model.bert and zero_shot.predict(["a", "", "你好", "z " * 200])
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    with pytest.raises(ValueError, match="learned first"):
        zero_shot_predictor(model, letters, "{text} [unused1] [MASK]", WORDS)
    with pytest.raises(ValueError, match="two labels"):
        zero_shot_predictor(model, letters, PATTERN, {"with": ["y"]})
    assert np.isclose(sum(predict_blank(zero_shot, "").probabilities.values()), 1)
