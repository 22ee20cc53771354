"""What the benchmarks share: their options, their results in a file with the machine, and a fine-tuning run."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from minibert.training import machine

if TYPE_CHECKING:
    from minibert.tasks import TaskData
    from minibert.train import Done

RESULTS = Path(__file__).parent / "results"
LAST_ONLY = {"evaluations_per_epoch": 1, "dev_sample": 32}  # of finetuned: only the final evaluation counts


def arguments(doc: str | None, name: str | None = None) -> argparse.ArgumentParser:
    """A script's options. `--record` keeps the results as bench/results/`name`.json; without a name as NAME.json."""
    options = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    kind = {"action": "store_const", "const": name} if name else {"metavar": "NAME"}
    options.add_argument("--record", **kind, help=f"write bench/results/{name or 'NAME'}.json")
    return options


def description() -> dict:
    return {"cores": len(machine.processors()) or None} | machine.description("transformers", "tokenizers")


def record(name: str | None, results: object) -> None:
    """Write `results` with the machine to bench/results/<name>.json; nothing without a name."""
    if name:
        RESULTS.mkdir(exist_ok=True)
        text = json.dumps({"machine": description(), "results": results}, indent=2) + "\n"
        (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")


def recorded(name: str | None) -> dict:
    """The results that `record` wrote under this name; {} if there are none."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else {}


def finetuned(start: Path, task: str, train: TaskData, dev: TaskData, learning_rate: float, **settings) -> Done:
    """The end of a fine-tuning run with its metrics. settings: of FinetuneSettings."""
    from minibert.finetune.run import finetune
    from minibert.finetune.settings import FinetuneSettings
    from minibert.train import Done, Optimization

    chosen = FinetuneSettings(optimization=Optimization(learning_rate=learning_rate), **settings)
    return next(event for event in finetune(start, task, train, dev, chosen) if isinstance(event, Done))
