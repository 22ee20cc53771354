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
    """Run one command; 0 on success, 2 with one clear line on stderr when what was given cannot be used."""
    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except (ValueError, OSError) as error:
        complain(f"minibert {options.command}: {error}")
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


class Parser(argparse.ArgumentParser):
    """One whose complaint about an argument is not as long as the argument."""

    def error(self, message: str) -> NoReturn:
        super().error(error_line(message))


def parser() -> argparse.ArgumentParser:
    """Every command, from the files of minibert/command_line. They import torch and what needs it inside functions:
    `--help` and `count` must not wait for it."""
    top = Parser(prog="python -m minibert", description="A compact BERT: tokenize, count, train, predict.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    groups = (basics, pretraining, finetuning, pruning, prediction, vectors, dialogue, experiment, serving, classroom)
    for group in groups:
        group.add_commands(commands)
    return top


if __name__ == "__main__":
    sys.exit(main())
