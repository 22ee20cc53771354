"""app and classroom: replace this process by the app's server, or by several servers; nothing of them is imported."""

from __future__ import annotations

import os
import sys

from minibert.folders import ROOT


def add_commands(commands) -> None:
    for name, run, what in (
        ("app", app, "Open the classroom on this machine; takes the options of `streamlit run`."),
        ("classroom", classroom, "Open the classroom for many: several servers, one address, one queue."),
    ):
        # no prefix: no option is one of this program, --help neither
        sub = commands.add_parser(name, help=what, add_help=False, prefix_chars="\0")
        sub.add_argument("rest", nargs="*")
        sub.set_defaults(run=run)


def app(options) -> None:
    start("streamlit", "run", str(ROOT / "app.py"), *options.rest)


def classroom(options) -> None:
    start("servers", *options.rest)


def start(module: str, *arguments: str) -> None:
    """Run `python -m module` in place of this process. -P: a folder `servers` where the user stands is not the one."""
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    os.execv(sys.executable, [sys.executable, "-P", "-m", module, *arguments])
