"""Fine-tuning: it learns what can be learned, repeats with its seed, and says what it did."""

import pytest
import torch
from sklearn.metrics import accuracy_score, f1_score

from minibert import checkpoint
from minibert.finetune.evaluation import evaluate
from minibert.finetune.learner import Learner
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.finetune.split import split_dev
from minibert.tasks import TASKS, Example, TaskData
from minibert.tasks.spans import SpanExample
from minibert.train import Done, Eval, Optimization, Sample, Step
from tests.minibert.finetune.runs import FAST, of
from tests.minibert.tasks.toys import toy

QUICK = FinetuneSettings(epochs=4, batch_size=16, optimization=FAST)
TRAIN, DEV = toy("classification", 200, 0), toy("classification", 60, 1)


@pytest.fixture(scope="module")
def run(small_checkpoint, tmp_path_factory):
    """(the events of a run, the model it saved)"""
    out = tmp_path_factory.mktemp("finetuned") / "model"
    events = finetune(small_checkpoint, "classification", TRAIN, DEV, QUICK, out=out, probe_inputs=["a b z", "a b c"])
    return list(events), Predictor.from_directory(out)


def test_events_tell_its_steps_and_its_watched_sentences(run):
    events, _ = run
    assert events[0].details["imbalance"]["counts"] == {"with": 100, "without": 100}
    assert events[0].settings["epochs"] == 4
    steps, evals, samples = (of(events, kind) for kind in (Step, Eval, Sample))
    assert [event.step for event in steps] == list(range(1, 4 * 13 + 1))
    assert steps[12].epoch == pytest.approx(1.0)
    assert len(evals) >= 1 + 2 * 4 and evals[-1].step == steps[-1].step
    assert events[-1].metrics == evals[-1].metrics
    assert evals[0].metrics["accuracy"] < 0.8 and evals[-1].metrics["accuracy"] > 0.95
    assert [answer["text"] for answer in samples[0].answers] == ["a b z", "a b c"]
    assert [answer["label"] for answer in samples[-1].answers] == ["with", "without"]
    assert sum(samples[-1].answers[0]["probabilities"].values()) == pytest.approx(1.0)


def test_the_saved_model_is_measured_as_it_was_and_as_scikit_learn_does(run, small_checkpoint):
    events, classifier = run
    again, last = evaluate(classifier, DEV), of(events, Eval)[-1]
    assert again.metrics["accuracy"] == pytest.approx(last.metrics["accuracy"])
    assert again.details["confusion"] == last.details["confusion"]
    mixed = TaskData([*DEV.examples[:31], *[Example("a a z z", "without")] * 5])
    got = evaluate(classifier, mixed).metrics
    predicted = [answer["label"] for answer in classifier.predict([e.text for e in mixed.examples])]
    truth = [e.label for e in mixed.examples]
    assert got["accuracy"] == pytest.approx(accuracy_score(truth, predicted))
    assert got["macro_f1"] == pytest.approx(f1_score(truth, predicted, average="macro"))
    texts = ["abz", "a", "abcdeabcde", "zzzz", "b z"]  # answered in their order
    for text, answer in zip(texts, classifier.predict(texts), strict=True):
        assert answer["text"] == text
        assert answer["probabilities"] == pytest.approx(classifier.predict([text])[0]["probabilities"], abs=1e-5)
    with pytest.raises(checkpoint.CheckpointError, match="is not fine-tuned for a task"):
        Predictor.from_directory(small_checkpoint)


def test_the_seed_decides_everything(small_checkpoint):
    def losses(seed):
        settings = FinetuneSettings(epochs=1, seed=seed, optimization=Optimization(learning_rate=1e-3))
        return [event.loss for event in of(finetune(small_checkpoint, "classification", TRAIN, DEV, settings), Step)]

    assert losses(3) == losses(3) != losses(4)


def test_scratch_shares_sizes_but_not_weights(loaded):
    source, tokenizer = loaded
    pretrained, weights = source.bert.state_dict(), {}
    for scratch in (False, True):
        settings = FinetuneSettings(from_scratch=scratch, dropout=0.2)
        model = Learner.of(source, TASKS["classification"], ["a", "b"], settings.options(), tokenizer, settings).model
        assert model.config.hidden_dropout_prob == 0.2 and model.config.hidden_size == 32
        weights[scratch] = model.bert.state_dict()
    assert all(torch.equal(weights[False][name], value) for name, value in pretrained.items())
    random_start, name = weights[True], "embeddings.token.weight"
    assert random_start[name].shape == pretrained[name].shape and not torch.equal(random_start[name], pretrained[name])


def test_a_message_changes_the_watched_sentences(small_checkpoint):
    inbox = iter([[], [["new one"]]])
    settings = FinetuneSettings(epochs=1)
    events = finetune(small_checkpoint, "classification", TRAIN, DEV, settings, mailbox=lambda: next(inbox, []))
    samples = of(events, Sample)
    assert samples and all([a["text"] for a in sample.answers] == ["new one"] for sample in samples)
    assert samples[0].step == 2


def test_time_limit_ends_the_run_measured(small_checkpoint):
    settings = FinetuneSettings(epochs=500, max_seconds=0.2)
    events = list(finetune(small_checkpoint, "classification", TRAIN, DEV, settings))
    assert isinstance(events[-1], Done) and events[-1].step < 500 * 7
    assert of(events, Eval)[-1].step == events[-1].step


def test_split_keeps_shares_and_passages_and_loses_nothing():
    data = TaskData([Example(f"t{i}", "a" if i % 4 else "b") for i in range(100)])
    train, dev = split_dev(data, share=0.2, seed=1)
    assert train.counts == {"a": 60, "b": 20} and dev.counts == {"a": 15, "b": 5}
    assert {e.text for e in train.examples} | {e.text for e in dev.examples} == {f"t{i}" for i in range(100)}
    with pytest.raises(ValueError, match="too few examples"):
        split_dev(TaskData([Example("x", "a"), Example("y", "b")]))
    parts = split_dev(TaskData([SpanExample(str(i), "q", f"passage {i // 4}", ()) for i in range(40)]), 0.2, 0)
    contexts = [{e.context for e in part.examples} for part in parts]
    assert len(parts[1].examples) == 8 and not contexts[0] & contexts[1]
