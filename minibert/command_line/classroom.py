"""classroom: replaces this process by the classroom's servers, a module that is not part of this package."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def add_commands(commands) -> None:
    sub = commands.add_parser(
        "classroom",
        help="Open the classroom for many: several servers, one address, one queue.",
        add_help=False,
        prefix_chars="\0",  # nothing here is an option of this program
    )
    sub.add_argument("rest", nargs="*")
    sub.set_defaults(run=classroom)


def classroom(options) -> None:
    """Pass everything after the command's name, also `--help`, on to `servers`."""
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    os.execv(sys.executable, [sys.executable, "-m", "servers", *options.rest])
