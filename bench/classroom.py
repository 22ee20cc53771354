"""A class working at the same time: how long does one of fifty users wait, and what does the server need for it?

    python -m bench.classroom [--sessions 10 30 50] [--servers N] [--trainings N] [--cold] [--record]
    python -m bench.classroom --costs [--pages NAME …] [--record]
    python -m bench.classroom --chaos [--record]

Each visitor is one of servers.visitor: a session over Streamlit's own protocol, without a browser. All open a random
page within the same two seconds and then, every ten seconds on average (the seed determines when and what), change
pages, open parts, type, step, answer quizzes, and now and then start a training. Everything runs on this machine; the
visitors' own work, on the same cores, is reported beside the figures.

--cold: the class does not wait until the room has opened every page, which goes on meanwhile. It comes within twenty
seconds of the first answer at the address, and everyone does something every five seconds on average.

servers: app servers behind one address (`python -m minibert classroom`); 0 is `streamlit run app.py` by itself.
trainings: how many are kept running the whole time, in addition to those that visitors start.
opening: from the first request until the page is complete · page: from the click until then · edit: from entering a
text until all results are there · step, part, quiz: likewise · run: from pressing Train until the run is accepted.
Memory: maximum of all processes together (PSS).

--costs: bench.costs · --chaos: bench.chaos.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

from bench.machine import arguments, record, recorded
from bench.served import memory, pages, processor_seconds, server, started, until_up
from minibert.folders import ROOT
from servers.room import free_ports
from servers.visitor import BrokenOff, HeadlessVisitor, Widget, visit_all

GAP, COLD_GAP = 10.0, 5.0  # mean seconds between two actions
ARRIVING, COLD_ARRIVING = 2.0, 20.0  # seconds within which all come
# Relative frequency of the actions. If a page does not offer one, the visitor changes the page.
SHARES = {"page": 25, "edit": 25, "step": 25, "part": 12, "quiz": 11, "run": 2}
WANTED = {"opening": 2.0, "page": 1.0, "edit": 1.0, "step": 1.0}  # limits of the 95th percentile, in seconds
MOST = 4.0  # limit of every single wait for one of those
MEMORY = 2_000  # MB
SENTENCES = (
    "The bank of the river was steep.",
    "She said that the film was not bad at all.",
    "He put the apple on the table and ate it.",
    "Nobody knows what the old man wanted.",
    "The dog that chased the cat was tired.",
    "It was a dull evening until the music began.",
    "They went to the bank because they needed money.",
    "A capital city is not always the largest one.",
)
STEP = re.compile(r"(.*)-(left|right|\d+)$")  # the keys of ui.stepper's buttons
HIDDEN = " [MASK] "


@dataclass
class Measurements:
    """Measurements of a crowd. waits: seconds by kind · slowest: seconds by kind and page."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    slowest: dict[str, list[float]] = field(default_factory=dict)
    exceptions: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    received: int = 0

    def add(self, kind: str, page: str, seconds: float) -> None:
        self.waits.setdefault(kind, []).append(seconds)
        self.slowest.setdefault(f"{kind} {page}", []).append(seconds)


@contextmanager
def room(runs: Path, servers: int, log: Path, *options: str, app: Path = ROOT) -> Iterator[tuple[str, psutil.Process]]:
    """The classroom, once it responds: its address and its first process. app: folder of the project."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "minibert", "classroom", "--servers", str(servers), "--port", str(port)]
    command += ["--host", "127.0.0.1", *options]
    with ExitStack() as stack:
        output = stack.enter_context(open(log, "ab"))
        if servers:
            address, process = f"http://127.0.0.1:{port}", stack.enter_context(started(command, runs, output, app))
        else:
            address, process = stack.enter_context(server(runs, output=output, app=app))
        try:
            until_up(address, process)
        except RuntimeError as error:
            raise RuntimeError(f"{error}: {log.read_text(errors='replace')[-2_000:]}") from error
        yield address, process


# --- one visitor ------------------------------------------------------------------------------------------------------


class Student:
    """A visitor at work: `rng` chooses the actions. page: the first · gap: mean seconds between two actions."""

    def __init__(self, address: str, measurements: Measurements, rng: random.Random, page: str = "", gap: float = GAP):
        self.visitor, self.measurements, self.rng = HeadlessVisitor(address), measurements, rng
        self.page, self.gap = page, gap

    async def attend(self, until: float, late: float) -> None:
        """late: seconds before the page is opened · until: time at which the class ends."""
        await asyncio.sleep(late)
        try:
            await self._try("opening", self.visitor.open(self.page))
            due = time.perf_counter() + self.rng.uniform(0, 2 * self.gap)
            while due < until:
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                due += self.rng.uniform(0.2 * self.gap, 1.8 * self.gap)
                await self.act()
                due = max(due, time.perf_counter() + 1)
        finally:
            self.measurements.exceptions += self.visitor.exceptions
            self.measurements.received += self.visitor.received
            await self.visitor.close()

    async def _try(self, kind: str, action) -> bool:
        try:
            self.measurements.add(kind, self.page or "home", await action)
            return True
        except BrokenOff as error:
            self.measurements.broken.append(f"{kind} {self.page or 'home'}: {error}"[:200])
            return False

    async def act(self) -> None:
        if not self.visitor.connected:
            if self.visitor.pages:
                await self._try("reconnected", self.visitor.again())
            else:
                await self._try("opening", self.visitor.open(self.page))
            return
        kind = self.rng.choices(list(SHARES), list(SHARES.values()))[0]
        widget, value = self.choose(kind)
        if widget is None:
            self.page = self.rng.choice([page for page in self.visitor.pages if page != self.page])
            await self._try("page", self.visitor.go(self.page))
        elif value is None:
            await self._try(kind, self.visitor.click(widget))
        else:
            await self._try(kind, self.visitor.enter(widget, value))

    def choose(self, kind: str) -> tuple[Widget | None, str | None]:
        """The widget of the next action, and its value; (None, None) if the page offers none of this kind."""
        offered = self.visitor.offered
        if kind == "edit":
            if found := fields(self.visitor):
                chosen = self.rng.choice(found)
                return chosen, text_for(chosen, self.rng.choice(SENTENCES))
        elif kind == "step":
            if found := steps(self.visitor):
                return self.rng.choice(found), None
        elif kind == "quiz":
            if questions := [one for one in offered("radio") if one.key.startswith("quiz-")]:
                chosen = self.rng.choice(questions)
                return chosen, self.rng.choice(chosen.proto.options)
        elif kind == "part":
            if parts := [one for one in offered("tabs") if one.tabs]:
                chosen = self.rng.choice(parts)
                return chosen, self.rng.choice(chosen.tabs)
        elif kind == "run" and (train := train_button(self.visitor)):
            return train, None
        return None, None


def fields(visitor: HeadlessVisitor) -> list[Widget]:
    """The text fields of the page whose text is sent by itself."""
    offered = (*visitor.offered("text_input"), *visitor.offered("text_area"))
    return [one for one in offered if not one.proto.form_id]


def text_for(widget: Widget, sentence: str) -> str:
    """The sentence, with a blank if the field's own text has one."""
    return sentence.replace(" ", HIDDEN, 1) if HIDDEN.strip() in widget.proto.default else sentence


def steps(visitor: HeadlessVisitor) -> list[Widget]:
    """The buttons of the page's steppers."""
    return [one for one in visitor.offered("button") if STEP.match(one.key)]


def train_button(visitor: HeadlessVisitor) -> Widget | None:
    return next((one for one in visitor.offered("button") if one.key == "train"), None)


async def keep_training(address: str, measurements: Measurements, until: float) -> None:
    """A user who starts a new training whenever none runs, until the class ends: two models each, default settings."""
    visitor = HeadlessVisitor(address)
    try:
        await visitor.open("output_layer")
        while time.perf_counter() < until:
            going = any(f"**{word}" in visitor.text for word in ("waiting", "starting", "training"))
            # The button is missing while the page is redrawn.
            if visitor.connected and not going and (train := train_button(visitor)):
                measurements.add("run", "kept going", await visitor.click(train))
            await asyncio.sleep(2)
    except BrokenOff as error:
        measurements.broken.append(f"the trainer: {error}")
    finally:
        measurements.exceptions += visitor.exceptions
        await visitor.close()


# --- the crowd --------------------------------------------------------------------------------------------------------


async def crowd(address: str, process: psutil.Process, sessions: int, options) -> tuple[Measurements, dict]:
    """All visitors, until the end of the class → their measurements, and what the server needed."""
    measurements, needed, doors = Measurements(), {"memory": 0}, pages(options.app)
    # A visitor fetches in a thread, and by default there are six for all on two cores: nobody is to wait for another.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(sessions + 2))
    until = time.perf_counter() + options.seconds
    gap, arriving = (COLD_GAP, COLD_ARRIVING) if options.cold else (GAP, ARRIVING)
    rngs = [random.Random(f"{options.seed}/{sessions}/{number}") for number in range(sessions)]
    students = [
        Student(address, measurements, rng, rng.choice(doors), gap).attend(until, rng.uniform(0, arriving))
        for rng in rngs
    ]
    trainers = -(-options.trainings // 2)  # two models a click
    training = [keep_training(address, measurements, until) for _ in range(trainers)]

    async def watch() -> None:
        while True:
            needed["memory"] = max(needed["memory"], await asyncio.to_thread(memory, process))
            await asyncio.sleep(5)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*students, *training)
    watching.cancel()
    return measurements, needed


def own_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def table(measurements: Measurements) -> dict:
    rows = {}
    for kind, waits in sorted(measurements.waits.items()):
        p50, p95 = np.percentile(waits, [50, 95]).round(2).tolist()
        rows[kind] = {"p50": p50, "p95": p95, "most": round(max(waits), 2), "times": len(waits)}
    return rows


def measure(sessions: int, options) -> dict:
    """One room with one crowd, from start to end."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="minibert-class-") as folder:
        log, extra = Path(folder, "log.txt"), ["--workers", str(options.workers)] if options.workers else []
        extra = extra if options.servers else []
        with room(Path(folder, "runs"), options.servers, log, *extra, app=options.app) as (address, process):
            if options.cold:
                pass
            elif options.servers:
                while "ready for a class" not in log.read_text(errors="replace"):
                    time.sleep(0.5)
            else:
                asyncio.run(visit_all(address))  # as TEACHING.md advises; `minibert classroom` does it by itself
            time.sleep(0 if options.cold else options.before)
            ready = memory(process)
            before, began = own_seconds(), time.perf_counter()
            measurements, needed = asyncio.run(crowd(address, process, sessions, options))
            took, used = time.perf_counter() - began, own_seconds() - before
            used_up = processor_seconds(process)
        words = log.read_text(errors="replace")
    slowest = sorted(
        ((round(float(np.percentile(waits, 95)), 2), len(waits), name) for name, waits in measurements.slowest.items()),
        reverse=True,
    )
    if options.verbose:
        print("\n".join(f"   {p95:6.2f} s of {times:4}  {name}" for p95, times, name in slowest[:40]))
        print(*Counter(measurements.broken).most_common(10), sep="\n")
        print(*re.findall(r"^\S*(?:Error|Exception)\b.*", words, re.MULTILINE), sep="\n")
    return {
        "sessions": sessions,
        "servers": options.servers,
        "trainings": options.trainings,
        "seconds": round(took),
        "every page opened before": not options.cold,
        "waits": table(measurements),
        "broken off": len(measurements.broken),
        "exceptions": dict(Counter(measurements.exceptions)),
        "memory, MB": round(needed["memory"] / 1e6),
        "memory before anyone comes, MB": round(ready / 1e6),
        "received, MB": round(measurements.received / 1e6),
        "processor seconds, room": round(used_up),
        "processor seconds, visitors": round(used),
        "load before": round(load, 2),
    }


def as_text(result: dict) -> str:
    """A result as text: one line per kind, with the limits."""
    head = "{sessions} sessions, {servers} servers, {trainings} trainings".format(**result)
    lines = [
        f"{head}: {result['broken off']} broken off, {sum(result['exceptions'].values())} exceptions, "
        f"{result['memory, MB']} MB (wanted: {MEMORY}), load before {result['load before']}, processor "
        f"{result['processor seconds, room']} s + visitors {result['processor seconds, visitors']} s "
        f"of {result['seconds']} s"
    ]
    for kind, row in result["waits"].items():
        limit = WANTED.get(kind)
        missed = limit and (row["p95"] > limit or row["most"] > MOST)
        wanted = f"   wanted {limit:g}, {MOST:g} s{'   MISSED' if missed else ''}" if limit else ""
        lines.append(
            f"  {kind:12} p50 {row['p50']:6.2f}  p95 {row['p95']:6.2f}  most {row['most']:6.2f} s"
            f"  × {row['times']}{wanted}"
        )
    return "\n".join([*lines, *map(str, result["exceptions"])])


def main() -> None:
    parser = arguments(__doc__, "classroom")
    parser.add_argument("--sessions", type=int, nargs="+", default=[10, 30, 50])
    parser.add_argument("--servers", type=int, default=len(psutil.Process().cpu_affinity()))
    parser.add_argument("--workers", type=int, help="for trainings (default: the room's own)")
    parser.add_argument("--trainings", type=int, default=0)
    parser.add_argument("--cold", action="store_true", help="the class comes as soon as the address answers")
    parser.add_argument("--app", type=Path, default=ROOT, help="another copy of the project, to compare with")
    parser.add_argument("--seconds", type=float, default=180, help="of each class (default: 180)")
    parser.add_argument(
        "--before", type=float, default=5, help="seconds from a room that is ready to the class (default: 5)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--costs", action="store_true", help="processor time of each action on each page")
    parser.add_argument("--rounds", type=int, default=2, help="of --costs, on each page (default: 2)")
    parser.add_argument("--pages", nargs="+", help="of --costs (default: all)")
    parser.add_argument("--chaos", action="store_true", help="kill a worker, a server, the proxy; fill the disk")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if options.chaos:
        from bench.chaos import main as chaos

        return chaos(options)
    if options.costs:
        from bench.costs import main as costs

        return costs(options)
    kept = "classroom" + "-cold" * options.cold  # one file has one machine
    results = recorded(kept)
    for sessions in options.sessions:
        result = measure(sessions, options)
        print(as_text(result), flush=True)
        name = f"{sessions} sessions, {options.servers} servers, {options.trainings} trainings"
        results[name] = result
    record(options.record and kept, results)


if __name__ == "__main__":
    main()
