"""What an action costs the server: processor milliseconds of a page change, an edit, a step and a part, on each page.

    python -m bench.classroom --costs [--rounds N] [--record]

One visitor (servers.visitor) on a server of its own comes to each page again and again, types into each of its fields,
clicks one step of each stepper and opens each part. The first round is not counted. Counted is what all processes of
the server compute from the action until they rest again, and of that what comes after the page is complete; of the
rounds the median.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

import psutil

from bench.classroom import SENTENCES, STEP, fields, steps, text_for
from bench.machine import record
from bench.served import pages, processor_seconds, server, until_up
from servers.visitor import VISITING, HeadlessVisitor, Widget, open_parts

BUSY = 0.05  # share of a core: a server that computes less rests
MOMENT = 0.1  # seconds between two looks
LONGEST = 3.0  # seconds after which it is not waited for any more: some pages refresh themselves for ever
BETWEEN = ("next_sentence", "examination")  # what is visited between two rounds on a page: the first that is another


class MeteredVisitor(HeadlessVisitor):
    """Knows what its last action cost. cost: milliseconds until the page was complete, milliseconds after that, kB."""

    def __init__(self, address: str, process: psutil.Process):
        super().__init__(address, VISITING)
        self.process, self.cost = process, (0.0, 0.0, 0.0)

    async def _timed(self, *action) -> float:
        received, before = self.received, processor_seconds(self.process)
        seconds = await super()._timed(*action)
        complete = now = processor_seconds(self.process)
        for _ in range(round(LONGEST / MOMENT)):
            last = now
            await asyncio.sleep(MOMENT)
            now = processor_seconds(self.process)
            if now - last < BUSY * MOMENT:
                break
        self.cost = 1000 * (complete - before), 1000 * (now - complete), (self.received - received) / 1000
        return seconds


def name(widget: Widget) -> str:
    """What a text field or a step's button is called: its key, that of its stepper, or its label."""
    if step := STEP.match(widget.key):
        return step[1]
    return widget.key if widget.key != "None" else widget.proto.label


async def walk(address: str, process: psutil.Process, rounds: int) -> tuple[list[dict], list[str]]:
    """All rounds → a row for each action of each page, the dearest first; exceptions that pages showed."""
    visitor, costs, rng = MeteredVisitor(address, process), defaultdict(list), random.Random(0)

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

    await visitor.open()
    rows = []
    for page in pages():
        costs.clear()
        for number in range(rounds + 1):
            await visitor.go(next(other for other in BETWEEN if other != page))
            await visitor.go(page)
            costs["page", ""].append(visitor.cost)
            await use(used := set(), number)
            async for title in open_parts(visitor):
                costs["part", title].append(visitor.cost)
                await use(used, number)
        for (action, key), measured in costs.items():
            complete, after, sent = (median(column) for column in zip(*measured[1:] or measured, strict=True))
            row = {"page": page or "home", "action": action, "of": key, "ms": round(complete + after)}
            rows.append(row | {"ms after completion": round(after), "kB": round(sent), "times": len(measured) - 1})
            print(as_text(rows[-1]), flush=True)
    await visitor.close()
    return sorted(rows, key=lambda row: -row["ms"]), visitor.exceptions


def as_text(row: dict) -> str:
    return "{ms:6} ms ({ms after completion:5} after) {kB:6} kB  {page:18} {action:5} {of}".format(**row)


def main(options) -> None:
    with tempfile.TemporaryDirectory() as folder, server(Path(folder, "runs")) as (address, process):
        until_up(address, process)
        rows, exceptions = asyncio.run(walk(address, process, options.rounds))
    print("\nThe dearest first:", *map(as_text, rows), sep="\n")
    for action in ("page", "edit", "step", "part"):
        found = [row["ms"] for row in rows if row["action"] == action]
        print(f"{action}: median {median(found):.0f} ms, most {max(found)} ms")
    print(*exceptions, sep="\n")
    record(options.record and "action-costs", rows)
