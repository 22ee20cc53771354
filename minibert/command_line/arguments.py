"""What the commands' options share: the sub-parser of a command, checked numbers, the folders."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from minibert.folders import CHECKPOINTS, input_path
from minibert.sentence_vectors.packaged import PACKAGED, PackageError

SHIPPED = CHECKPOINTS / "mini-en"
DATA = "MINIBERT_DATA"  # the environment variable that names the folder of text and tasks that do not ship


def add_command(commands, name: str, run: Callable, help: str) -> argparse.ArgumentParser:
    """A new command among `commands`; run(options) executes it."""
    sub = commands.add_parser(name, help=help, description=help)
    sub.set_defaults(run=run)
    sub.add_argument("--json", action="store_true", help="print machine-readable lines")
    return sub


def add_precision(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--precision", choices=("float32", "bfloat16"), default="float32", help="of the arithmetic (default: float32)"
    )


def positive(kind: type) -> Callable[[str], Any]:
    """A parser of numbers of this kind that refuses those up to 0."""

    def parse(text: str) -> Any:
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"must be greater than 0, not {text}")
        return value

    parse.__name__ = f"positive {kind.__name__}"
    return parse


def model_directory(text: str) -> Path:
    """A model's directory: the given path, one that ships, or that of an installed package by its model's name."""
    if text not in PACKAGED or Path(text).exists():
        return input_path(text)
    try:
        return PACKAGED[text].directory()
    except PackageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def in_data_folder(option: str, *parts: str) -> Path:
    """The path of a file or folder in the folder that DATA names; without it a ValueError that asks for `option`."""
    if not (folder := os.environ.get(DATA)):
        raise ValueError(f"{option} is missing; or let {DATA} name a folder that holds {'/'.join(parts)}")
    return Path(folder, *parts)
