"""A class working at the same time: how long does one of fifty users wait, and what does the server need for it?

    python -m bench.classroom [--sessions 10 30 50] [--servers N] [--trainings N] [--record]
    python -m bench.classroom --chaos [--record]

Each visitor is one of servers.visitor: a session over Streamlit's own protocol, without a browser. All open the front
page within the same two seconds and then, every ten seconds on average (the seed determines when and what), change
pages, open parts, type, step, answer quizzes, and now and then start a training. Everything runs on this machine; the
visitors' own work, on the same cores, is reported beside the figures.

servers: app servers behind one address (`python -m minibert classroom`); 0 is `streamlit run app.py` by itself.
trainings: how many are kept running the whole time, in addition to those that visitors start.
page: from the click until the page is complete · edit: from entering a text until all results are there · step, part,
quiz: likewise · run: from pressing Train until the run is accepted. Memory: maximum of all processes together (PSS).

--chaos: bench.chaos.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

from bench.machine import arguments, record, recorded, streamlit
from minibert.folders import ROOT
from servers.room import free_ports
from servers.visitor import BrokenOff, HeadlessVisitor, Widget, visit_all

GAP = 10.0  # mean seconds between two actions
# Relative frequency of the actions. If a page does not offer one, the visitor changes the page.
SHARES = {"page": 25, "edit": 25, "step": 25, "part": 12, "quiz": 11, "run": 2}
WANTED = {"page": 2.0, "edit": 1.0, "step": 1.0}  # limits of the 95th percentile, in seconds
MEMORY = 4_000  # MB
MODEL = "minilm-en"  # the largest model in this repository
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
STEP = re.compile(r".*-(left|right|\d+)$")  # the keys of ui.stepper's buttons
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
    if not servers:
        command = streamlit(port)
    environment = os.environ | {"MINIBERT_RUNS": str(runs)}
    with open(log, "ab") as output:
        process = psutil.Popen(command, cwd=app, env=environment, stdout=output, stderr=output)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            with suppress(OSError):
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=5).close()
                break
            if process.poll() is not None:
                raise RuntimeError(f"the classroom did not start: {log.read_text(errors='replace')[-2_000:]}")
            time.sleep(0.1)
        yield address, process
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except (psutil.TimeoutExpired, subprocess.TimeoutExpired):
            process.kill()


def family(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return [process, *process.children(recursive=True)]
    return []


def memory(process: psutil.Process) -> int:
    """Bytes that a process and all its descendants use together; shared memory counts once."""
    total = 0
    for one in family(process):
        with suppress(psutil.Error):
            total += one.memory_full_info().pss
    return total


# --- one visitor ------------------------------------------------------------------------------------------------------


class Student:
    """A visitor at work: `rng` chooses the actions."""

    def __init__(self, address: str, measurements: Measurements, rng: random.Random):
        self.visitor, self.measurements, self.rng, self.page = HeadlessVisitor(address), measurements, rng, ""

    async def attend(self, until: float, late: float) -> None:
        """late: seconds before the page is opened · until: time at which the class ends."""
        await asyncio.sleep(late)
        try:
            await self._try("opening", self.visitor.open())
            due = time.perf_counter() + self.rng.uniform(0, 2 * GAP)
            while due < until:
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                due += self.rng.uniform(0.2 * GAP, 1.8 * GAP)
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
                await self._try("opening", self.visitor.open())
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
            fields = [one for one in (*offered("text_input"), *offered("text_area")) if not one.proto.form_id]
            if fields:
                chosen, text = self.rng.choice(fields), self.rng.choice(SENTENCES)
                if HIDDEN.strip() in chosen.proto.default:
                    text = text.replace(" ", HIDDEN, 1)
                return chosen, text
        elif kind == "step":
            if steps := [one for one in offered("button") if STEP.match(one.key)]:
                return self.rng.choice(steps), None
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


async def crowd(
    address: str, process: psutil.Process, sessions: int, seconds: float, trainings: int, seed: int
) -> tuple[Measurements, dict]:
    """All visitors, until the end of the class → their measurements, and what the server needed."""
    measurements, needed = Measurements(), {"memory": 0}
    until = time.perf_counter() + seconds
    rngs = [random.Random(f"{seed}/{sessions}/{number}") for number in range(sessions)]
    students = [Student(address, measurements, rng).attend(until, rng.uniform(0, 2)) for rng in rngs]
    trainers = [keep_training(address, measurements, until) for _ in range(-(-trainings // 2))]  # two models a click

    async def watch() -> None:
        while True:
            needed["memory"] = max(needed["memory"], await asyncio.to_thread(memory, process))
            await asyncio.sleep(5)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*students, *trainers)
    watching.cancel()
    return measurements, needed


async def alone(address: str, model: str, times: int = 20) -> dict:
    """Seconds that a single visitor waits for a step and an edit, on two pages with this model."""
    waits = {}
    for page, key in (("attention", "sentence"), ("masking", "cloze")):
        visitor = HeadlessVisitor(address)
        await visitor.open(page, f"model={model}")
        for number in range(times + 3):
            steps = [one for one in visitor.offered("button") if STEP.match(one.key)]
            field = next((one for one in visitor.offered("text_input") if one.key == key), None)
            if not steps or field is None:
                break  # the page is incomplete
            stepped = await visitor.click(steps[number % len(steps)])
            edited = await visitor.enter(
                field, f"{number} {SENTENCES[number % len(SENTENCES)]}".replace(" ", HIDDEN, 1)
            )
            if number >= 3:  # the first ones include loading
                waits.setdefault(f"step {page}", []).append(stepped)
                waits.setdefault(f"edit {page}", []).append(edited)
        await visitor.close()
    return waits


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
        extra += ["--cold"] * options.cold
        extra = extra if options.servers else []
        with room(Path(folder, "runs"), options.servers, log, *extra, app=options.app) as (address, process):
            if options.cold:
                pass
            elif options.servers:
                while "ready for a class" not in log.read_text(errors="replace"):
                    time.sleep(0.5)
            else:
                asyncio.run(visit_all(address))  # as TEACHING.md advises; `minibert classroom` does it by itself
            time.sleep(options.before)
            ready = memory(process)
            single = asyncio.run(alone(address, MODEL))
            known = memory(process)
            before, began = own_seconds(), time.perf_counter()
            measurements, needed = asyncio.run(
                crowd(address, process, sessions, options.seconds, options.trainings, options.seed)
            )
            took, used = time.perf_counter() - began, own_seconds() - before
            used_up = sum(sum(one.cpu_times()[:2]) for one in family(process))
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
        f"memory with one visitor on {MODEL}, MB": round(known / 1e6),
        f"one visitor alone, {MODEL}": table(Measurements(waits=single)),
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
        wanted = (
            f"   wanted {WANTED[kind]:g} s{'' if row['p95'] <= WANTED[kind] else '   MISSED'}" if kind in WANTED else ""
        )
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
    parser.add_argument("--cold", action="store_true", help="let the class in before every page was opened once")
    parser.add_argument("--app", type=Path, default=ROOT, help="another copy of the project, to compare with")
    parser.add_argument("--seconds", type=float, default=180, help="of each class (default: 180)")
    parser.add_argument(
        "--before", type=float, default=5, help="seconds from a room that is ready to the class (default: 5)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--chaos", action="store_true", help="kill a worker, a server, the proxy; fill the disk")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if options.chaos:
        from bench.chaos import main as chaos

        return chaos(options)
    results = recorded("classroom")
    for sessions in options.sessions:
        result = measure(sessions, options)
        print(as_text(result), flush=True)
        results[f"{sessions} sessions, {options.servers} servers, {options.trainings} trainings"] = result
    record(options.record, results)


if __name__ == "__main__":
    main()
