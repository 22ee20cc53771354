"""pretrain, average: the weights of a model."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

from minibert.command_line.arguments import add_command, model_directory, positive
from minibert.command_line.printing import print_events, print_result
from minibert.folders import input_path
from minibert.relatives import model_types
from minibert.sentence_vectors.packaged import PACKAGED

EARLY = (0.0, 0.01, 0.03, 0.1, 0.2, 0.4)  # shares of a run: most changes at its beginning


def add_commands(commands) -> None:
    sub = add_command(
        commands, "pretrain", pretrain, "Pre-train a BERT on text files or folders (.txt, .jsonl; also .gz, .xz)."
    )
    add_pretraining_options(sub)

    sub = add_command(
        commands, "average", average, "Write the mean of the weights of several models that went on from one start."
    )
    sub.add_argument("models", nargs="+", type=input_path, metavar="MODEL", help="checkpoint directories")
    sub.add_argument("--out", required=True, type=Path, help="directory")
    sub.add_argument(
        "--dtype", choices=("float32", "float16"), default="float16", help="of the weights (default: float16)"
    )


def add_pretraining_options(sub: argparse.ArgumentParser) -> None:
    text = sub.add_mutually_exclusive_group(required=True)
    text.add_argument(
        "--data",
        nargs="+",
        type=input_path,
        help="one sentence or paragraph a line, blank line between documents; or JSON lines with a text",
    )
    text.add_argument("--toy", action="store_true", help="little stories, with settings of their own")
    sub.add_argument("--pairs", action="store_true", help="with --toy: in two segments, with a question")
    sub.add_argument("--relative", choices=model_types(), default="bert", help="what to train (default: bert)")
    sub.add_argument("--preset", help="sizes: tiny, mini (the default), small, medium, base, large")
    sub.add_argument(
        "--sizes",
        nargs="+",
        type=size,
        default=[],
        metavar="FIELD=VALUE",
        help="fields of config.json that differ from the preset: num_hidden_layers=3 embedding_size=64; of albert: "
        "shared=attention",
    )
    sub.add_argument(
        "--objective",
        nargs="+",
        type=option,
        default=[],
        metavar="NAME=VALUE",
        help="what else its objective is told; of electra: variant=replace_mlm discriminator_weight=50",
    )
    sub.add_argument("--out", required=True, type=Path, help="directory of the checkpoint")
    budget = sub.add_mutually_exclusive_group(required=True)
    budget.add_argument("--minutes", type=positive(float), help="training time")
    budget.add_argument("--steps", type=positive(int), help="optimizer steps")
    words = sub.add_mutually_exclusive_group()
    words.add_argument("--vocab", type=input_path, help="a vocab.txt; without it one is learned from the data")
    words.add_argument(
        "--model",
        type=model_directory,
        help=f"go on from this checkpoint, with its vocabulary and sizes; a directory, or {' or '.join(PACKAGED)}",
    )
    words.add_argument("--vocab-size", type=positive(int), default=8192, help="pieces to learn (default: 8192)")
    sub.add_argument("--dev", nargs="+", type=input_path, default=[], help="text to measure on while it trains")
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
        choices=("adamw", "muon", "lamb"),
        help="muon: for the matrices of the blocks; lamb: for large batches (default: adamw; on the toy world muon)",
    )
    sub.add_argument("--dropout", type=float, default=0.0)
    sub.add_argument("--mask-rate", type=positive(float), help="of the tokens (default: 0.15; with --toy 0.35)")
    sub.add_argument("--nsp-weight", type=float, default=1.0, help="of the next-sentence loss (default: 1)")
    sub.add_argument("--whole-words", action="store_true", help="mask whole words")
    sub.add_argument("--words", choices=("none", "jieba"), default="none", help="who says what a Chinese word is")
    sub.add_argument("--static", action="store_true", help="draw the masks once and repeat them in every epoch")
    sub.add_argument(
        "--start",
        choices=("counts", "random", "words", "sinusoids"),
        default="counts",
        help="weights at the start; words: positions at random; sinusoids: positions that stay the Transformer's",
    )
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


def size(text: str) -> tuple[str, int | str]:
    """embedding_size=64 → ("embedding_size", 64); shared=attention → ("shared", "attention")"""
    name, _, value = text.partition("=")
    if not (name and (value.isdecimal() or value.isidentifier())):
        raise argparse.ArgumentTypeError(f"must be like embedding_size=64 or shared=attention, not {text}")
    return name, int(value) if value.isdecimal() else value


def option(text: str) -> tuple[str, str | float]:
    """variant=electra_15 → ("variant", "electra_15"); numbers are numbers"""
    name, _, value = text.partition("=")
    if not (name and value):
        raise argparse.ArgumentTypeError(f"must be like variant=electra_15, not {text}")
    try:
        return name, float(value)
    except ValueError:
        return name, value


def default_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "minibert"


def pretrain(options) -> None:
    from minibert.objectives import Masking
    from minibert.pretrain import PretrainSettings
    from minibert.pretrain import pretrain as run

    if options.toy:
        from minibert.toy.pretrain import PAIRS, TOY, pretrain_toy

        parser = argparse.ArgumentParser()
        add_pretraining_options(parser)
        defaults = parser.parse_args(["--toy", "--out", "x", "--steps", "1"])
        allowed = {"out", "steps", "minutes", "seed", "threads", "optimizer", "relative", "preset", "sizes", "resume"}
        allowed |= {"save_every", "objective", "mask_rate", "max_length", "start", "pairs"}
        for name in vars(defaults).keys() - allowed:
            if getattr(options, name) != getattr(defaults, name):
                name = name.replace("_", "-")
                raise ValueError(f"a run on the toy world has settings of its own: leave out --{name}")
        names = ("steps", "minutes", "seed", "relative", "save_every", "max_length", "start")
        changes = {name: getattr(options, name) for name in names}
        changes |= {"preset": options.preset or TOY.preset, "sizes": dict(options.sizes)}
        changes |= {"objective_options": dict(options.objective), **(PAIRS if options.pairs else {})}
        if options.mask_rate:
            changes["masking"] = replace(TOY.masking, rate=options.mask_rate)
        if options.optimizer:
            changes["optimization"] = replace(TOY.optimization, optimizer=options.optimizer)
        print_events(options, pretrain_toy(replace(TOY, **changes), options.out, resuming=options.resume))
        return
    if options.pairs:
        raise ValueError("--pairs is for --toy: elsewhere --input-format says what rows are")
    same: tuple[str, ...] = ()
    same += ("relative", "vocab_size", "steps", "minutes", "batch_size", "accumulate", "max_length")
    same += ("input_format", "short_probability", "dropout", "nsp_weight", "words", "start", "seed")
    same += ("save_every", "compile")
    settings = PretrainSettings(
        **{name: getattr(options, name) for name in same},
        preset=options.preset or PretrainSettings.preset,
        sizes=dict(options.sizes),
        objective_options=dict(options.objective),
        masking=Masking(rate=options.mask_rate or Masking.rate, whole_words=options.whole_words, static=options.static),
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
        print_events(options, events)
    else:
        for _ in events:  # in a group, only one process reports
            pass


def average(options) -> None:
    import torch

    from minibert.training.averaging import average as mean

    saved = mean(options.models, options.out, getattr(torch, options.dtype))
    print_result(options, {"saved": str(saved)}, f"saved {saved}")
