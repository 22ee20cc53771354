"""Each option of the fine-tuning loop does what it says, and nothing else changes."""

from dataclasses import replace
from itertools import chain

import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.command_line.lines import lines_as_they_come
from minibert.finetune.augmentation import Augmentation
from minibert.finetune.batches import training_batches
from minibert.finetune.evaluation import evaluate
from minibert.finetune.learner import Learner
from minibert.finetune.optimizer import UncorrectedAdamW, finetuning_optimizer
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.finetune.split import split_dev
from minibert.tasks import TASKS, Example, TaskData, TaskDataError
from minibert.tasks.given import input_key
from minibert.tasks.labels import LabelsExample
from minibert.tasks.sampling import spread
from minibert.tasks.spans import Answer, SpanExample
from minibert.tasks.tagging import TaggedExample
from minibert.train import Eval, Optimization, Sample, Started, Step
from tests.minibert.tasks.toys import toy

FAST = Optimization(learning_rate=5e-3)


def run(start, task="classification", out=None, count=64, watch=(), data=None, **changes):
    train, dev = data or (toy(task, count, 0), toy(task, 16, 1))
    settings = FinetuneSettings(**{"epochs": 1, "batch_size": 16, "max_length": 24, "optimization": FAST, **changes})
    return list(finetune(start, task, train, dev, settings, out=out, watch=watch))


def of(events, kind):
    return [event for event in events if isinstance(event, kind)]


# --- what learns ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("freeze", "still"),
    [("none", ()), ("embeddings", ("embeddings",)), (1, ("embeddings", "blocks.0")), ("all", ("",))],
)
def test_what_is_frozen_does_not_move_and_the_rest_does(small_checkpoint, tmp_path, freeze, still):
    before = checkpoint.load(small_checkpoint).bert.state_dict()
    run(small_checkpoint, out=tmp_path / "model", freeze=freeze)
    after = checkpoint.load(tmp_path / "model").bert.state_dict()
    for name, value in after.items():
        if "key.bias" in name:
            continue  # softmax does not see it: its gradient is zero
        fixed = any(name.startswith(part) for part in still)
        assert torch.equal(value, before[name]) == fixed, name


def test_frozen_features_are_the_same_at_every_step(small_checkpoint):
    """With all of BERT frozen its dropout is off, so only the head's own noise is left."""
    source, tokenizer = checkpoint.load(small_checkpoint), checkpoint.load_tokenizer(small_checkpoint)
    settings = FinetuneSettings(freeze="all", dropout=0.5)
    task = TASKS["classification"]
    learner = Learner.of(source, task, ["a", "b"], settings.options(), tokenizer, settings).train()
    batch = task.batch(task.features(tokenizer, [Example("abc", "a")], ["a", "b"], settings.options()), 0)
    assert torch.equal(learner.model.bert(batch)[1], learner.model.bert(batch)[1])
    assert learner.model.dropout.training
    with pytest.raises(ValueError, match="freeze 9 blocks, but the model has 2"):
        run(small_checkpoint, freeze=9)


@pytest.mark.parametrize("task", ["classification", "choice"])
def test_rows_of_one_length_share_a_batch(small_checkpoint, task):
    tokenizer, task = checkpoint.load_tokenizer(small_checkpoint), TASKS[task]
    data = toy(task.name, 150, 0)
    plain = FinetuneSettings(batch_size=16, epochs=2)
    features = task.features(tokenizer, data.examples, task.labels(data), plain.options())
    features = [replace(row, metadata=(i,)) for i, row in enumerate(features)]  # to know them by

    def read(settings):
        batches = list(training_batches(task, features, settings, tokenizer))
        rows = [batch.metadata.unique().tolist() for batch in batches]  # choices have it once each
        return rows, sum(batch.ids.numel() for batch in batches)

    grouped = replace(plain, group_by_length=True)
    (rows, places), (as_drawn, places_as_drawn) = read(grouped), read(plain)
    assert list(map(len, as_drawn)) == [*[16] * 9, 6] * 2 and sorted(map(len, rows)) == sorted(map(len, as_drawn))
    for epoch in (rows[:10], rows[10:]):
        assert sorted(chain.from_iterable(epoch)) == list(range(150))
    assert {frozenset(batch) for batch in rows[:10]}.isdisjoint(frozenset(batch) for batch in rows[10:])
    assert places < places_as_drawn
    assert read(grouped) == (rows, places) != read(replace(grouped, seed=1))


def test_layers_learn_at_their_share_of_the_rate(small_checkpoint):
    source, tokenizer = checkpoint.load(small_checkpoint), checkpoint.load_tokenizer(small_checkpoint)
    settings = FinetuneSettings(layer_decay=0.5)
    learner = Learner.of(source, TASKS["classification"], ["a", "b"], settings.options(), tokenizer, settings)
    scales = {}
    for group in finetuning_optimizer(learner, settings).param_groups:
        for weight in group["params"]:
            scales[id(weight)] = group["scale"]
            assert (group["weight_decay"] > 0) == (weight.dim() >= 2)
    named = {name: scales[id(weight)] for name, weight in learner.named_parameters()}
    assert named["model.classifier.weight"] == named["model.bert.pooler.dense.weight"] == 1
    assert (
        named["model.bert.blocks.1.mlp.expand.weight"] == 0.5 and named["model.bert.blocks.0.attn.query.bias"] == 0.25
    )
    assert named["model.bert.embeddings.token.weight"] == 0.125


def test_the_first_step_of_each_layer_is_as_long_as_its_share(small_checkpoint, tmp_path):
    """Adam's first step moves a weight by its rate, whatever the gradient."""
    data = toy("classification", 16, 0), toy("classification", 8, 1)
    still = Optimization(learning_rate=1e-3, warmup=0.0, weight_decay=0.0, clip=1e9, epsilon=1e-12)
    run(small_checkpoint, out=tmp_path / "model", data=data, layer_decay=0.5, optimization=still, dropout=0.0)
    before = checkpoint.load(small_checkpoint).bert.state_dict()
    after = checkpoint.load(tmp_path / "model").bert.state_dict()
    rate = 1e-3 * 0.5  # one step: the middle of the decay
    for name, share in (
        ("pooler.dense.bias", 1.0),
        ("blocks.1.mlp.expand.bias", 0.5),
        ("blocks.0.mlp.expand.bias", 0.25),
    ):
        moved = (after[name] - before[name]).abs().median().item()
        assert moved == pytest.approx(rate * share, rel=0.05), name


# --- Adam without bias correction -------------------------------------------------------------------------------------


def test_adam_without_correction_follows_the_original_code():
    """optimization.py of google-research/bert: m / (√v + ε), decoupled weight decay."""
    torch.manual_seed(0)
    weight = torch.nn.Parameter(torch.randn(4, 3))
    expected, m, v = weight.detach().clone(), torch.zeros(4, 3), torch.zeros(4, 3)
    optimizer = UncorrectedAdamW([{"params": [weight], "weight_decay": 0.01}], (0.9, 0.999), 1e-6)
    for step in range(20):
        gradient = torch.randn(4, 3)
        weight.grad = gradient.clone()
        optimizer.param_groups[0]["lr"] = lr = 1e-2 / (step + 1)
        optimizer.step()
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        expected = expected - lr * (m / (v.sqrt() + 1e-6) + 0.01 * expected)
        torch.testing.assert_close(weight.detach(), expected)


def test_with_averaging_the_mean_of_the_weights_is_saved_and_measured(small_checkpoint, tmp_path):
    """Against one run stopped after each of its steps: the plain mean of the weights, and the weighted one by hand."""
    data, still = (toy("classification", 64, 0), toy("classification", 16, 1)), Optimization(learning_rate=5e-3)
    seen = []
    learners, of_checkpoint = [], Learner.of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Learner, "of", lambda *given: learners.append(of_checkpoint(*given)) or learners[-1])
        settings = FinetuneSettings(epochs=1, batch_size=16, max_length=24, optimization=still)
        for event in finetune(small_checkpoint, "classification", *data, settings):
            if isinstance(event, Step):
                seen.append({k: v.clone() for k, v in learners[0].model.state_dict().items()})
    assert len(seen) == 4
    for share, weights in ((1.0, [1, 1, 1, 1]), (0.5, [1, 2, 3, 4])):
        out = tmp_path / str(share)
        events = run(small_checkpoint, out=out, data=data, optimization=still, averaging=share)
        saved = Predictor.from_directory(out)
        for name, value in saved.model.state_dict().items():
            mean = sum(w * step[name] for w, step in zip(weights, seen, strict=True)) / sum(weights)
            torch.testing.assert_close(value, mean, msg=name)
        assert of(events, Eval)[-1].metrics == pytest.approx(evaluate(saved, data[1]).metrics)


def test_bias_correction_shortens_the_first_steps(small_checkpoint, tmp_path):
    data = toy("classification", 16, 0), toy("classification", 8, 1)
    still = Optimization(learning_rate=1e-3, warmup=0.0, weight_decay=0.0, clip=1e9, epsilon=1e-12)
    moved = {}
    before = checkpoint.load(small_checkpoint).bert.state_dict()["pooler.dense.bias"]
    for corrected in (True, False):
        out = tmp_path / str(corrected)
        run(small_checkpoint, out=out, data=data, optimization=still, bias_correction=corrected, dropout=0.0)
        after = checkpoint.load(out).bert.state_dict()["pooler.dense.bias"]
        moved[corrected] = (after - before).abs().median().item()
    assert moved[False] / moved[True] == pytest.approx(0.1 / 0.001**0.5, rel=0.02)  # 3.16 at the first step


# --- a second loss, more text, more columns ---------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["classification", "choice"])
def test_the_mlm_loss_is_added_with_its_weight_and_falls(small_checkpoint, task):
    steps = of(run(small_checkpoint, task, mlm_weight=0.5, epochs=4), Step)
    for step in steps:
        assert step.loss == pytest.approx(step.parts["task_loss"] + 0.5 * step.parts["mlm_loss"], rel=1e-5)
    assert steps[-1].parts["mlm_loss"] < steps[0].parts["mlm_loss"]
    plain = of(run(small_checkpoint, task), Step)
    assert "mlm_loss" not in plain[0].parts


def by_kind(count: int, seed: int) -> TaskData:
    """The text says nothing, the column everything."""
    data = toy("classification", count, seed)
    return TaskData([Example("abc", e.label, e.extra) for e in data.examples])


@pytest.mark.trains
@pytest.mark.parametrize("metadata_as", ["embedding", "concatenated", "token"])
def test_metadata_is_read_beside_the_text_and_travels_with_the_model(small_checkpoint, tmp_path, metadata_as):
    data = by_kind(96, 0), by_kind(16, 1)
    blind = run(small_checkpoint, data=data, epochs=2)
    assert blind[-1].metrics["accuracy"] == 0.5
    options = {"metadata": ("kind",), "metadata_as": metadata_as, "epochs": 8}
    seeing = run(small_checkpoint, data=data, out=tmp_path / "model", **options)
    assert seeing[-1].metrics["accuracy"] == 1.0
    predictor = Predictor.from_directory(tmp_path / "model")
    assert predictor.options.metadata_values == {"kind": ["even", "odd"]}
    inputs = [{"text": "abc", "kind": kind} for kind in ("odd", "even", "never seen")]
    answers = predictor.predict(inputs)
    assert [answer["label"] for answer in answers][:2] == ["with", "without"]
    assert [answer["metadata"] for answer in answers] == [{"kind": "odd"}, {"kind": "even"}, {"kind": None}]
    if metadata_as == "token":
        row = predictor.features([predictor.task.example(inputs[0])])[0]
        assert [predictor.tokenizer.vocab[i] for i in row.ids[:3]] == ["[CLS]", "[KIND=ODD]", "a"]
        theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "model")
        assert theirs("[KIND=ODD] abc")["input_ids"] == row.ids
        model = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "model")
        assert model.config.vocab_size == predictor.tokenizer.vocab_size
    with pytest.raises(ValueError, match="no column 'mood' to use as metadata; it has kind"):
        run(small_checkpoint, data=data, metadata=("mood",))


def test_metadata_tokens_are_never_cut_off(letters):
    options = FinetuneSettings(
        max_length=6, metadata=("k",), metadata_as="token", metadata_values={"k": ["a"]}, truncation="tail"
    ).options()
    from minibert.finetune.learner import with_metadata_tokens

    tokenizer = with_metadata_tokens(letters, options)
    (row,) = TASKS["classification"].features(tokenizer, [Example("abcdefgh", "x", {"k": "a"})], ["x"], options)
    assert [tokenizer.vocab[i] for i in row.ids] == ["[CLS]", "[K=A]", "##f", "##g", "##h", "[SEP]"]


@pytest.mark.parametrize("method", ["mask", "replace", "drop", "swap"])
def test_augmentation_adds_copies_to_training_only(small_checkpoint, method):
    events = run(small_checkpoint, augmentation=Augmentation(method, copies=2), count=32)
    details = of(events, Started)[0].details
    assert details["train"] == 32 and details["augmented"] == 64 and details["rows"] == 96 and details["dev"] == 16


def test_spans_cannot_be_augmented(small_checkpoint):
    with pytest.raises(ValueError, match="the task span cannot be augmented"):
        run(small_checkpoint, "span", augmentation=Augmentation("drop"))


@pytest.mark.parametrize(
    "changes",
    [
        {"layers": "last_four_concat"}, {"layers": "weighted", "pooling": "mean"}, {"layers": "all_concat"},
        {"pooling": "max"}, {"dropout_samples": 4}, {"truncation": "head_tail", "max_length": 6},
        {"bilstm": True, "freeze": "all"}, {"layers": "last_four_weighted"},
        {"classifier_depth": 2, "classifier_activation": "gelu", "classifier_norm": "layer"},
        {"classifier_depth": 3, "classifier_norm": "batch"}, {"loss": "class_weights"},
        {"loss": "focal", "focal_gamma": 1.0},
    ],
    ids=str,
)  # fmt: skip
def test_what_the_head_reads_travels_with_the_model(small_checkpoint, tmp_path, changes):
    events = run(small_checkpoint, out=tmp_path / "model", watch=["a b z"], **changes)
    predictor = Predictor.from_directory(tmp_path / "model")
    answer = of(events, Sample)[-1].answers[0]
    again = predictor.predict(["a b z"])[0]
    assert again["probabilities"]["with"] == pytest.approx(answer["probabilities"]["with"], abs=2e-3)
    assert all(getattr(predictor.options, name) == value for name, value in changes.items() if name != "freeze")


# --- measuring --------------------------------------------------------------------------------------------------------


def test_a_long_dev_set_is_measured_whole_only_at_the_end(small_checkpoint):
    data = toy("classification", 32, 0), toy("classification", 50, 1)
    events = run(small_checkpoint, data=data, dev_sample=20, epochs=2)
    evals = of(events, Eval)
    assert [event.details["measured_on"] for event in evals] == [20] * (len(evals) - 1) + [50]
    shown = of(events, Started)[0].details["dev_examples"]
    assert len(shown) == 20 and all(len(event.details["predictions"]) == 20 for event in evals)
    assert [p["text"] for p in evals[-1].details["predictions"]] == [e["text"] for e in shown]
    assert spread(50, 20)[:3] == [0, 2, 5] and spread(3, 5) == [0, 1, 2]


def test_thresholds_are_tuned_on_examples_set_aside_and_saved(small_checkpoint, tmp_path):
    events = run(small_checkpoint, "multilabel", out=tmp_path / "model", epochs=2, set_aside=0.25)
    details = of(events, Started)[0].details
    assert details["set_aside"] == 16 and details["train"] == 48
    predictor = Predictor.from_directory(tmp_path / "model")
    assert len(predictor.options.thresholds) == 2 and predictor.options.thresholds != (0.5, 0.5)
    predicted = of(events, Eval)[-1].details["predictions"]
    chosen = [[n for n, p in one["probabilities"].items() if p >= t[n]] for one in predicted
              for t in [dict(zip(predictor.labels, predictor.options.thresholds, strict=True))]]  # fmt: skip
    assert [one["labels"] for one in predicted] == chosen


def test_the_null_threshold_is_tuned_on_dev_and_saved(small_checkpoint, tmp_path):
    events = run(small_checkpoint, "span-or-none", out=tmp_path / "model", epochs=2)
    predictor, last = Predictor.from_directory(tmp_path / "model"), of(events, Eval)[-1]
    assert predictor.options.null_threshold != 0
    assert evaluate(predictor, toy("span-or-none", 16, 1)).metrics == pytest.approx(last.metrics, abs=1e-5)


def test_what_is_measured_answered_and_saved_has_the_same_null_threshold(small_checkpoint, tmp_path):
    asked = {"question": "z", "context": "a z b"}
    data = toy("span-or-none", 32, 0), toy("span-or-none", 50, 1)
    out = tmp_path / "model"
    events = run(small_checkpoint, "span-or-none", out, data=data, watch=[asked], epochs=2, dev_sample=20)
    for measured, sample in zip(of(events, Eval), of(events, Sample), strict=True):
        assert measured.metrics["f1"] == pytest.approx(measured.metrics["best_f1"])
        used = {one["null_threshold"] for one in (*measured.details["predictions"], *sample.answers)}
        assert len(used) == 1
    assert used == {Predictor.from_directory(out).options.null_threshold}
    assert events[-1].metrics == of(events, Eval)[-1].metrics


def test_a_stopped_run_saves_the_null_threshold_of_its_last_weights(small_checkpoint, tmp_path):
    train, dev = toy("span-or-none", 64, 0), toy("span-or-none", 16, 1)
    settings = FinetuneSettings(epochs=4, batch_size=8, max_length=24, optimization=FAST, evaluations_per_epoch=1)
    events = finetune(small_checkpoint, "span-or-none", train, dev, settings, out=tmp_path / "model")
    next(event for event in events if isinstance(event, Step) and event.step == 5)
    events.close()
    stopped = Predictor.from_directory(tmp_path / "model")
    assert stopped.options.null_threshold == pytest.approx(stopped.tuned(dev.examples).options.null_threshold, abs=1e-5)


def test_a_set_too_small_to_set_some_aside_keeps_thresholds_of_a_half(small_checkpoint, tmp_path):
    rows = [LabelsExample(f"{word} {i}", (word,)) for word in "abcdefgh" for i in range(4)]
    data = TaskData(rows), TaskData(rows[:8])
    events = run(small_checkpoint, "multilabel", tmp_path / "model", data=data)
    details = of(events, Started)[0].details
    assert details["set_aside"] == 0 and details["train"] == 32
    assert set(of(events, Eval)[-1].details["predictions"][0]["labels"]) <= set("abcdefgh")
    assert Predictor.from_directory(tmp_path / "model").options.thresholds is None


def test_examples_without_an_answer_cannot_be_measured_on(small_checkpoint):
    train, dev = toy("choice", 8, 0), toy("choice", 4, 1)
    silent = TaskData([replace(dev.examples[0], label=None), *dev.examples[1:]], name="dev.tsv")
    with pytest.raises(TaskDataError, match=r"dev.tsv: 1 of 4 examples do not say their answer"):
        run(small_checkpoint, "choice", data=(train, silent))


def test_values_that_would_be_the_same_token_are_refused(small_checkpoint):
    data = by_kind(16, 0), by_kind(16, 1)
    data[0].examples[0].extra["kind"] = "Odd"
    with pytest.raises(
        ValueError, match=r"column 'kind': the values 'Odd' and 'odd' would both be the token \[KIND=ODD"
    ):
        run(small_checkpoint, data=data, metadata=("kind",), metadata_as="token")
    assert run(small_checkpoint, data=data, metadata=("kind",))


def test_lines_are_handed_on_as_far_as_they_have_come():
    class Pipe:
        def __init__(self, *parts):
            self.parts = [*parts, b""]

        def read1(self, size):
            return self.parts.pop(0)

    parts = b"\xef\xbb\xbfa", b"b\r\n", "c\né".encode()[:-1], "é".encode()[1:] + b"\nd\ne\n\nf"
    assert list(lines_as_they_come(Pipe(*parts), 3)) == [["ab"], ["c"], ["é", "d", "e"], [""], ["f"]]


def test_answers_that_are_not_in_place_are_measured_but_not_trained_on(small_checkpoint):
    train, dev = toy("span", 20, 0), toy("span", 6, 1)
    lost = SpanExample("lost", "z", "a b c", (Answer("q", None),))
    events = run(small_checkpoint, "span", data=(TaskData([*train.examples, lost]), TaskData([*dev.examples, lost])))
    details = of(events, Started)[0].details
    assert details["untrainable"] == 1 and details["train"] == 21 and len(details["dev_examples"]) == 7
    assert of(events, Eval)[-1].metrics["f1"] <= 6 / 7
    with pytest.raises(ValueError, match="no example to train on"):
        run(small_checkpoint, "span", data=(TaskData([lost]), dev))


def test_a_tag_only_dev_has_is_reported_not_refused(small_checkpoint):
    train = TaskData([TaggedExample(("a", "b"), ("B-X", "O"))] * 8)
    dev = TaskData([TaggedExample(("a", "b"), ("B-X", "B-Y"))])
    events = run(small_checkpoint, "tagging", data=(train, dev))
    assert of(events, Started)[0].details["unseen_labels"] == ["Y"]


def test_an_input_that_cannot_be_answered_does_not_end_the_run(small_checkpoint):
    events = run(small_checkpoint, "pair", watch=["only one text"])
    assert "error" in of(events, Sample)[-1].answers[0]


def test_passages_are_not_divided_between_train_and_dev():
    examples = [SpanExample(str(i), "q", f"passage {i // 4}", ()) for i in range(40)]
    train, dev = split_dev(TaskData(examples), 0.2, 0)
    contexts = [{e.context for e in part.examples} for part in (train, dev)]
    assert len(dev.examples) == 8 and not contexts[0] & contexts[1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"freeze": "some"}, "freeze is 'some'"),
        ({"layer_decay": 0.0}, "layer decay"),
        ({"mlm_weight": -1.0}, "cannot be negative"),
        ({"averaging": 1.5}, "share of the steps between 0 and 1"),
        ({"truncation": "middle"}, "truncation is 'middle'"),
        ({"metadata_as": "colour"}, "metadata_as is 'colour'"),
        ({"doc_stride": 0}, "doc_stride must be at least 1"),
        ({"focal_gamma": -1.0}, "exponent from 0 to 10"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        FinetuneSettings(**changes)


def test_unknown_tasks_and_strict_files_are_refused(small_checkpoint, tmp_path):
    with pytest.raises(ValueError, match="no task 'poetry'; there are classification, cloze, pair"):
        run(small_checkpoint, "poetry", data=(TaskData([]), TaskData([])))
    (tmp_path / "x.tsv").write_text("text\tlabel\na\t1\nb\n")
    with pytest.raises(TaskDataError, match="line 3"):
        TASKS["classification"].read(tmp_path / "x.tsv", strict=True)


def test_words_are_filled_in_beside_metadata_tokens(small_checkpoint):
    data = by_kind(48, 0), by_kind(8, 1)
    events = run(
        small_checkpoint,
        data=data,
        metadata=("kind",),
        metadata_as="token",
        augmentation=Augmentation("replace", rate=0.5),
    )
    assert of(events, Started)[0].details["augmented"] > 0


def test_metadata_must_be_in_the_dev_data_too(small_checkpoint):
    train, dev = by_kind(48, 0), by_kind(8, 1)
    bare = TaskData([Example(e.text, e.label) for e in dev.examples], name="dev.tsv")
    with pytest.raises(ValueError, match=r"dev.tsv has no column 'kind' to use as metadata; it has none"):
        run(small_checkpoint, data=(train, bare), metadata=("kind",))


def test_one_class_is_refused(small_checkpoint):
    one = TaskData([Example(e.text, "same") for e in toy("classification", 16, 0).examples])
    with pytest.raises(TaskDataError, match="nothing to tell apart"):
        run(small_checkpoint, data=(one, one))


def test_a_stopped_run_keeps_the_thresholds_of_its_last_weights(small_checkpoint, tmp_path):
    train, dev = toy("multilabel", 96, 0), toy("multilabel", 16, 1)
    settings = FinetuneSettings(epochs=4, batch_size=8, max_length=24, optimization=FAST, evaluations_per_epoch=1)
    events = finetune(small_checkpoint, "multilabel", train, dev, settings, out=tmp_path / "model")
    for event in events:
        if isinstance(event, Step) and event.step == 7:  # measured before the first step, and not since
            break
    events.close()
    stopped = Predictor.from_directory(tmp_path / "model")
    _, aside = split_dev(train, settings.set_aside, settings.seed)
    assert stopped.options.thresholds == stopped.tuned(aside.examples).options.thresholds


def test_a_vocabulary_padded_in_the_checkpoint_stays_so(small_checkpoint, tmp_path):
    theirs = transformers.BertForPreTraining.from_pretrained(small_checkpoint)
    size = theirs.config.vocab_size
    theirs.resize_token_embeddings(pad_to_multiple_of=64)
    theirs.save_pretrained(tmp_path / "padded")
    (tmp_path / "padded" / "vocab.txt").write_bytes((small_checkpoint / "vocab.txt").read_bytes())
    padded = -(-size // 64) * 64
    assert padded > size
    run(tmp_path / "padded", out=tmp_path / "model", epochs=1)
    assert checkpoint.load(tmp_path / "model").config.vocab_size == padded


def test_what_stands_before_a_bad_input_is_answered(small_checkpoint, tmp_path):
    run(small_checkpoint, out=tmp_path / "model")
    predictor = Predictor.from_directory(tmp_path / "model")
    answers = predictor.stream([*"abcdefg", {"nothing": 1}, "h"], batch_size=3)
    assert [next(answers)["text"] for _ in range(7)] == [*"abcdefg"]
    with pytest.raises(ValueError, match="input 8: the input has no 'text'"):
        next(answers)


def test_an_answer_says_to_what(small_checkpoint):
    events = run(small_checkpoint, watch=["abc", {"text": "abc", "kind": "odd"}, {"nothing": 1}])
    answers = of(events, Sample)[-1].answers
    assert [answer["asked"] for answer in answers] == [
        input_key(given) for given in ("abc", {"kind": "odd", "text": "abc"}, {"nothing": 1})
    ]
    assert len({answer["asked"] for answer in answers}) == 3 and "error" in answers[2]
