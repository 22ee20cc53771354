"""The command line: python -m minibert … --help."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from minibert.config import PRESETS, BertConfig

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ROOT / "checkpoints" / "mini-en"
SHARED = ROOT.parent / "shared" / "data"


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

    sub = command("pretrain", pretrain, "Pre-train a BERT on text files or folders (.txt, .txt.gz, .txt.xz).")
    sub.add_argument(
        "--data",
        nargs="+",
        required=True,
        type=Path,
        help="one sentence or paragraph a line, blank line between documents",
    )
    sub.add_argument("--preset", choices=PRESETS, default="mini")
    sub.add_argument("--out", required=True, type=Path, help="directory of the checkpoint")
    budget = sub.add_mutually_exclusive_group(required=True)
    budget.add_argument("--minutes", type=positive(float), help="training time")
    budget.add_argument("--steps", type=positive(int), help="optimizer steps")
    sub.add_argument("--vocab", type=Path, help="a vocab.txt; without it one is learned from the data")
    sub.add_argument("--vocab-size", type=positive(int), default=8192, help="pieces to learn (default: 8192)")
    sub.add_argument("--batch-size", type=positive(int), default=32)
    sub.add_argument("--max-length", type=positive(int), default=128, help="tokens a row, [CLS] and [SEP] counted")
    sub.add_argument("--learning-rate", type=positive(float), default=1e-3)
    sub.add_argument("--mask-rate", type=positive(float), default=0.15)
    sub.add_argument("--nsp-weight", type=float, default=1.0, help="of the next-sentence loss (default: 1)")
    sub.add_argument("--whole-words", action="store_true", help="mask whole words")
    sub.add_argument("--start", choices=("counts", "random"), default="counts", help="weights at the start")
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument("--threads", type=positive(int), help="processor threads")

    sub = command("evaluate", evaluate, "Measure a pre-trained model on text: MLM loss and accuracy, NSP accuracy.")
    sub.add_argument("--model", default=SHIPPED, type=Path)
    sub.add_argument("--data", nargs="+", required=True, type=Path)
    sub.add_argument("--max-length", type=positive(int), default=128)
    sub.add_argument("--seed", type=int, default=0)

    sub = command(
        "finetune", finetune, "Fine-tune on labelled text (TSV/CSV with sentence and label, or label<TAB>text)."
    )
    sub.add_argument("--task", choices=("classification",), default="classification")
    sub.add_argument("--train", required=True, type=Path)
    sub.add_argument("--dev", required=True, type=Path)
    sub.add_argument(
        "--model", default=SHIPPED, type=Path, help="the checkpoint to start from (default: the shipped one)"
    )
    sub.add_argument("--scratch", action="store_true", help="its sizes and vocabulary, but random weights")
    sub.add_argument("--out", required=True, type=Path)
    sub.add_argument("--epochs", type=positive(int), default=3)
    sub.add_argument("--batch-size", type=positive(int), default=32)
    sub.add_argument(
        "--learning-rate", type=positive(float), default=3e-4, help="default: 3e-4, which suits small models"
    )
    sub.add_argument("--pooling", choices=("cls", "mean"), default="cls")
    sub.add_argument("--max-length", type=positive(int), default=128)
    sub.add_argument("--examples", type=positive(int), help="train on the first N examples only")
    sub.add_argument("--seed", type=int, default=0)

    sub = command(
        "experiment", experiment, "Run one of the paper's ablations in small; a line of results an arm and seed."
    )
    sub.add_argument("name", nargs="?", help="one of those --list names")
    sub.add_argument("--list", action="store_true", help="say which experiments there are, and their arms")
    sub.add_argument("--seeds", type=positive(int), default=3, help="seeds 0 … N−1 of each arm (default: 3)")
    sub.add_argument("--data", nargs="+", type=Path, help="text to pre-train on (default: two files of ../shared)")
    sub.add_argument("--tasks", type=Path, default=SHARED / "tasks" / "en", help="with sst2, mrpc, conll2003 in it")
    sub.add_argument("--heldout", type=Path, help="text never trained on (default: WikiText-2 of ../shared)")
    sub.add_argument("--out", type=Path, help="results; what is there is not done again (default: lessons/results)")
    sub.add_argument("--tokens", type=positive(int), help="to pre-train each arm on")
    sub.add_argument("--examples", type=positive(int), help="to fine-tune on, at most")
    sub.add_argument("--cache", type=Path, default=ROOT / "build" / "experiments", help="where tokenized text is kept")
    sub.add_argument("--threads", type=positive(int), help="processor threads")

    sub = command("predict", predict, "Answer with a fine-tuned model.")
    sub.add_argument("text", nargs="?", help="the text; without it, every line of standard input")
    sub.add_argument("--model", required=True, type=Path)
    return top


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
    for line in sys.stdin:
        yield line.rstrip("\n")


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

    config = BertConfig.preset(options.preset) if options.preset else BertConfig.from_file(options.config)
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


def pretrain(options) -> None:
    import torch

    from minibert.data import Masking
    from minibert.pretrain import PretrainSettings
    from minibert.pretrain import pretrain as run

    if options.threads:
        torch.set_num_threads(options.threads)
    settings = PretrainSettings(
        preset=options.preset,
        vocab_size=options.vocab_size,
        steps=options.steps,
        minutes=options.minutes,
        batch_size=options.batch_size,
        max_length=options.max_length,
        start=options.start,
        nsp_weight=options.nsp_weight,
        masking=Masking(rate=options.mask_rate, whole_words=options.whole_words),
        seed=options.seed,
    )
    optimization = replace(settings.optimization, learning_rate=options.learning_rate)
    show(options, run(replace(settings, optimization=optimization), options.data, options.out, options.vocab))


def evaluate(options) -> None:
    from minibert import checkpoint
    from minibert.data import TokenStore, pretraining_batches, read_documents
    from minibert.model import BertForPreTraining
    from minibert.pretrain import evaluate as measure

    model = checkpoint.load(options.model, kind=BertForPreTraining)
    tokenizer = checkpoint.load_tokenizer(options.model)
    store = TokenStore.build(read_documents(options.data), tokenizer)
    batches = pretraining_batches(
        store, tokenizer, batch_size=32, max_length=options.max_length, seed=options.seed, epochs=1
    )
    metrics = measure(model, batches).metrics
    put(options, metrics, "  ".join(f"{name} {value:.4g}" for name, value in metrics.items()))


def finetune(options) -> None:
    from minibert.finetune import FinetuneSettings, finetune_classification
    from minibert.tasks import ClassificationData, read_classification
    from minibert.train import Optimization

    train, dev = read_classification(options.train), read_classification(options.dev)
    for path, data in ((options.train, train), (options.dev, dev)):
        for line, why in data.skipped:
            print(f"{path}, line {line}: {why}; passed over", file=sys.stderr)
    if options.examples:
        train = ClassificationData(train.examples[: options.examples], train.skipped)
    settings = FinetuneSettings(
        epochs=options.epochs,
        batch_size=options.batch_size,
        max_length=options.max_length,
        pooling=options.pooling,
        optimization=Optimization(learning_rate=options.learning_rate),
        seed=options.seed,
        from_scratch=options.scratch,
    )
    done = show(options, finetune_classification(options.model, train, dev, settings, out=options.out))
    put(options, done["metrics"], "  ".join(f"{name} {value:.4f}" for name, value in done["metrics"].items()))


def experiment(options) -> None:
    from minibert.experiments.catalogue import EXPERIMENTS, Scale, experiment_named

    if options.list:
        for each in EXPERIMENTS.values():
            arms = [arm.name for arm in each.arms]
            values = {"experiment": each.name, "title": each.title, "arms": arms, "tasks": each.tasks}
            put(options, values, f"{each.name:12} {each.title}: {', '.join(arms)}")
        return
    if options.name is None:
        raise ValueError("name an experiment; --list says which there are")
    chosen = experiment_named(options.name)

    import torch

    from minibert.experiments.run import CORPUS, prepare, run_experiment

    if options.threads:
        torch.set_num_threads(options.threads)
    asked = {"tokens": options.tokens, "examples": options.examples}
    scale = replace(Scale(), **{name: value for name, value in asked.items() if value})
    data = options.data or [SHARED / "pretrain" / "en" / name for name in CORPUS]
    heldout = options.heldout or SHARED / "heldout-text" / "valid.txt"
    corpus = prepare(data, scale.vocab_size, heldout=heldout if heldout.exists() else None, cache=options.cache)
    out = options.out or ROOT / "lessons" / "results" / f"{chosen.name}.jsonl"
    command = f"python -m minibert experiment {chosen.name} --seeds {options.seeds}"
    command += "".join(f" --{name} {value}" for name, value in asked.items() if value)
    command += f" --data {' '.join(map(str, options.data))}" if options.data else ""
    show(options, run_experiment(chosen, corpus, options.tasks, out, seeds=options.seeds, scale=scale, command=command))


def predict(options) -> None:
    from minibert.finetune import Classifier

    classifier = Classifier.from_directory(options.model)
    for line in lines_of(options):
        answer = classifier.predict([line])[0]
        put(options, answer, f"{answer['label']}  {answer['probabilities'][answer['label']]:.3f}  {line}")


def show(options, events) -> dict:
    """Print a run as it goes: JSON lines, or a line that counts up. → the last event."""
    last: dict = {}
    for event in events:
        last = event.as_dict()
        if options.json:
            print(json.dumps(last, ensure_ascii=False), flush=True)
        elif last["event"] == "step":
            parts = "".join(f"  {name} {value:.3f}" for name, value in last["parts"].items())
            line = f"{last['progress']:6.1%}  step {last['step']}  loss {last['loss']:.3f}{parts}  "
            print(f"\r{line}{last['tokens_per_second']:,.0f} tokens/s ", end="", file=sys.stderr, flush=True)
        elif last["event"] == "eval":
            metrics = "  ".join(f"{name} {value:.4f}" for name, value in last["metrics"].items())
            print(f"\rstep {last['step']}: {metrics}", file=sys.stderr, flush=True)
        elif last["event"] == "stage":
            print(f"\n{last['arm']}, seed {last['seed']}: {last['stage']}", file=sys.stderr, flush=True)
        elif last["event"] == "finished":
            record = last["record"]
            metrics = "  ".join(f"{name} {value:.4f}" for name, value in record["metrics"].items())
            print(f"\n{record['arm']}, seed {record['seed']}: {metrics}", file=sys.stderr, flush=True)
        elif last["event"] == "saved":
            print(f"\nsaved {last['path']}", file=sys.stderr, flush=True)
    return last


if __name__ == "__main__":
    sys.exit(main())
