"""python -m minibert classroom: serve a class, with one machine or several."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from minibert.folders import runs_folder
from servers.room import Room, RoomError, RoomSettings

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def up_to(most: int) -> Callable[[str], int]:
    """Parser of a number from 1 to `most`."""

    def parse(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"must be a number from 1 to {most}, not {text[:40]}")
        return int(text)

    return parse


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="python -m minibert classroom",
        description="Several app servers behind one address (HAProxy), with one queue of trainings and one store of "
        "runs. A server that dies is started again; Ctrl-C ends everything.",
        epilog="On another machine with the same folder of runs, an app server is started with MINIBERT_JOBS=HOST:PORT "
        "(see --jobs) MINIBERT_RUNS=FOLDER python -m minibert app --server.port 8601, and named here with --also. "
        "Workers elsewhere are those of a Dask cluster: --scheduler.",
    )
    top.add_argument("--servers", type=up_to(64), default=CORES, help="app servers (default: the cores, %(default)s)")
    top.add_argument("--port", type=up_to(65_535), default=8501, help="default: %(default)s")
    top.add_argument("--host", default="", help="the address to listen at (default: all of this machine's)")
    top.add_argument(
        "--workers",
        type=up_to(64),
        default=min(max(1, CORES - 1), 4),
        help="trainings at a time (default: %(default)s)",
    )
    top.add_argument("--runs", type=Path, help="where runs are kept (default: MINIBERT_RUNS, or runs/)")
    top.add_argument("--scheduler", help="tcp://… of a Dask cluster that trains (default: MINIBERT_SCHEDULER)")
    top.add_argument("--cold", action="store_true", help="do not open every page once at the start")
    top.add_argument("--also", nargs="+", default=[], metavar="HOST:PORT", help="app servers on other machines")
    top.add_argument("--jobs", metavar="HOST:PORT", help="where those find the queue (default: this machine alone)")
    return top


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    options.runs = (options.runs or runs_folder()).resolve()
    options.scheduler = options.scheduler or os.environ.get("MINIBERT_SCHEDULER")
    try:
        return Room(RoomSettings(**vars(options))).run()
    except (RoomError, OSError) as error:
        print(f"minibert classroom: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
