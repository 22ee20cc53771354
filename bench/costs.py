"""What an action costs the server: processor milliseconds of a page change, an edit, a step and a part, on each page.

    python -m bench.classroom --costs [--rounds N] [--pages NAME …] [--record]

One visitor (servers.visitor) on a server of its own comes to each page again and again, types into each of its fields,
clicks one step of each stepper and opens each part. Counted is what all processes of the server compute from the action
until they rest again, and of that what comes after the page is complete; of the rounds the median. The first round,
which fills the server's caches, is told beside it. A page that breaks off is said so, and the next one measured.
--record replaces the rows of each page as soon as it is measured, so that --pages can go on with the others.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median

import psutil

from bench.classroom import SENTENCES, STEP, fields, steps, text_for
from bench.machine import record, recorded
from bench.served import pages, processor_seconds, server, until_up
from servers.visitor import BrokenOff, HeadlessVisitor, Widget, open_parts

BUSY = 0.05  # share of a core: a server that computes less rests
MOMENT = 0.1  # seconds between two looks
LONGEST = 3.0  # seconds after which it is not waited for any more: some pages refresh themselves for ever
PATIENCE = 180.0  # seconds for an answer; what takes longer is broken off
BETWEEN = ("next_sentence", "examination")  # what is visited between two rounds on a page: the first that is another


Action = tuple[str, str]  # "page", "edit", "step" or "part", and of what
Cost = tuple[float, float, float]  # milliseconds until the page was complete, milliseconds after that, kB


class MeteredVisitor(HeadlessVisitor):
    """Knows what its last action cost."""

    def __init__(self, address: str, process: psutil.Process):
        super().__init__(address, PATIENCE)
        self.process = process
        self.cost: Cost = (0.0, 0.0, 0.0)

    async def _timed(self, *action) -> float:
        received, before = self.received, processor_seconds(self.process)
        seconds = await super()._timed(*action)
        complete = processor_seconds(self.process)
        after = await rest(self.process, LONGEST) - complete
        self.cost = 1000 * (complete - before), 1000 * after, (self.received - received) / 1000
        return seconds


async def rest(process: psutil.Process, longest: float) -> float:
    """Wait until the server rests, at most `longest` seconds → the processor seconds that it has used."""
    now = processor_seconds(process)
    for _ in range(round(longest / MOMENT)):
        last = now
        await asyncio.sleep(MOMENT)
        now = processor_seconds(process)
        if now - last < BUSY * MOMENT:
            break
    return now


def name(widget: Widget) -> str:
    """What a text field or a step's button is called: its key, that of its stepper, or its label."""
    if step := STEP.match(widget.key):
        return step[1]
    return widget.key if widget.key != "None" else widget.proto.label


async def measure(visitor: MeteredVisitor, page: str, rounds: int, costs: dict[Action, list[Cost]]) -> None:
    """All rounds on one page; `costs` keeps what was measured if the page breaks off."""
    rng = random.Random(page)

    async def use(used: set[str], number: int) -> None:
        """Type and step wherever that was not done in this round."""
        for action, offered in (("edit", fields), ("step", steps)):
            while found := [one for one in offered(visitor) if name(one) not in used]:
                new = rng.choice([one for one in found if name(one) == name(found[0])])
                used.add(name(new))
                if action == "edit":
                    await visitor.enter(new, text_for(new, f"{number} {SENTENCES[number % len(SENTENCES)]}"))
                else:
                    await visitor.click(new)
                costs[action, name(new)].append(visitor.cost)

    for number in range(rounds + 1):
        await visitor.go(next(other for other in BETWEEN if other != page))
        await visitor.go(page)
        costs["page", ""].append(visitor.cost)
        await use(used := set(), number)
        async for title in open_parts(visitor):
            costs["part", title].append(visitor.cost)
            await use(used, number)


async def walk(
    address: str, process: psutil.Process, names: list[str], rounds: int, keep: Callable[[list[dict]], None]
) -> tuple[list[dict], list[str]]:
    """All pages → a row for each action of each page, the dearest first; exceptions that pages showed. keep: is given
    the rows of each page."""
    rows, exceptions = [], []
    for page in names:
        visitor, costs, broken = MeteredVisitor(address, process), defaultdict(list), ""
        try:
            await visitor.open(BETWEEN[0])
            await measure(visitor, page, rounds, costs)
        except BrokenOff as error:
            broken = f"{error} after {' '.join([*costs][-1]) if costs else 'no action'}"
        await visitor.close()
        if broken:
            await rest(process, PATIENCE)
        exceptions += visitor.exceptions
        found = [row(page, *action, measured) for action, measured in costs.items()]
        found += [row(page, "broken", broken, [])] * bool(broken)
        print(*map(as_text, found), sep="\n", flush=True)
        keep(found)
        rows += found
    return dearest_first(rows), exceptions


def dearest_first(rows: list[dict]) -> list[dict]:
    return sorted(rows, key=lambda row: -row["ms"])


def row(page: str, action: str, of: str, measured: list[Cost]) -> dict:
    """measured: first the round that fills the caches; empty of what was broken off."""
    complete, after, sent = (median(column) for column in zip(*measured[1:] or measured or [(0, 0, 0)], strict=True))
    first = sum(measured[0][:2]) if measured else 0
    return {
        "page": page or "home",
        "action": action,
        "of": of,
        "ms": round(complete + after),
        "ms after completion": round(after),
        "ms first": round(first),
        "kB": round(sent),
        "times": max(0, len(measured) - 1),
    }


def as_text(row: dict) -> str:
    form = "{ms:6} ms ({ms after completion:5} after; first {ms first:6}) {kB:6} kB  {page:18} {action:5} {of}"
    return form.format(**row)


def main(options) -> None:
    kept = options.record and "action-costs"

    def keep(rows: list[dict]) -> None:
        others = [row for row in recorded(kept) or [] if row["page"] != rows[0]["page"]]
        record(kept, dearest_first(others + rows))

    names = pages() if options.pages is None else ["" if name == "home" else name for name in options.pages]
    with tempfile.TemporaryDirectory() as folder, server(Path(folder, "runs")) as (address, process):
        until_up(address, process)
        rows, exceptions = asyncio.run(walk(address, process, names, options.rounds, keep))
    print("\nThe dearest first:", *map(as_text, rows), sep="\n")
    for action in ("page", "edit", "step", "part"):
        if found := [row["ms"] for row in rows if row["action"] == action]:
            print(f"{action}: median {median(found):.0f} ms, most {max(found)} ms")
    print(*exceptions, sep="\n")
