"""tokenize, count, fill: commands that do not train."""

from __future__ import annotations

from minibert.command_line.arguments import SHIPPED, add_command, model_directory, positive
from minibert.command_line.lines import lines_of
from minibert.command_line.printing import print_result
from minibert.folders import input_path
from minibert.relatives import config_from_file, model_types, relative_named, shape_of


def add_commands(commands) -> None:
    sub = add_command(commands, "tokenize", tokenize, "Cut text into WordPiece tokens: one JSON object a line.")
    sub.add_argument("text", nargs="?", help="the text; without it, every line of standard input")
    source = sub.add_mutually_exclusive_group()
    source.add_argument("--model", type=model_directory, help="a model's directory (default: the shipped one)")
    source.add_argument("--vocab", type=input_path, help="a vocab.txt alone (default: the shipped one)")
    sub.add_argument("--cased", action="store_true", help="keep case and accents; a model's directory says so itself")

    sub = add_command(commands, "count", count, "Count the parameters of a model from its sizes alone.")
    which = sub.add_mutually_exclusive_group(required=True)
    which.add_argument("--preset", help="tiny, mini, small, medium, base, large; ALBERT also has xlarge and xxlarge")
    which.add_argument("--config", type=input_path, help="a config.json")
    sub.add_argument("--relative", choices=model_types(), default="bert", help="of BERT, for --preset (default: bert)")

    sub = add_command(commands, "fill", fill, "Fill the [MASK]s of a text.")
    sub.add_argument("text", help='such as "the [MASK] barked"')
    sub.add_argument(
        "--model", default=SHIPPED, type=model_directory, help="a checkpoint directory (default: the shipped one)"
    )
    sub.add_argument("--top", type=positive(int), default=5, help="answers per blank (default: 5)")


def tokenize(options) -> None:
    from minibert.checkpoint import load_tokenizer
    from minibert.tokenizer import Tokenizer

    if options.cased and options.model is not None:
        raise ValueError("--cased is not for --model: the directory says itself whether it keeps case")
    if options.vocab is None and not options.cased:
        tokenizer = load_tokenizer(options.model or SHIPPED)
    else:
        tokenizer = Tokenizer.from_file(options.vocab or SHIPPED / "vocab.txt", lowercase=not options.cased)
    for line in lines_of(options):
        encoding = tokenizer.encode(line, truncation="none")
        print_result(options, {"tokens": encoding.tokens, "ids": encoding.ids, "offsets": encoding.offsets})


def count(options) -> None:
    from minibert.count import parameters

    if options.preset is not None:
        config = relative_named(options.relative).config.preset(options.preset)
    else:
        config = config_from_file(options.config)
    counted = parameters(shape_of(config))
    values = {name: getattr(counted, name) for name in ("encoder", "with_pooler", "masked_lm", "pretraining")}
    lines = [f"{name:12} {'–' if value is None else f'{value:,}':>13}" for name, value in values.items()]
    print_result(options, values, "\n".join(lines))


def fill(options) -> None:
    from minibert import checkpoint
    from minibert.model import BertForPreTraining
    from minibert.pretrain import fill as fill_masks

    model = checkpoint.load(options.model, kind=BertForPreTraining)
    for blank, answers in enumerate(
        fill_masks(model, checkpoint.load_tokenizer(options.model), options.text, options.top)
    ):
        plain = "  ".join(f"{piece} {probability:.3f}" for piece, probability in answers)
        print_result(options, {"blank": blank, "answers": [{"piece": w, "probability": p} for w, p in answers]}, plain)
