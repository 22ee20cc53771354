"""What the commands' options share: the sub-parser of a command, checked numbers, the shipped checkpoint."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SHIPPED = ROOT / "checkpoints" / "mini-en"


def add_command(commands, name: str, run: Callable, help: str) -> argparse.ArgumentParser:
    """A new command among `commands`; run(options) does it."""
    sub = commands.add_parser(name, help=help, description=help)
    sub.set_defaults(run=run)
    sub.add_argument("--json", action="store_true", help="print machine-readable lines")
    return sub


def positive(kind):
    def parse(text: str):
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"must be greater than 0, not {text}")
        return value

    parse.__name__ = f"positive {kind.__name__}"
    return parse
