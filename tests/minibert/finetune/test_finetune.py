"""Fine-tuning: it learns what can be learned, repeats with its seed, and says what it did."""

import random

import pytest
import torch
import transformers
from sklearn.metrics import accuracy_score, f1_score

from minibert import checkpoint
from minibert.finetune.evaluation import evaluate
from minibert.finetune.learner import Learner
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.finetune.split import split_dev
from minibert.model import Batch
from minibert.tasks import TASKS, Example, Options, TaskData
from minibert.train import Done, Eval, Optimization, Sample, Saved, Started, Step

QUICK = FinetuneSettings(epochs=4, batch_size=16, optimization=Optimization(learning_rate=5e-3))


def with_or_without_z(count: int, seed: int) -> TaskData:
    """Learnable by any pooling of letters: is there a z?"""
    rng = random.Random(seed)
    examples = []
    for i in range(count):
        word = "".join(rng.choice("abcde") for _ in range(rng.randint(2, 8)))
        examples.append(Example(word + "z" if i % 2 else word, "with" if i % 2 else "without"))
    return TaskData(examples)


TRAIN, DEV = with_or_without_z(200, 0), with_or_without_z(60, 1)


def probabilities(predictor: Predictor, texts: list[str]) -> torch.Tensor:
    return torch.tensor([list(answer["probabilities"].values()) for answer in predictor.predict(texts)])


@pytest.fixture(scope="module")
def run(small_checkpoint, tmp_path_factory):
    out = tmp_path_factory.mktemp("finetuned") / "model"
    return list(finetune(small_checkpoint, "classification", TRAIN, DEV, QUICK, out=out, watch=["abz", "abc"])), out


def test_events_come_in_order_and_it_learns(run):
    events, out = run
    kinds = [type(event) for event in events]
    assert kinds[:3] == [Started, Eval, Sample] and kinds[-2:] == [Saved, Done]
    assert events[0].details["imbalance"]["counts"] == {"with": 100, "without": 100}
    assert events[0].settings["epochs"] == 4 and len(events[0].details["dev_examples"]) == len(DEV.examples)
    steps = [event for event in events if isinstance(event, Step)]
    assert [event.step for event in steps] == list(range(1, 4 * 13 + 1))
    assert steps[12].epoch == pytest.approx(1.0)
    evals = [event for event in events if isinstance(event, Eval)]
    assert len(evals) >= 1 + 2 * 4
    assert evals[-1].step == steps[-1].step
    assert events[-1].metrics == evals[-1].metrics
    assert evals[0].metrics["accuracy"] < 0.8 and evals[-1].metrics["accuracy"] > 0.95
    assert events[-2].path == str(out)


def test_samples_answer_the_watched_sentences(run):
    events, _ = run
    samples = [event for event in events if isinstance(event, Sample)]
    assert [answer["text"] for answer in samples[0].answers] == ["abz", "abc"]
    final = samples[-1].answers
    assert [answer["label"] for answer in final] == ["with", "without"]
    assert sum(final[0]["probabilities"].values()) == pytest.approx(1.0)


def test_the_saved_model_answers_as_the_last_evaluation_did(run):
    events, out = run
    classifier = Predictor.from_directory(out)
    evals = [event for event in events if isinstance(event, Eval)]
    again = evaluate(classifier, DEV)
    assert again.metrics["accuracy"] == pytest.approx(evals[-1].metrics["accuracy"])
    assert again.details["confusion"] == evals[-1].details["confusion"]
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(out).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    with torch.no_grad():
        expected = theirs(**tokenizer("abcz", return_tensors="pt")).logits.softmax(-1)[0]
        ids = classifier.features([Example("abcz")])[0].ids
        got = classifier.model(Batch(torch.tensor([ids]))).logits.softmax(-1)[0]
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=0)


def test_metrics_are_scikit_learns(run):
    _, out = run
    classifier = Predictor.from_directory(out)
    mixed = TaskData([Example(e.text, e.label) for e in DEV.examples[:31]] + [Example("aazz", "without")] * 5)
    got = evaluate(classifier, mixed).metrics
    predicted = [answer["label"] for answer in classifier.predict([e.text for e in mixed.examples])]
    truth = [e.label for e in mixed.examples]
    assert got["accuracy"] == pytest.approx(accuracy_score(truth, predicted))
    assert got["macro_f1"] == pytest.approx(f1_score(truth, predicted, average="macro"))


def test_the_seed_decides_everything(small_checkpoint):
    def losses(seed):
        settings = FinetuneSettings(epochs=1, seed=seed, optimization=Optimization(learning_rate=1e-3))
        events = finetune(small_checkpoint, "classification", TRAIN, DEV, settings)
        return [event.loss for event in events if isinstance(event, Step)]

    assert losses(3) == losses(3) != losses(4)


def test_scratch_shares_sizes_but_not_weights(small_checkpoint):
    pretrained = checkpoint.load(small_checkpoint).bert.state_dict()
    weights = {}
    for scratch in (False, True):
        settings = FinetuneSettings(from_scratch=scratch, dropout=0.2)
        torch.manual_seed(0)
        source, tokenizer = checkpoint.load(small_checkpoint), checkpoint.load_tokenizer(small_checkpoint)
        learner = Learner.of(source, TASKS["classification"], ["a", "b"], settings.options(), tokenizer, settings)
        model = learner.model
        assert model.config.hidden_dropout_prob == 0.2 and model.config.hidden_size == 32
        weights[scratch] = model.bert.state_dict()
    assert all(torch.equal(weights[False][name], value) for name, value in pretrained.items())
    name = "embeddings.token.weight"
    assert weights[True][name].shape == pretrained[name].shape and not torch.equal(
        weights[True][name], pretrained[name]
    )


def test_a_message_changes_the_watched_sentences(small_checkpoint):
    inbox = [[], [["new one"]], []]
    events = finetune(
        small_checkpoint,
        "classification",
        TRAIN,
        DEV,
        FinetuneSettings(epochs=1),
        mailbox=lambda: inbox.pop(0) if inbox else [],
    )
    samples = [event for event in events if isinstance(event, Sample)]
    assert samples and all([a["text"] for a in sample.answers] == ["new one"] for sample in samples)
    assert samples[0].step == 2


def test_time_limit_ends_the_run_measured(small_checkpoint):
    settings = FinetuneSettings(epochs=500, max_seconds=0.2)
    events = list(finetune(small_checkpoint, "classification", TRAIN, DEV, settings))
    assert isinstance(events[-1], Done) and events[-1].seconds < 5
    assert [event for event in events if isinstance(event, Eval)][-1].step == events[-1].step


def test_labels_only_in_dev_are_refused(small_checkpoint):
    odd = TaskData([*DEV.examples, Example("x", "perhaps")])
    with pytest.raises(ValueError, match="labels that training never shows: perhaps"):
        next(finetune(small_checkpoint, "classification", TRAIN, odd, QUICK))


def test_mean_pooling_ignores_padding(letters, small_checkpoint):
    task, options = TASKS["classification"], Options(pooling="mean", max_length=64)
    model = task.head(checkpoint.load(small_checkpoint).config, ["a", "b"], options)
    predictor = Predictor(model.eval(), letters, task, options)
    alone = probabilities(predictor, ["ab"])
    beside = probabilities(predictor, ["ab", "abcdefghijklmnopqrstuvwxyz"])[:1]
    torch.testing.assert_close(alone, beside, atol=2e-3, rtol=0)  # bfloat16 where the processor has it


def test_order_of_answers_is_order_of_texts(run):
    _, out = run
    classifier = Predictor.from_directory(out)
    texts = ["abz", "a", "abcdeabcde", "zzzz", "b z"]
    together = probabilities(classifier, texts)
    for text, row in zip(texts, together, strict=True):
        torch.testing.assert_close(probabilities(classifier, [text])[0], row, atol=2e-2, rtol=0)


def test_split_keeps_shares_and_loses_nothing():
    data = TaskData([Example(f"t{i}", "a" if i % 4 else "b") for i in range(100)])
    train, dev = split_dev(data, share=0.2, seed=1)
    assert train.counts == {"a": 60, "b": 20} and dev.counts == {"a": 15, "b": 5}
    assert {e.text for e in train.examples} | {e.text for e in dev.examples} == {f"t{i}" for i in range(100)}
    with pytest.raises(ValueError, match="too few examples"):
        split_dev(TaskData([Example("x", "a"), Example("y", "b")]))


def test_an_unfinished_model_cannot_answer(small_checkpoint):
    with pytest.raises(checkpoint.CheckpointError, match="is not fine-tuned for a task"):
        Predictor.from_directory(small_checkpoint)


def test_a_run_that_is_stopped_keeps_what_it_has_learned(small_checkpoint, tmp_path):
    events = finetune(small_checkpoint, "classification", TRAIN, DEV, QUICK, out=tmp_path / "model")
    while not isinstance(next(events), Step):
        pass
    events.close()
    stopped = Predictor.from_directory(tmp_path / "model")
    assert stopped.labels == TRAIN.labels
    start = checkpoint.load(small_checkpoint)
    assert not torch.equal(stopped.model.bert.embeddings.token.weight, start.bert.embeddings.token.weight)
