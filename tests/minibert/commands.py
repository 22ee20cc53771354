"""A command as a user calls it, for tests: its output and its exit code."""

import io
import json
import os
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from subprocess import CompletedProcess
from unittest import mock

from minibert.__main__ import main

ENVIRONMENT = os.environ | {"XDG_CACHE_HOME": tempfile.mkdtemp(prefix="minibert-cache-")}


def run(*arguments, stdin: str | bytes = "", expect: int | None = 0) -> CompletedProcess:
    """What a command does, done in this process: torch is imported already."""
    given = stdin if isinstance(stdin, bytes) else stdin.encode()
    files = [io.TextIOWrapper(io.BytesIO(content), encoding="utf-8") for content in (given, b"", b"")]
    with (
        mock.patch.dict(os.environ, ENVIRONMENT),
        mock.patch("sys.stdin", files[0]),
        redirect_stdout(files[1]),
        redirect_stderr(files[2]),
    ):
        try:
            code = main([*map(str, arguments)])
        except SystemExit as end:  # argparse's
            code = end.code
    for file in files[1:]:
        file.flush()
    done = CompletedProcess(arguments, code, *(file.buffer.getvalue() for file in files[1:]))
    assert expect is None or code == expect, done.stderr.decode()
    return done


def lines(done: CompletedProcess) -> list[dict]:
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def call(*arguments, stdin: str = "", plain: bool = False) -> tuple[int, list[dict] | str, str]:
    """(exit code, JSON lines or text, stderr)."""
    done = run(*arguments, *([] if plain else ["--json"]), stdin=stdin, expect=None)
    return done.returncode, done.stdout.decode() if plain else lines(done), done.stderr.decode()
