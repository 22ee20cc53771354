"""The command line: python -m minibert … --help."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from minibert.config import PRESETS, BertConfig

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ROOT / "checkpoints" / "mini-en"
SHARED = ROOT.parent / "shared" / "data"
TASKS_FOLDER = SHARED / "tasks" / "en"
TASK_NAMES = (
    "classification", "pair", "similarity", "multilabel", "tagging", "span", "span-or-none", "choice", "intent",
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 on success, 2 with one clear line on stderr when what was given cannot be used."""
    options = parser().parse_args(arguments)
    # Imported per command: `--help` and `count` must not wait for torch.
    try:
        options.run(options)
    except (ValueError, OSError) as error:
        print(f"minibert {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="python -m minibert", description="A compact BERT: tokenize, count, train, predict."
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, run, help: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help)
        sub.set_defaults(run=run)
        sub.add_argument("--json", action="store_true", help="print machine-readable lines")
        return sub

    sub = command("tokenize", tokenize, "Cut text into WordPiece tokens: one JSON object a line.")
    sub.add_argument("text", nargs="?", help="the text; without it, every line of standard input")
    sub.add_argument("--vocab", default=SHIPPED / "vocab.txt", type=Path, help="a vocab.txt (default: the shipped one)")
    sub.add_argument("--cased", action="store_true", help="keep case and accents")

    sub = command("count", count, "Count the parameters of a model from its sizes alone.")
    which = sub.add_mutually_exclusive_group(required=True)
    which.add_argument("--preset", choices=PRESETS)
    which.add_argument("--config", type=Path, help="a config.json")

    sub = command("fill", fill, "Fill the [MASK]s of a text.")
    sub.add_argument("text", help='such as "the [MASK] barked"')
    sub.add_argument("--model", default=SHIPPED, type=Path, help="a checkpoint directory (default: the shipped one)")
    sub.add_argument("--top", type=positive(int), default=5, help="answers per blank (default: 5)")

    sub = command("pretrain", pretrain, "Pre-train a BERT on text files or folders (.txt, .jsonl; also .gz, .xz).")
    text = sub.add_mutually_exclusive_group(required=True)
    text.add_argument(
        "--data",
        nargs="+",
        type=Path,
        help="one sentence or paragraph a line, blank line between documents; or JSON lines with a text",
    )
    text.add_argument("--toy", action="store_true", help="little stories, with settings of their own")
    sub.add_argument("--preset", choices=PRESETS, default="mini")
    sub.add_argument("--out", required=True, type=Path, help="directory of the checkpoint")
    budget = sub.add_mutually_exclusive_group(required=True)
    budget.add_argument("--minutes", type=positive(float), help="training time")
    budget.add_argument("--steps", type=positive(int), help="optimizer steps")
    words = sub.add_mutually_exclusive_group()
    words.add_argument("--vocab", type=Path, help="a vocab.txt; without it one is learned from the data")
    words.add_argument("--model", type=Path, help="go on from this checkpoint, with its vocabulary and sizes")
    words.add_argument("--vocab-size", type=positive(int), default=8192, help="pieces to learn (default: 8192)")
    sub.add_argument("--dev", nargs="+", type=Path, default=[], help="text to measure on while it trains")
    sub.add_argument("--batch-size", type=positive(int), default=32)
    sub.add_argument("--accumulate", type=positive(int), default=1, help="parts a batch is computed in, to save memory")
    sub.add_argument("--max-length", type=positive(int), default=128, help="tokens a row, [CLS] and [SEP] counted")
    sub.add_argument(
        "--input-format",
        choices=("segment_pair", "sentence_pair", "full_sentences", "doc_sentences"),
        default="segment_pair",
        help="the paper's segment pairs, or another of Liu et al. (2019); the last two have no next-sentence task",
    )
    sub.add_argument("--short-probability", type=float, default=0.1, help="of shorter rows (default: 0.1)")
    sub.add_argument("--learning-rate", type=positive(float), default=1e-3)
    sub.add_argument(
        "--optimizer",
        choices=("adamw", "muon"),
        help="muon: for the matrices of the blocks (default: adamw, and muon on the toy world)",
    )
    sub.add_argument("--dropout", type=float, default=0.0)
    sub.add_argument("--mask-rate", type=positive(float), default=0.15)
    sub.add_argument("--nsp-weight", type=float, default=1.0, help="of the next-sentence loss (default: 1)")
    sub.add_argument("--whole-words", action="store_true", help="mask whole words")
    sub.add_argument("--words", choices=("none", "jieba"), default="none", help="who says what a Chinese word is")
    sub.add_argument("--static", action="store_true", help="draw the masks once and repeat them in every epoch")
    sub.add_argument("--start", choices=("counts", "random"), default="counts", help="weights at the start")
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument("--save-every", type=positive(int), metavar="N", help="steps (default: every five minutes)")
    sub.add_argument("--resume", action="store_true", help="go on where the run in --out was cut off")
    sub.add_argument("--snapshots", action="store_true", help="keep small copies of early steps, to look back at")
    sub.add_argument("--compile", action="store_true", help="compile the model first (torch.compile)")
    sub.add_argument("--threads", type=positive(int), help="processor threads")
    sub.add_argument("--processes", type=positive(int), default=os.cpu_count(), help="for tokenizing (default: all)")
    sub.add_argument(
        "--cache", type=Path, default=default_cache(), help="folder of tokenized text (default: %(default)s)"
    )

    sub = command("average", average, "Write the mean of the weights of several models that went on from one start.")
    sub.add_argument("models", nargs="+", type=Path, metavar="MODEL", help="checkpoint directories")
    sub.add_argument("--out", required=True, type=Path, help="directory")
    sub.add_argument(
        "--dtype", choices=("float32", "float16"), default="float16", help="of the weights (default: float16)"
    )

    sub = command(
        "evaluate",
        evaluate,
        "Measure a model: a fine-tuned one on a file of its task, a pre-trained one on text (MLM and NSP).",
    )
    sub.add_argument("--model", default=SHIPPED, type=Path)
    sub.add_argument("--data", nargs="+", required=True, type=Path)
    sub.add_argument("--max-length", type=positive(int), default=128, help="of a pre-trained model's rows")
    file_options(sub)

    sub = command("finetune", finetune, "Fine-tune on a file in one of the field's formats, for any task.")
    sub.add_argument("--task", choices=TASK_NAMES, default="classification")
    sub.add_argument("--train", required=True, type=Path)
    sub.add_argument("--dev", type=Path, help="to measure on; without it, one training example in five")
    sub.add_argument(
        "--model", default=SHIPPED, type=Path, help="the checkpoint to start from (default: the shipped one)"
    )
    sub.add_argument("--scratch", action="store_true", help="its sizes and vocabulary, but random weights")
    sub.add_argument("--out", required=True, type=Path)
    file_options(sub)
    sub.add_argument("--labels", help="the label set, with commas between; without it, the labels that occur")
    sub.add_argument("--examples", type=positive(int), help="train on the first N examples only")
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument("--max-seconds", type=positive(float), help="of training; what was learned until then is saved")
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
    learning.add_argument("--averaging", type=float, default=0.0, help="0 … 1: keep the running mean of the weights")
    learning.add_argument("--augment", choices=("mask", "replace", "drop", "swap"), help="add changed copies")
    learning.add_argument("--augment-rate", type=positive(float), default=0.1, help="share of the words (default: 0.1)")
    learning.add_argument("--augment-copies", type=positive(int), default=1)
    reading = sub.add_argument_group("what is read")
    reading.add_argument("--max-length", type=positive(int), default=128)
    reading.add_argument(
        "--truncation", choices=("longest_first", "head", "tail", "head_tail", "budget"), default="longest_first"
    )
    reading.add_argument("--budgets", type=positive(int), nargs="+", help="tokens a text, for --truncation budget")
    reading.add_argument("--doc-stride", type=positive(int), default=64, help="tokens between two windows' starts")
    reading.add_argument("--pooling", choices=("cls", "mean", "max"), default="cls")
    reading.add_argument("--layers", default="last", help="last, last_four_concat, weighted … (see minibert/heads.py)")
    reading.add_argument("--bilstm", action="store_true", help="one between BERT and the new layer")
    reading.add_argument("--metadata", nargs="+", default=[], metavar="COLUMN", help="columns to read beside the text")
    reading.add_argument("--metadata-as", choices=("embedding", "token"), default="embedding")

    sub = command(
        "experiment", experiment, "Run one of the paper's ablations in small; a line of results an arm and seed."
    )
    sub.add_argument("name", nargs="?", help="one of those --list names")
    sub.add_argument("--list", action="store_true", help="say which experiments there are, and their arms")
    sub.add_argument("--seeds", type=positive(int), help="seeds 0 … N−1 of each arm (default: 3; of stability 5)")
    sub.add_argument("--data", nargs="+", type=Path, help="text to pre-train on (default: two files of ../shared)")
    sub.add_argument("--tasks", type=Path, default=TASKS_FOLDER, help="with sst2, mrpc, conll2003 in it")
    sub.add_argument("--heldout", type=Path, help="text never trained on (default: WikiText-2 of ../shared)")
    sub.add_argument("--out", type=Path, help="results; what is there is not done again (default: lessons/results)")
    sub.add_argument("--tokens", type=positive(int), help="to pre-train each arm on")
    sub.add_argument("--examples", type=positive(int), help="to fine-tune on, at most")
    sub.add_argument("--cache", type=Path, default=ROOT / "build" / "experiments", help="where tokenized text is kept")
    sub.add_argument("--threads", type=positive(int), help="processor threads")

    sub = command("predict", predict, "Answer with a fine-tuned model, as the inputs come.")
    sub.add_argument(
        "text",
        nargs="?",
        help="one input: a text, texts with tabs between, or JSON; without it, every line of --file or standard input",
    )
    sub.add_argument("--file", type=Path, help="read the inputs from here, one a line")
    sub.add_argument("--data", type=Path, help="a file in one of the formats of the task, as `evaluate` reads it")
    sub.add_argument("--model", required=True, type=Path)
    sub.add_argument("--batch-size", type=positive(int), default=32)
    file_options(sub)

    sub = command("export", export, "Write a fine-tuned model for other programs, and compare what was written.")
    sub.add_argument("--model", required=True, type=Path)
    sub.add_argument("--out", required=True, type=Path, help="directory")
    sub.add_argument(
        "--format", choices=("huggingface", "onnx"), default="huggingface", help="onnx: see requirements-export.txt"
    )
    sub.add_argument("--dtype", choices=("float32", "float16"), default="float32", help="of the weights (huggingface)")

    sub = command("serve", serve, "Answer over HTTP with a fine-tuned model: POST /predict, GET /schema, GET /health.")
    sub.add_argument("--model", required=True, type=Path)
    sub.add_argument("--host", default="127.0.0.1", help="default: %(default)s, this machine alone")
    sub.add_argument("--port", type=port, default=8080, help="default: %(default)s; 0 takes a free one")
    sub.add_argument("--batch-size", type=positive(int), default=32, help="inputs answered at once (default: 32)")
    sub.add_argument("--window", type=float, default=2.0, help="milliseconds a batch waits for more (default: 2)")
    sub.add_argument("--max-inputs", type=positive(int), default=64, help="of a request (default: 64)")
    sub.add_argument("--max-characters", type=positive(int), default=20_000, help="of a text (default: 20,000)")
    sub.add_argument("--max-body", type=positive(int), default=2**20, help="bytes of a request (default: 1 MiB)")
    sub.add_argument("--queue", type=positive(int), default=256, help="inputs that may wait (default: 256)")
    sub.add_argument("--threads", type=positive(int), help="processor threads")
    return top


def file_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--format", help="of the files; guessed without it")
    sub.add_argument(
        "--columns",
        nargs="+",
        type=field_column,
        metavar="FIELD=COLUMN",
        help="of a table: text=Review label=Stars, by names in its header; by numbers from 1 where it has none",
    )
    sub.add_argument("--strict", action="store_true", help="stop at the first bad line instead of naming it")


def field_column(text: str) -> tuple[str, str | int]:
    """text=Review → ("text", "Review"), first-text=3 → ("first text", 3)."""
    name, equals, column = text.partition("=")
    if not (name and equals and column):
        raise argparse.ArgumentTypeError(f"must be like text=Review or label=3, not {text}")
    return name.replace("-", " "), int(column) if column.isdecimal() else column


def port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 65535, not {text}")
    return int(text)


def positive(kind):
    def parse(text: str):
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"must be greater than 0, not {text}")
        return value

    parse.__name__ = f"positive {kind.__name__}"
    return parse


def lines_of(options) -> Iterator[str]:
    """The text given, or standard input line by line."""
    if options.text is not None:
        yield options.text
        return
    sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    for number, line in enumerate(sys.stdin):
        yield (line if number else line.removeprefix("\ufeff")).rstrip("\n")


def put(options, values: dict, plain: str | None = None) -> None:
    print(json.dumps(values, ensure_ascii=False) if options.json or plain is None else plain, flush=True)


def tokenize(options) -> None:
    from minibert.tokenizer import Tokenizer

    tokenizer = Tokenizer.from_file(options.vocab, lowercase=not options.cased)
    for line in lines_of(options):
        encoding = tokenizer.encode(line, truncation="none")
        put(options, {"tokens": encoding.tokens, "ids": encoding.ids, "offsets": encoding.offsets})


def count(options) -> None:
    from minibert.count import parameters
    from minibert.relatives.registry import config_from_file

    config = BertConfig.preset(options.preset) if options.preset else config_from_file(options.config)
    counted = parameters(config)
    values = {name: getattr(counted, name) for name in ("encoder", "with_pooler", "masked_lm", "pretraining")}
    put(options, values, "\n".join(f"{name:12} {value:>13,}" for name, value in values.items()))


def fill(options) -> None:
    from minibert import checkpoint
    from minibert.model import BertForPreTraining
    from minibert.pretrain import fill as fill_masks

    model = checkpoint.load(options.model, kind=BertForPreTraining)
    for blank, answers in enumerate(
        fill_masks(model, checkpoint.load_tokenizer(options.model), options.text, options.top)
    ):
        plain = "  ".join(f"{piece} {probability:.3f}" for piece, probability in answers)
        put(options, {"blank": blank, "answers": [{"piece": w, "probability": p} for w, p in answers]}, plain)


def default_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "minibert"


EARLY = (0.0, 0.01, 0.03, 0.1, 0.2, 0.4)  # shares of a run: most changes at its beginning


def pretrain(options) -> None:
    import torch

    from minibert.objectives import Masking
    from minibert.pretrain import PretrainSettings
    from minibert.pretrain import pretrain as run

    if options.threads:
        torch.set_num_threads(options.threads)
    if options.toy:
        from minibert.toy.pretrain import TOY, pretrain_toy

        if options.resume:
            raise ValueError("a run on the toy world takes a minute and is not resumed: begin it again")
        usual = parser().parse_args(["pretrain", "--toy", "--out", "x", "--steps", "1"])
        taken = {"out", "steps", "minutes", "seed", "threads", "optimizer", "json"}
        for name in vars(usual).keys() - taken:
            if getattr(options, name) != getattr(usual, name):
                name = name.replace("_", "-")
                raise ValueError(f"a run on the toy world has settings of its own: leave out --{name}")
        changes = {name: getattr(options, name) for name in ("steps", "minutes", "seed")}
        if options.optimizer:
            changes["optimization"] = replace(TOY.optimization, optimizer=options.optimizer)
        show(options, pretrain_toy(replace(TOY, **changes), options.out))
        return
    same = ("preset", "vocab_size", "steps", "minutes", "batch_size", "accumulate", "max_length", "input_format")
    same += ("short_probability", "dropout", "nsp_weight", "words", "start", "seed", "save_every", "compile")
    settings = PretrainSettings(
        **{name: getattr(options, name) for name in same},
        masking=Masking(rate=options.mask_rate, whole_words=options.whole_words, static=options.static),
        snapshots=EARLY if options.snapshots else (),
    )
    optimization = replace(settings.optimization, learning_rate=options.learning_rate)
    if options.optimizer:
        optimization = replace(optimization, optimizer=options.optimizer)
    events = run(
        replace(settings, optimization=optimization),
        options.data,
        options.out,
        options.vocab,
        model=options.model,
        dev=options.dev,
        cache=options.cache,
        processes=options.processes,
        resuming=options.resume,
    )
    if int(os.environ.get("RANK", "0")) == 0:
        show(options, events)
    else:
        for _ in events:  # of a group, one process reports
            pass


def average(options) -> None:
    import torch

    from minibert.training.averaging import average as mean

    saved = mean(options.models, options.out, getattr(torch, options.dtype))
    put(options, {"saved": str(saved)}, f"saved {saved}")


def read_task_data(options, task, path: Path, labels=None):
    """The examples of a file; its problems are told on stderr."""
    data = task.read(path, options.format, options.strict, labels, dict(options.columns or ()))
    for problem in data.problems:
        print(f"{path}, {problem}", file=sys.stderr)
    return data


def evaluate(options) -> None:
    from minibert import checkpoint
    from minibert.finetune.evaluation import evaluate as measure_task
    from minibert.finetune.evaluation import unknown_labels
    from minibert.finetune.predictor import TASK_OF_HEAD, Predictor
    from minibert.tasks.data import check_answers
    from minibert.tasks.metadata import metadata_values
    from minibert.training.precision import best_device

    values = checkpoint.config_values(options.model)
    if "minibert_task" in values or set(values.get("architectures") or ()) & set(TASK_OF_HEAD):
        predictor = Predictor.from_directory(options.model)
        predictor.model.to(best_device())
        for path in options.data:
            data = read_task_data(options, predictor.task, path)
            check_answers(data)
            if unknown := unknown_labels(predictor, data):
                print(f"{path}: the model does not have the labels {', '.join(unknown)}", file=sys.stderr)
            metadata_values(data, predictor.options.metadata)  # without them the figures would be another model's
            metrics = measure_task(predictor, data).metrics
            plain = "  ".join(f"{name} {value:.4f}" for name, value in metrics.items())
            put(options, {"file": str(path), **metrics}, f"{path}: {plain}")
        return
    from minibert.model import BertForPreTraining
    from minibert.pretrain import PretrainSettings, dev_batches
    from minibert.pretrain import evaluate as measure
    from minibert.text.documents import read_documents
    from minibert.text.store import TokenStore

    model = checkpoint.load(options.model, kind=BertForPreTraining).to(best_device())
    tokenizer = checkpoint.load_tokenizer(options.model)
    store = TokenStore.build(read_documents(options.data), tokenizer)
    settings = PretrainSettings(steps=1, max_length=options.max_length)
    metrics = measure(model, iter(dev_batches(store, tokenizer, settings))).metrics
    put(options, metrics, "  ".join(f"{name} {value:.4g}" for name, value in metrics.items()))


def finetune(options) -> None:
    from minibert.finetune.augmentation import Augmentation
    from minibert.finetune.run import finetune as run
    from minibert.finetune.settings import FinetuneSettings
    from minibert.finetune.split import split_dev
    from minibert.tasks import task_named
    from minibert.train import Optimization

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
    same = ("epochs", "batch_size", "dropout", "dropout_samples", "layer_decay", "mlm_weight", "max_length")
    same += ("truncation", "doc_stride", "pooling", "layers", "bilstm", "metadata_as", "seed", "max_seconds")
    same += ("group_by_length", "averaging")
    augment = options.augment
    settings = FinetuneSettings(
        **{name: getattr(options, name) for name in same},
        freeze=int(options.freeze) if options.freeze.isdecimal() else options.freeze,
        bias_correction=not options.no_bias_correction,
        budgets=tuple(options.budgets) if options.budgets else None,
        metadata=tuple(options.metadata),
        augmentation=Augmentation(augment, options.augment_rate, options.augment_copies) if augment else None,
        optimization=Optimization(learning_rate=options.learning_rate, warmup=options.warmup),
        from_scratch=options.scratch,
    )
    done = show(options, run(options.model, task, train, dev, settings, out=options.out))
    put(options, done["metrics"], "  ".join(f"{name} {value:.4f}" for name, value in done["metrics"].items()))


def experiment(options) -> None:
    from minibert.experiments.catalogue import EXPERIMENTS, Scale, experiment_named
    from minibert.experiments.comparisons import COMPARISONS

    if options.list:
        for each in EXPERIMENTS.values():
            arms = [arm.name for arm in each.arms]
            values = {"experiment": each.name, "title": each.title, "arms": arms, "tasks": each.tasks}
            put(options, values, f"{each.name:12} {each.title}: {', '.join(arms)}")
        for each in COMPARISONS.values():
            values = {"experiment": each.name, "title": each.title, "arms": [*each.arms], "tasks": [each.task]}
            put(options, values, f"{each.name:12} {each.title}: {'; '.join(each.arms)}")
        return
    if options.name is None:
        raise ValueError("name an experiment; --list says which there are")
    if options.name in COMPARISONS:
        compare(options)
        return
    chosen = experiment_named(options.name)

    import torch

    from minibert.experiments.run import CORPUS, prepare, run_experiment

    if options.threads:
        torch.set_num_threads(options.threads)
    asked = {"tokens": options.tokens, "examples": options.examples}
    scale = replace(Scale(), **{name: value for name, value in asked.items() if value})
    data = options.data or [SHARED / "pretrain" / "en" / name for name in CORPUS]
    heldout = options.heldout or SHARED / "heldout-text" / "valid.txt"
    if options.heldout and not heldout.exists():
        raise ValueError(f"{heldout} does not exist")
    corpus = prepare(data, scale.vocab_size, heldout=heldout if heldout.exists() else None, cache=options.cache)
    out = options.out or ROOT / "lessons" / "results" / f"{chosen.name}.jsonl"
    seeds = options.seeds or 3
    command = f"python -m minibert experiment {chosen.name} --seeds {seeds}"
    command += "".join(f" --{name} {value}" for name, value in asked.items() if value)
    command += f" --data {' '.join(map(str, options.data))}" if options.data else ""
    command += f" --heldout {options.heldout}" if options.heldout else ""
    command += f" --tasks {options.tasks}" if options.tasks != TASKS_FOLDER else ""
    events = run_experiment(chosen, corpus, options.tasks, out, seeds=seeds, scale=scale, command=command)
    if not show(options, events)["step"]:
        print(f"nothing to do: {out} holds all of it", file=sys.stderr)


def compare(options) -> None:
    """`experiment` of fine-tuning alone: from the shipped checkpoint."""
    import torch

    from minibert.experiments.compare import run_comparison
    from minibert.experiments.comparisons import comparison_named

    chosen = comparison_named(options.name)
    if options.threads:
        torch.set_num_threads(options.threads)
    folder = ROOT / "lessons" / "data" if chosen.embedded else options.tasks
    out = options.out or ROOT / "lessons" / "results" / f"{chosen.name}.jsonl"
    seeds = options.seeds or chosen.seeds
    command = f"python -m minibert experiment {chosen.name} --seeds {seeds}"
    show(options, run_comparison(chosen, SHIPPED, folder, out, seeds=seeds, command=command))


def predict(options) -> None:
    from contextlib import ExitStack

    from minibert.command_line.lines import lines_as_they_come
    from minibert.finetune.predictor import Predictor
    from minibert.training.precision import best_device

    predictor = Predictor.from_directory(options.model)
    predictor.model.to(best_device())
    if sum(source is not None for source in (options.text, options.file, options.data)) > 1:
        raise ValueError("give one input, or --file, or --data")
    with ExitStack() as stack:
        if options.text is not None:
            answers = predictor.stream([given(options.text)])
        elif options.file is not None:
            file = stack.enter_context(options.file.open(encoding="utf-8-sig"))
            answers = predictor.stream((given(line.rstrip("\n")) for line in file), options.batch_size)
        elif options.data is not None:
            answers = file_answers(options, predictor)
        else:
            batches = lines_as_they_come(sys.stdin.buffer, options.batch_size)
            answers = predictor.stream_batches([given(line) for line in lines] for lines in batches)
        for answer in answers:
            put(options, answer, plain_answer(predictor.task.name, answer))


def file_answers(options, predictor) -> Iterator[dict]:
    """The answer to each example of a file of the task."""
    examples = read_task_data(options, predictor.task, options.data).examples
    for start in range(0, len(examples), options.batch_size):
        yield from predictor.answers(examples[start : start + options.batch_size])[0]


def export(options) -> None:
    from minibert.service.export import export as write

    done = write(options.model, options.out, options.format, options.dtype)
    for note in done.notes:
        print(note, file=sys.stderr)
    plain = f"{done.path}: {done.format}, {done.dtype}; on {done.rows} random inputs no logit differs from the model's"
    values = {**vars(done), "path": str(done.path)}
    put(options, values, f"{plain} by more than {done.difference:.1e}")


def serve(options) -> None:
    import torch

    from minibert.finetune.predictor import Predictor
    from minibert.service.server import Limits
    from minibert.service.server import serve as run
    from minibert.training.precision import best_device

    if options.threads:
        torch.set_num_threads(options.threads)
    limits = Limits(
        inputs=options.max_inputs,
        characters=options.max_characters,
        body=options.max_body,
        queue=options.queue,
        batch=options.batch_size,
        window=options.window / 1000,
    )
    predictor = Predictor.from_directory(options.model)
    predictor.model.to(best_device())
    task = predictor.task.name

    def ready(url: str) -> None:
        put(options, {"url": url, "task": task}, f"{task}: POST {url}/predict, or see {url}/schema; Ctrl-C stops")

    run(predictor, options.host, options.port, limits, ready)


def given(line: str):
    """An input of `predict`: a JSON object or list, texts with tabs between, or one text."""
    if line.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(line)
        except ValueError:
            return line  # a text may begin like that too
    return line.split("\t") if "\t" in line else line


def plain_answer(task: str, answer: dict) -> str:
    """An answer as a line for people."""

    def entities() -> str:
        return "  ".join(f"[{entity['text']}]({entity['type']})" for entity in answer["entities"]) or "–"

    match task:
        case "classification":
            return f"{answer['label']}  {answer['probabilities'][answer['label']]:.3f}  {answer['text']}"
        case "pair":
            sure = answer["probabilities"][answer["label"]]
            return f"{answer['label']}  {sure:.3f}  {answer['text']} | {answer['pair']}"
        case "similarity":
            return f"{answer['score']:.3f}  {answer['text']} | {answer['pair']}"
        case "multilabel":
            return f"{', '.join(answer['labels']) or '–'}  {answer['text']}"
        case "tagging":
            return entities()
        case "choice":
            return f"{answer['answer']}  {answer['probabilities'][answer['label']]:.3f}"
        case "intent":
            return f"{answer['intent']}  {entities()}"
        case _:
            return f"{answer['answer'] or '–'}  {answer['probability']:.3f}"


def show(options, events) -> dict:
    """Print a run as it goes: JSON lines, or a line that counts up. → the last event. Ctrl-C ends it between two
    events, so that it saves what was learned."""
    last: dict = {}
    with heard_between_events() as interrupted:
        for event in events:
            last = event.as_dict()
            if options.json:
                print(json.dumps(last, ensure_ascii=False), flush=True)
            else:
                tell(last)
            if interrupted():
                events.close()
                raise KeyboardInterrupt
    return last


@contextmanager
def heard_between_events() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed, instead of an exception in the middle of a step; the second time is the usual one.
    Of a group each process hears it as ever: one that goes on alone would wait for the others."""
    pressed = False

    def press(*_) -> None:
        nonlocal pressed
        pressed = True
        signal.signal(signal.SIGINT, usual)
        print("\nstopping after this step; Ctrl-C again stops at once", file=sys.stderr, flush=True)

    if "RANK" in os.environ or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    usual = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, usual)


def tell(event: dict) -> None:
    match event["event"]:
        case "preparing":
            print(f"{event['what']} …", file=sys.stderr, flush=True)
        case "started":
            for note in event["details"].get("skipped", ()):
                print(f"passed over: {note}", file=sys.stderr, flush=True)
        case "step":
            print(f"\r{step_line(event)} ", end="", file=sys.stderr, flush=True)
        case "eval":
            shown = {name: value for name, value in event["metrics"].items() if "." not in name}
            metrics = "  ".join(f"{name} {value:.4g}" for name, value in shown.items())
            print(f"\rstep {event['step']}: {metrics}", file=sys.stderr, flush=True)
        case "stage":
            print(f"\n{event['arm']}, seed {event['seed']}: {event['stage']}", file=sys.stderr, flush=True)
        case "finished":
            record = event["record"]
            metrics = "  ".join(f"{name} {value:.4f}" for name, value in record["metrics"].items())
            print(f"\n{record['arm']}, seed {record['seed']}: {metrics}", file=sys.stderr, flush=True)
        case "saved":
            print(f"\nsaved {event['path']}", file=sys.stderr, flush=True)


def step_line(step: dict) -> str:
    """How far, how good, how fast, how much longer."""
    parts = "".join(f"  {name} {value:.3f}" for name, value in step["parts"].items())
    left = step["seconds"] * (1 - step["progress"]) / step["progress"] if step["progress"] else 0.0
    minutes, seconds = divmod(round(left), 60)
    speed = f"{step['tokens_per_second']:,.0f} tokens/s  {minutes}:{seconds:02d} left"
    return f"{step['progress']:6.1%}  step {step['step']}  loss {step['loss']:.3f}{parts}  {speed}"


if __name__ == "__main__":
    sys.exit(main())
