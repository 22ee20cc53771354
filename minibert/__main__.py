"""The command line: python -m minibert … --help."""

from __future__ import annotations

import argparse
import sys

from minibert.command_line import basics, classroom, experiment, finetuning, prediction, pretraining, serving


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 on success, 2 with one clear line on stderr when what was given cannot be used."""
    options = parser().parse_args(arguments)
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
    """Every command, from the files of minibert/command_line. They import torch and what needs it inside functions:
    `--help` and `count` must not wait for it."""
    top = argparse.ArgumentParser(
        prog="python -m minibert", description="A compact BERT: tokenize, count, train, predict."
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for group in (basics, pretraining, finetuning, prediction, experiment, serving, classroom):
        group.add_commands(commands)
    return top


if __name__ == "__main__":
    sys.exit(main())
