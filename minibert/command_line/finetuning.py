"""finetune, evaluate: a model learns a task from a file and is measured on one."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minibert.command_line.arguments import SHIPPED, add_command, add_precision, model_directory, positive
from minibert.command_line.printing import complain, print_events, print_result
from minibert.command_line.task_files import file_options, read_task_data
from minibert.finetune.distillation import LOSSES
from minibert.folders import input_path
from minibert.sentence_vectors.packaged import PACKAGED
from minibert.tasks import BY_PATTERN, TASKS
from minibert.text.json_values import json_value

if TYPE_CHECKING:
    from minibert.finetune.settings import FinetuneSettings


def add_commands(commands) -> None:
    sub = add_command(
        commands, "finetune", finetune, "Fine-tune on a file in one of the field's formats, for any task."
    )
    sub.add_argument("--task", choices=[*TASKS, *BY_PATTERN], default="classification")
    sub.add_argument("--train", required=True, type=input_path)
    sub.add_argument("--dev", type=input_path, help="to measure on; without it, one training example in five")
    sub.add_argument(
        "--model",
        default=SHIPPED,
        type=model_directory,
        help=f"the checkpoint to start from: a directory, or {' or '.join(PACKAGED)} (default: the shipped one)",
    )
    sub.add_argument("--scratch", action="store_true", help="its sizes and vocabulary, but random weights")
    sub.add_argument("--out", required=True, type=Path)
    file_options(sub)
    sub.add_argument("--labels", help="the label set, with commas between; without it, the labels that occur")
    sub.add_argument("--examples", type=positive(int), help="train on the first N examples only")
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument("--max-seconds", type=positive(float), help="of training; what was learned until then is saved")
    teacher = sub.add_argument_group("a teacher")
    teacher.add_argument("--teacher", type=input_path, help="a model fine-tuned for the task, to learn from")
    teacher.add_argument(
        "--distil", choices=LOSSES, nargs="+", default=["soft"], help="what is asked of the student (default: soft)"
    )
    teacher.add_argument("--temperature", type=positive(float), default=1.0, help="of soft labels (default: 1)")
    learning = sub.add_argument_group("learning")
    learning.add_argument("--epochs", type=positive(int), default=3)
    learning.add_argument("--batch-size", type=positive(int), default=32)
    learning.add_argument(
        "--learning-rate", type=positive(float), default=3e-4, help="default: 3e-4, which suits small models"
    )
    learning.add_argument("--warmup", type=float, default=0.1, help="share of the steps (default: 0.1)")
    learning.add_argument("--dropout", type=float, default=0.1)
    learning.add_argument("--dropout-samples", type=positive(int), default=1, help="dropout masks a step")
    learning.add_argument("--freeze", default="none", help="none, embeddings, a number of blocks, or all")
    learning.add_argument("--layer-decay", type=positive(float), default=1.0, help="of the rate, a block (default: 1)")
    learning.add_argument("--group-by-length", action="store_true", help="rows of about one length in a batch: faster")
    learning.add_argument("--no-bias-correction", action="store_true", help="Adam as in the original BERT code")
    learning.add_argument("--mlm-weight", type=float, default=0.0, help="of a masked-LM loss beside (default: 0)")
    learning.add_argument(
        "--auxiliary", nargs="+", default=[], metavar="COLUMN", help="columns learned beside the task"
    )
    learning.add_argument("--auxiliary-weight", type=float, default=0.5, help="of their loss (default: 0.5)")
    learning.add_argument("--averaging", type=float, default=0.0, help="0 … 1: keep the running mean of the weights")
    learning.add_argument(
        "--patience",
        type=int,
        default=0,
        help="stop after so many epochs without a better score on --dev, and keep the best one (default: 0, never)",
    )
    learning.add_argument(
        "--loss",
        choices=("cross_entropy", "class_weights", "focal", "label_smoothing"),
        default="cross_entropy",
        help="of tasks with classes or labels",
    )
    learning.add_argument("--focal-gamma", type=float, default=2.0, help="exponent of the focal loss (default: 2)")
    learning.add_argument(
        "--prompt", choices=("none", "direct", "lstm"), default="none", help="learn [unused1] … of a pattern as vectors"
    )
    learning.add_argument("--vat-weight", type=float, default=0.0, help="of smoothness (default: 0)")
    learning.add_argument(
        "--vat-epsilon", type=positive(float), default=1.0, help="how far texts are pushed (default: 1)"
    )
    learning.add_argument(
        "--unlabelled", type=input_path, help="texts to be smooth on, in a file of the task; labels unread"
    )
    learning.add_argument("--augment", choices=("mask", "replace", "drop", "swap"), help="add changed copies")
    learning.add_argument("--augment-rate", type=positive(float), default=0.1, help="share of the words (default: 0.1)")
    learning.add_argument("--augment-copies", type=positive(int), default=1)
    reading = sub.add_argument_group("what is read")
    reading.add_argument("--max-length", type=positive(int), default=128)
    reading.add_argument(
        "--truncation", choices=("longest_first", "head", "tail", "head_tail", "budget"), default="longest_first"
    )
    reading.add_argument("--budgets", type=positive(int), nargs="+", help="tokens a text, for --truncation budget")
    reading.add_argument(
        "--texts-beside", nargs="+", default=[], metavar="COLUMN", help="columns read as further texts"
    )
    reading.add_argument("--doc-stride", type=positive(int), default=64, help="tokens between two windows' starts")
    reading.add_argument("--pooling", choices=("cls", "mean", "max"), default="cls")
    reading.add_argument("--layers", default="last", help="last, last_four_concat, weighted … (see layer_choice.py)")
    reading.add_argument("--classifier-depth", type=positive(int), default=1, help="layers of the classifier")
    reading.add_argument(
        "--classifier-activation", choices=("tanh", "gelu", "relu"), default="tanh", help="between its layers"
    )
    reading.add_argument(
        "--classifier-norm", choices=("none", "batch", "layer"), default="none", help="between its layers"
    )
    reading.add_argument("--pattern", default="", help='of a cloze: "{text} It was [MASK]."; for pairs {second} too')
    reading.add_argument(
        "--words",
        nargs="+",
        default=[],
        type=label_words,
        metavar="LABEL=WORD,…",
        help="of a cloze: negative=terrible,bad",
    )
    reading.add_argument("--bilstm", action="store_true", help="one between BERT and the new layer")
    reading.add_argument("--metadata", nargs="+", default=[], metavar="COLUMN", help="columns to read beside the text")
    reading.add_argument("--metadata-as", choices=("embedding", "concatenated", "token"), default="embedding")

    sub = add_command(
        commands,
        "evaluate",
        evaluate,
        "Measure a model: a fine-tuned one on a file of its task, a pre-trained one on text (MLM and NSP).",
    )
    sub.add_argument("--model", default=SHIPPED, type=input_path)
    sub.add_argument("--data", nargs="+", required=True, type=input_path)
    sub.add_argument("--max-length", type=positive(int), default=128, help="of a pre-trained model's rows")
    add_precision(sub)
    file_options(sub)


def label_words(text: str) -> tuple[str, list[str]]:
    """negative=terrible,bad → ("negative", ["terrible", "bad"])."""
    label, equals, words = text.rpartition("=")
    listed = [word.strip() for word in words.split(",") if word.strip()]
    if not (label and equals and listed):
        raise argparse.ArgumentTypeError(f"must be like negative=terrible,bad, not {text}")
    return label, listed


def finetune(options) -> None:
    from minibert.distillation.learner import taught_by
    from minibert.finetune.run import finetune as run
    from minibert.finetune.split import split_dev
    from minibert.finetune.unlabelled import Unlabelled
    from minibert.tasks import task_named

    task = task_named(options.task)
    labels = None if options.labels is None else [label.strip() for label in options.labels.split(",")]
    train = read_task_data(options, task, options.train, labels)
    if options.dev is None:
        train, dev = split_dev(train, seed=options.seed)
    else:
        dev = read_task_data(options, task, options.dev, labels)
    if options.examples:
        train = train.take(range(min(options.examples, len(train.examples))))
    if train.imbalance and not options.json:
        counts = "  ".join(f"{label} {count}" for label, count in train.imbalance.counts.items())
        ratio = f"the commonest {train.imbalance.ratio:.1f} times the rarest"
        print(f"{len(train.examples)} examples to train on: {counts}; {ratio}", file=sys.stderr)
    settings = settings_of(options)
    beside = None
    if options.unlabelled:
        if not options.vat_weight:
            raise ValueError("nothing is learned from --unlabelled without --vat-weight")
        beside = Unlabelled(read_task_data(options, task, options.unlabelled, labels).examples)
    wrap = taught_by(options.teacher) if options.teacher else None
    events = run(options.model, task, train, dev, settings, out=options.out, unlabelled=beside, wrap=wrap)
    done = print_events(options, events)
    print_result(options, done["metrics"], "  ".join(f"{name} {value:.4f}" for name, value in done["metrics"].items()))


def settings_of(options: argparse.Namespace) -> FinetuneSettings:
    from minibert.finetune.augmentation import Augmentation
    from minibert.finetune.distillation import distillation_of
    from minibert.finetune.settings import FinetuneSettings
    from minibert.train import Optimization

    same: tuple[str, ...] = ()
    same += ("epochs", "batch_size", "dropout", "dropout_samples", "layer_decay", "mlm_weight", "max_length")
    same += ("truncation", "doc_stride", "pooling", "layers", "bilstm", "metadata_as", "seed", "max_seconds")
    same += ("group_by_length", "averaging", "patience", "loss", "focal_gamma", "auxiliary_weight", "pattern", "prompt")
    same += ("vat_weight", "vat_epsilon", "classifier_depth", "classifier_activation", "classifier_norm")
    augment = options.augment
    return FinetuneSettings(
        **{name: getattr(options, name) for name in same},
        freeze=int(options.freeze) if options.freeze.isdecimal() else options.freeze,
        bias_correction=not options.no_bias_correction,
        budgets=tuple(options.budgets) if options.budgets else None,
        texts_beside=tuple(options.texts_beside),
        auxiliary=tuple(options.auxiliary),
        metadata=tuple(options.metadata),
        augmentation=Augmentation(augment, options.augment_rate, options.augment_copies) if augment else None,
        optimization=Optimization(learning_rate=options.learning_rate, warmup=options.warmup),
        from_scratch=options.scratch,
        words=dict(options.words),
        distillation=distillation_of(options.distil, options.temperature) if options.teacher else None,
    )


def arguments_of(settings: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """(the arguments that give a run these settings, without those at their defaults; the settings that no argument
    gives). settings: of a `Started` event, or of `asdict`. For --teacher stands TEACHER."""
    top = argparse.ArgumentParser()
    add_commands(top.add_subparsers())
    usual = vars(top.parse_args(["finetune", "--train", "FILE", "--out", "FOLDER"]))
    wanted = {**flat(asdict(settings_of(argparse.Namespace(**usual)))), **flat(settings)}
    augmentation, distillation = wanted["augmentation"], wanted["distillation"]
    values = wanted | {"freeze": str(wanted["freeze"]), "words": [*wanted["words"].items()]}
    values |= {"scratch": wanted["from_scratch"], "no_bias_correction": not wanted["bias_correction"]}
    if augmentation:
        method, rate, copies = (augmentation[name] for name in ("method", "rate", "copies"))
        values |= {"augment": method, "augment_rate": rate, "augment_copies": copies}
    if distillation:
        losses = [name for name in LOSSES if distillation[name]]
        values |= {"teacher": "TEACHER", "distil": losses, "temperature": distillation["temperature"]}
    arguments: list[str] = []
    given = dict(usual)
    for name, before in usual.items():
        value = values.get(name, before)
        written = [] if value is True else [*map(written_value, value if isinstance(value, list) else [value])]
        if value != before and not any(one.startswith("-") for one in written):  # a column's name may
            arguments += [f"--{name.replace('_', '-')}", *written]
            given[name] = value
    made = flat(asdict(settings_of(argparse.Namespace(**given))))
    return arguments, {name: value for name, value in wanted.items() if value != made.get(name)}


def flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON holds them, those of the optimizer among the others."""
    values = json_value(json.dumps(settings))
    return values | values.pop("optimization", {})


def written_value(value: Any) -> str:
    """A value of an option, as one argument."""
    return f"{value[0]}={','.join(value[1])}" if isinstance(value, tuple) else str(value)


def evaluate(options) -> None:
    from minibert import checkpoint
    from minibert.diet.predictor import is_diet, load_predictor
    from minibert.finetune.evaluation import evaluate as measure_task
    from minibert.finetune.evaluation import unknown_labels
    from minibert.tasks.metadata import metadata_values
    from minibert.training.precision import ready_to_answer

    values = {"minibert_task": "intent"} if is_diet(options.model) else checkpoint.config_values(options.model)
    saved_as = (values.get("architectures") or ["BertForPreTraining"])[0]
    if "minibert_task" in values or not saved_as.endswith(("ForPreTraining", "ForMaskedLM", "Model")):
        predictor = load_predictor(options.model)
        ready_to_answer(predictor.model, options.precision)
        for path in options.data:
            data = read_task_data(options, predictor.task, path)
            predictor.task.check_answers(data)
            if unknown := unknown_labels(predictor, data):
                complain(f"{path}: the model does not have the labels {', '.join(unknown)}")
            metadata_values(data, predictor.options.metadata)  # raises if one is missing, which would spoil metrics
            predictor.task.check_reading(predictor.options, data)
            metrics = measure_task(predictor, data).metrics
            plain = "  ".join(f"{name} {value:.4f}" for name, value in metrics.items())
            print_result(options, {"file": str(path), **metrics}, f"{path}: {plain}")
        return
    from minibert.objectives import MaskedLanguageModel, measure
    from minibert.pretrain import PretrainSettings, dev_batches, load_pretrained
    from minibert.relatives import config_from
    from minibert.relatives.parts.masked_lm import MaskedLm
    from minibert.text.documents import read_documents
    from minibert.text.store import TokenStore

    tokenizer = checkpoint.load_tokenizer(options.model)
    store = TokenStore.build(read_documents(options.data), tokenizer)
    settings = PretrainSettings(steps=1, max_length=options.max_length, relative=config_from(values).model_type)
    model = checkpoint.load(options.model)
    if type(model) is MaskedLm and isinstance(settings.objective, MaskedLanguageModel):
        settings = replace(settings, objective_options={"second": None})  # it has no head for pairs
    else:
        model = load_pretrained(options.model, settings, new_heads=False)
    ready_to_answer(model, options.precision)
    metrics = measure(settings.objective, model, dev_batches(store, tokenizer, settings))
    print_result(options, metrics, "  ".join(f"{name} {value:.4g}" for name, value in metrics.items()))
