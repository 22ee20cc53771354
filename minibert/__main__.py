"""The command line: python -m minibert … --help."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from minibert.command_line import (
    basics,
    classroom,
    dialogue,
    experiment,
    finetuning,
    prediction,
    pretraining,
    pruning,
    serving,
    vectors,
)
from minibert.command_line.printing import complain, error_line


def main(arguments: list[str] | None = None) -> int:
    """Run one command. → 0 on success, 2 for unusable input (one line on stderr says why), 130 when interrupted."""
    options = parser().parse_args(arguments)
    try:
        if getattr(options, "threads", None):
            import torch

            torch.set_num_threads(options.threads)
        options.run(options)
    except (ValueError, OSError) as error:
        complain(f"minibert {options.command}: {error}")
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


class Parser(argparse.ArgumentParser):
    """Shortens long arguments in its error messages."""

    def error(self, message: str) -> NoReturn:
        super().error(error_line(message))


def parser() -> argparse.ArgumentParser:
    """The parser of all commands in minibert/command_line. These import torch inside functions, so that `--help` and
    `count` start without it."""
    top = Parser(prog="python -m minibert", description="A compact BERT: tokenize, count, train, predict.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    groups = (basics, pretraining, finetuning, pruning, prediction, vectors, dialogue, experiment, serving, classroom)
    for group in groups:
        group.add_commands(commands)
    return top


if __name__ == "__main__":
    sys.exit(main())
