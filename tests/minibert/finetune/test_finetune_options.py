"""Each option of the fine-tuning loop does what it says, and nothing else changes."""

import shutil
from dataclasses import replace
from itertools import chain
from types import SimpleNamespace

import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.command_line.lines import lines_as_they_come
from minibert.finetune.augmentation import Augmentation
from minibert.finetune.batches import training_batches
from minibert.finetune.evaluation import evaluate
from minibert.finetune.learner import Learner, with_metadata_tokens
from minibert.finetune.optimizer import UncorrectedAdamW
from minibert.finetune.option_effects import FreshLearner
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.finetune.split import split_dev
from minibert.model import IGNORE, Batch
from minibert.tasks import TASKS, Example, Options, TaskData
from minibert.tasks.given import input_key
from minibert.tasks.labels import LabelsExample
from minibert.tasks.sampling import spread
from minibert.tasks.spans import Answer, SpanExample
from minibert.tasks.tagging import TaggedExample
from minibert.train import Eval, Optimization, Sample, Started, Step
from tests.minibert.finetune.runs import of, run, short
from tests.minibert.tasks.toys import toy


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


def test_frozen_features_are_the_same_at_every_step(loaded):
    """With all of BERT frozen its dropout is off, so only the head's own noise is left."""
    source, tokenizer = loaded
    settings, task = FinetuneSettings(freeze="all", dropout=0.5), TASKS["classification"]
    learner = Learner.of(source, task, ["a", "b"], settings.options(), tokenizer, settings).train()
    batch = task.batch(task.features(tokenizer, [Example("abc", "a")], ["a", "b"], settings.options()), 0)
    assert torch.equal(learner.model.bert(batch)[1], learner.model.bert(batch)[1])
    assert learner.model.dropout.training


@pytest.mark.parametrize("task", ["classification", "choice"])
def test_rows_of_one_length_share_a_batch(letters, task):
    task, data = TASKS[task], toy(task, 150, 0)
    plain = FinetuneSettings(batch_size=16, epochs=2)
    features = task.features(letters, data.examples, task.labels(data), plain.options())
    features = [replace(row, metadata=(i,)) for i, row in enumerate(features)]  # to know them by

    def read(settings):
        batches = list(training_batches(task, features, settings, letters))
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


def test_the_first_step_of_each_layer_is_as_long_as_its_share(small_checkpoint, tmp_path):
    """Adam's first step moves a weight by its rate, whatever the gradient."""
    data = toy("classification", 16, 0), toy("classification", 8, 1)
    still = Optimization(learning_rate=1e-3, warmup=0.0, weight_decay=0.0, clip=1e9, epsilon=1e-12)
    run(small_checkpoint, out=tmp_path / "model", data=data, layer_decay=0.5, optimization=still, dropout=0.0)
    before, after = (checkpoint.load(start).bert.state_dict() for start in (small_checkpoint, tmp_path / "model"))
    rate = 1e-3 * 0.5  # one step: the middle of the decay
    shares = {"pooler.dense.bias": 1.0, "blocks.1.mlp.expand.bias": 0.5, "blocks.0.mlp.expand.bias": 0.25}
    for name, share in shares.items():
        moved = (after[name] - before[name]).abs().median().item()
        assert moved == pytest.approx(rate * share, rel=0.05), name


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


def test_with_averaging_the_mean_of_the_weights_is_saved_and_measured(small_checkpoint, tmp_path, monkeypatch):
    """Against one run stopped after each of its steps: the plain mean of the weights, and the weighted one by hand."""
    train, dev = toy("classification", 64, 0), toy("classification", 16, 1)
    learners, of_checkpoint = [], Learner.of
    monkeypatch.setattr(Learner, "of", lambda *given: learners.append(of_checkpoint(*given)) or learners[-1])
    seen = []
    for event in finetune(small_checkpoint, "classification", train, dev, short()):
        if isinstance(event, Step):
            seen.append({k: v.clone() for k, v in learners[0].model.state_dict().items()})
    assert len(seen) == 4
    for share, weights in ((1.0, [1, 1, 1, 1]), (0.5, [1, 2, 3, 4])):
        events = run(small_checkpoint, out=tmp_path / str(share), averaging=share)
        saved = Predictor.from_directory(tmp_path / str(share))
        for name, value in saved.model.state_dict().items():
            mean = sum(w * step[name] for w, step in zip(weights, seen, strict=True)) / sum(weights)
            torch.testing.assert_close(value, mean, msg=name)
        assert of(events, Eval)[-1].metrics == pytest.approx(evaluate(saved, dev).metrics)


@pytest.mark.parametrize("task", ["classification", "choice"])
def test_the_mlm_loss_is_added_with_its_weight_and_falls(small_checkpoint, task):
    steps = of(run(small_checkpoint, task, mlm_weight=0.5, epochs=4), Step)
    for step in steps:
        assert step.loss == pytest.approx(step.parts["task_loss"] + 0.5 * step.parts["mlm_loss"], rel=1e-5)
    assert steps[-1].parts["mlm_loss"] < steps[0].parts["mlm_loss"]


def by_kind(count: int, seed: int) -> TaskData:
    """The text says nothing, the column everything."""
    return TaskData([Example("abc", e.label, e.extra) for e in toy("classification", count, seed).examples])


@pytest.mark.trains
@pytest.mark.parametrize("metadata_as", ["embedding", "concatenated", "token"])
def test_metadata_is_read_beside_the_text_and_travels_with_the_model(small_checkpoint, tmp_path, metadata_as):
    data, options = (by_kind(96, 0), by_kind(16, 1)), {"metadata": ("kind",), "metadata_as": metadata_as, "epochs": 8}
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


def test_metadata_tokens_are_never_cut_off(letters):
    read = {"metadata": ("k",), "metadata_as": "token", "metadata_values": {"k": ["a"]}}
    options = Options(max_length=6, truncation="tail", **read)
    tokenizer = with_metadata_tokens(letters, options)
    (row,) = TASKS["classification"].features(tokenizer, [Example("abcdefgh", "x", {"k": "a"})], ["x"], options)
    assert [tokenizer.vocab[i] for i in row.ids] == ["[CLS]", "[K=A]", "##f", "##g", "##h", "[SEP]"]


def test_augmentation_adds_copies_to_training_only(small_checkpoint):
    """Also where the model fills in words beside metadata tokens, which it has not learned."""
    data, kind = (by_kind(32, 0), by_kind(16, 1)), {"metadata": ("kind",), "metadata_as": "token"}
    events = run(small_checkpoint, data=data, augmentation=Augmentation("replace", rate=0.5, copies=2), **kind)
    details = of(events, Started)[0].details
    assert details["train"] == 32 and details["augmented"] == 64 and details["rows"] == 96 and details["dev"] == 16


@pytest.mark.parametrize(
    "changes",
    [
        {"layers": "last_four_concat"},
        {"layers": "weighted", "pooling": "mean"},
        {"layers": "all_concat"},
        {"pooling": "max"},
        {"dropout_samples": 4},
        {"truncation": "head_tail", "max_length": 6},
        {"bilstm": True, "freeze": "all"},
        {"layers": "last_four_weighted"},
        {"classifier_depth": 2, "classifier_activation": "gelu", "classifier_norm": "layer"},
        {"classifier_depth": 3, "classifier_norm": "batch"},
        {"loss": "class_weights"},
        {"loss": "focal", "focal_gamma": 1.0},
    ],
    ids=str,
)
def test_what_the_head_reads_travels_with_the_model(small_checkpoint, tmp_path, changes):
    events = run(small_checkpoint, out=tmp_path / "model", probe_inputs=["a b z"], **changes)
    predictor = Predictor.from_directory(tmp_path / "model")
    answer = of(events, Sample)[-1].answers[0]
    again = predictor.predict(["a b z"])[0]
    assert again["probabilities"]["with"] == pytest.approx(answer["probabilities"]["with"], abs=2e-3)
    assert all(getattr(predictor.options, name) == value for name, value in changes.items() if name != "freeze")


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
    least = dict(zip(predictor.labels, predictor.options.thresholds, strict=True))
    for one in of(events, Eval)[-1].details["predictions"]:
        assert one["labels"] == [name for name, p in one["probabilities"].items() if p >= least[name]]


def test_what_is_measured_answered_and_saved_has_the_same_null_threshold(small_checkpoint, tmp_path):
    data, out = (toy("span-or-none", 32, 0), toy("span-or-none", 50, 1)), tmp_path / "model"
    probe_inputs = [{"question": "z", "context": "a z b"}]
    events = run(small_checkpoint, "span-or-none", out, data, probe_inputs, epochs=2, dev_sample=20)
    for measured, sample in zip(of(events, Eval), of(events, Sample), strict=True):
        assert measured.metrics["f1"] == pytest.approx(measured.metrics["best_f1"])
        used = {one["null_threshold"] for one in (*measured.details["predictions"], *sample.answers)}
        assert len(used) == 1
    predictor = Predictor.from_directory(out)
    assert used == {predictor.options.null_threshold} != {0}
    assert events[-1].metrics == of(events, Eval)[-1].metrics
    assert events[-1].metrics == pytest.approx(evaluate(predictor, data[1]).metrics, abs=1e-5)


@pytest.mark.parametrize(("task", "threshold"), [("multilabel", "thresholds"), ("span-or-none", "null_threshold")])
def test_a_stopped_run_keeps_its_weights_and_their_thresholds(small_checkpoint, tmp_path, task, threshold):
    train, dev = toy(task, 96, 0), toy(task, 16, 1)
    settings = short(epochs=4, batch_size=8, evaluations_per_epoch=1)
    events = finetune(small_checkpoint, task, train, dev, settings, out=tmp_path / "model")
    next(event for event in events if isinstance(event, Step) and event.step == 7)  # measured at 0, and not since
    events.close()
    stopped = Predictor.from_directory(tmp_path / "model")
    start = checkpoint.load(small_checkpoint).bert.embeddings.token.weight
    assert not torch.equal(stopped.model.bert.embeddings.token.weight, start)
    aside = split_dev(train, settings.set_aside, settings.seed)[1] if task == "multilabel" else dev
    tuned = stopped.tuned(aside.examples).options
    assert getattr(stopped.options, threshold) == pytest.approx(getattr(tuned, threshold), abs=1e-5)


def test_a_set_too_small_to_set_some_aside_keeps_thresholds_of_a_half(small_checkpoint, tmp_path):
    rows = [LabelsExample(f"{word} {i}", (word,)) for word in "abcdefgh" for i in range(4)]
    events = run(small_checkpoint, "multilabel", tmp_path / "model", data=(TaskData(rows), TaskData(rows[:8])))
    details = of(events, Started)[0].details
    assert details["set_aside"] == 0 and details["train"] == 32
    assert Predictor.from_directory(tmp_path / "model").options.thresholds is None


def test_values_that_would_be_the_same_token_are_refused(small_checkpoint):
    data = by_kind(16, 0), by_kind(16, 1)
    data[0].examples[0].extra["kind"] = "Odd"
    with pytest.raises(ValueError, match=r"column 'kind': .* 'Odd' and 'odd' would both be the token \[KIND=ODD"):
        run(small_checkpoint, data=data, metadata=("kind",), metadata_as="token")
    assert run(small_checkpoint, data=data, metadata=("kind",))


FIRST, *OTHERS = toy("choice", 4, 1).examples
SILENT = TaskData([replace(FIRST, label=None), *OTHERS], name="dev.tsv")
BARE = TaskData([Example(e.text, e.label) for e in toy("classification", 8, 1).examples], name="dev.tsv")
ONE_TEXT = ("tagging", "span", "choice", "intent")
ONE_CLASS = TaskData([Example("a", "same")] * 16)
UNTRAINABLE = [
    ("poetry", ONE_CLASS, ONE_CLASS, {}, "no task 'poetry'; there are classification, cloze, pair"),
    ("classification", ONE_CLASS, ONE_CLASS, {}, "nothing to tell apart"),
    ("classification", None, TaskData([Example("x", "perhaps")]), {}, "that training never shows: perhaps"),
    ("classification", None, None, {"freeze": 9}, "freeze 9 blocks, but the model has 2"),
    ("classification", None, None, {"metadata": ("mood",)}, "no column 'mood' to use as metadata; it has kind"),
    ("classification", None, BARE, {"metadata": ("kind",)}, r"dev.tsv has no column 'kind' .*; it has no further"),
    ("classification", None, None, {"auxiliary": ("mood",)}, "no column 'mood' to learn beside; it has kind"),
    ("classification", None, None, {"texts_beside": ("body",)}, "no column 'body' to read as a text; it has kind"),
    ("tagging", None, None, {"auxiliary": ("kind",)}, "the task tagging learns nothing beside"),
    *((task, None, None, {"texts_beside": ("body",)}, f"the task {task} reads no further texts") for task in ONE_TEXT),
    ("choice", None, SILENT, {}, r"dev.tsv: 1 of 4 examples do not say their answer"),
    ("span", None, None, {"augmentation": Augmentation("drop")}, "the task span cannot be augmented"),
]


@pytest.mark.parametrize(("task", "train", "dev", "changes", "message"), UNTRAINABLE)
def test_what_cannot_be_trained_or_measured_is_said(small_checkpoint, task, train, dev, changes, message):
    data = train or toy(task, 16, 0), dev or toy(task, 8, 1)
    with pytest.raises(ValueError, match=message):
        run(small_checkpoint, task, data=data, **changes)


def test_lines_are_handed_on_as_far_as_they_have_come():
    parts = iter([b"\xef\xbb\xbfa", b"b\r\n", b"c\n\xc3", b"\xa9\nd\ne\n\nf"])
    pipe = SimpleNamespace(read1=lambda size: next(parts, b""))
    assert list(lines_as_they_come(pipe, 3)) == [["ab"], ["c"], ["é", "d", "e"], [""], ["f"]]


def test_what_cannot_be_trained_on_is_measured_and_told(small_checkpoint):
    train, dev = toy("span", 20, 0), toy("span", 6, 1)
    lost = SpanExample("lost", "z", "a b c", (Answer("q", None),))
    events = run(small_checkpoint, "span", data=(TaskData([*train.examples, lost]), TaskData([*dev.examples, lost])))
    details = of(events, Started)[0].details
    assert details["untrainable"] == 1 and details["train"] == 21 and len(details["dev_examples"]) == 7
    assert of(events, Eval)[-1].metrics["f1"] <= 6 / 7
    with pytest.raises(ValueError, match="no example to train on"):
        run(small_checkpoint, "span", data=(TaskData([lost]), dev))
    # A tag that only the dev part has is reported, not refused.
    train, dev = (TaskData([TaggedExample(("a", "b"), tags)] * 8) for tags in (("B-X", "O"), ("B-X", "B-Y")))
    events = run(small_checkpoint, "tagging", data=(train, dev))
    assert of(events, Started)[0].details["unseen_labels"] == ["Y"]


def test_settings_that_make_no_sense_are_refused():
    for changes, message in [
        ({"freeze": "some"}, "freeze is 'some'"),
        ({"layer_decay": 0.0}, "layer decay"),
        ({"mlm_weight": -1.0}, "cannot be negative"),
        ({"averaging": 1.5}, "share of the steps between 0 and 1"),
        ({"truncation": "middle"}, "truncation is 'middle'"),
        ({"metadata_as": "colour"}, "metadata_as is 'colour'"),
        ({"doc_stride": 0}, "doc_stride must be at least 1"),
        ({"focal_gamma": -1.0}, "exponent from 0 to 10"),
        ({"auxiliary_weight": -1.0}, "cannot be negative"),
        ({"auxiliary": ("kind",), "metadata": ("kind",)}, "'kind' is read, so there is nothing to learn"),
        ({"texts_beside": ("kind",), "metadata": ("kind",)}, "the column 'kind' is read as a value or as a text"),
    ]:
        with pytest.raises(ValueError, match=message):
            FinetuneSettings(**changes)


def test_a_vocabulary_padded_in_the_checkpoint_stays_so(small_checkpoint, tmp_path):
    theirs = transformers.BertForPreTraining.from_pretrained(small_checkpoint)
    size = theirs.config.vocab_size
    theirs.resize_token_embeddings(pad_to_multiple_of=64)
    theirs.save_pretrained(tmp_path / "padded")
    shutil.copy(small_checkpoint / "vocab.txt", tmp_path / "padded")
    run(tmp_path / "padded", out=tmp_path / "model")
    assert checkpoint.load(tmp_path / "model").config.vocab_size == -(-size // 64) * 64 > size


def test_what_stands_before_a_bad_input_is_answered(answering):
    answers = answering("classification").stream([*"abcdefg", {"nothing": 1}, "h"], batch_size=3)
    assert [next(answers)["text"] for _ in range(7)] == [*"abcdefg"]
    with pytest.raises(ValueError, match="input 8: the input has no 'text'"):
        next(answers)


def test_an_answer_says_to_what_and_one_that_cannot_be_given_ends_no_run(small_checkpoint):
    given = ["abc", {"text": "abc", "kind": "odd"}, {"nothing": 1}]
    answers = of(run(small_checkpoint, probe_inputs=given), Sample)[-1].answers
    assert [answer["asked"] for answer in answers] == [input_key(one) for one in given]
    assert input_key(given[1]) == input_key({"kind": "odd", "text": "abc"})
    assert len({answer["asked"] for answer in answers}) == 3 and "error" in answers[2]


def test_a_batch_without_masked_tokens_has_an_mlm_loss_of_zero_and_a_gradient(small_checkpoint):
    fresh = FreshLearner.of(
        small_checkpoint, "classification", toy("classification", 4, 0), FinetuneSettings(mlm_weight=1.0)
    )
    batch = fresh.batch(toy("classification", 1, 0).examples[0])
    unmasked = Batch(batch.ids, batch.segments, batch.padding, torch.full_like(batch.ids, IGNORE))
    losses = fresh.learner(replace(batch, masked=unmasked))
    assert losses["mlm_loss"] == 0 and losses["loss"] == losses["task_loss"]
    losses["loss"].backward()
    assert all(weight.grad is None or weight.grad.isfinite().all() for weight in fresh.learner.parameters())
