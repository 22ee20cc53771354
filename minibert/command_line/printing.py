"""Output of the commands: JSON lines or plain lines, and the progress of a run."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from minibert.text.shortened import shortened

LONGEST_ERROR = 300


def complain(why: object) -> None:
    """Print one line on stderr, shortened if `why` is long."""
    print(error_line(str(why)), file=sys.stderr, flush=True)


def error_line(text: str) -> str:
    """A text as one line of at most LONGEST_ERROR characters, without control characters."""
    characters = shortened(text, 2 * LONGEST_ERROR)
    text = "".join(c if c.isprintable() else " " if c.isspace() else f"\\x{ord(c):02x}" for c in characters)
    return shortened(text, LONGEST_ERROR)


def print_result(options, values: dict, plain: str | None = None) -> None:
    print(json.dumps(values, ensure_ascii=False) if options.json or plain is None else plain, flush=True)


def print_events(options, events) -> dict:
    """Print a run's progress: JSON lines, or a line that is updated. → the last event. Ctrl-C ends the run between two
    events, so that it saves what was learned."""
    last: dict = {}
    with interrupt_between_events() as interrupted:
        for event in events:
            last = event.as_dict()
            if options.json:
                print(json.dumps(last, ensure_ascii=False), flush=True)
            else:
                print_event(last)
            if interrupted():
                events.close()
                raise KeyboardInterrupt
    return last


@contextmanager
def interrupt_between_events() -> Iterator[Callable[[], bool]]:
    """Yields a function that says whether Ctrl-C was pressed, instead of an exception within a step; a second Ctrl-C
    raises. In a process group the first raises too, as a process that went on alone would wait for the others."""
    pressed = False

    def interrupt(*_) -> None:
        nonlocal pressed
        pressed = True
        signal.signal(signal.SIGINT, usual)
        print("\nstopping after this step; Ctrl-C again stops at once", file=sys.stderr, flush=True)

    if "RANK" in os.environ or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    usual = signal.signal(signal.SIGINT, interrupt)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, usual)


def print_event(event: dict) -> None:
    match event["event"]:
        case "preparing":
            print(f"{event['what']} …", file=sys.stderr, flush=True)
        case "started":
            for note in event["details"].get("skipped", ()):
                complain(f"passed over: {note}")
        case "step":
            print(f"\r{step_line(event)} ", end="", file=sys.stderr, flush=True)
        case "eval":
            shown = {name: value for name, value in event["metrics"].items() if "." not in name}
            metrics = "  ".join(f"{name} {value:.4g}" for name, value in shown.items())
            print(f"\rstep {event['step']}: {metrics}", file=sys.stderr, flush=True)
        case "cut":
            print(cut_lines(event), file=sys.stderr, flush=True)
        case "stage":
            print(f"\n{event['arm']}, seed {event['seed']}: {event['stage']}", file=sys.stderr, flush=True)
        case "finished":
            record = event["record"]
            metrics = "  ".join(f"{name} {value:.4f}" for name, value in record["metrics"].items())
            print(f"\n{record['arm']}, seed {record['seed']}: {metrics}", file=sys.stderr, flush=True)
        case "saved":
            print(f"\nsaved {event['path']}", file=sys.stderr, flush=True)


def cut_lines(cut: dict) -> str:
    """The heads and neurons left in a pruned model, and its measurements before and after."""
    left = (f"{part} left, layer by layer: {' '.join(map(str, cut[part]))}" for part in ("heads", "neurons"))
    shown = {"parameters": ",.0f", "milliseconds": ".2f", "megabytes": ".1f", "compressed": ".1f", "accuracy": ".4f"}
    return "\n".join(
        [*left, *(f"{name} {cut['before'][name]:{form}} → {cut['after'][name]:{form}}" for name, form in shown.items())]
    )


def step_line(step: dict) -> str:
    """Progress, loss, speed and time left."""
    parts = "".join(f"  {name} {value:.3f}" for name, value in step["parts"].items())
    left = step["seconds"] * (1 - step["progress"]) / step["progress"] if step["progress"] else 0.0
    minutes, seconds = divmod(round(left), 60)
    speed = f"{step['tokens_per_second']:,.0f} tokens/s  {minutes}:{seconds:02d} left"
    return f"{step['progress']:6.1%}  step {step['step']}  loss {step['loss']:.3f}{parts}  {speed}"
