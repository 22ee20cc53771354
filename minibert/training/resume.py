"""Going on exactly: all that a pre-training run needs to continue bit for bit, and nothing pickled.

`resume/step-000500/` in a run's directory holds a checkpoint like any other (in float32), optimizer.safetensors, and
state.json. Each appears whole or not at all; the last two are kept.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from minibert import checkpoint
from minibert.text.batches import Position
from minibert.tokenizer import Tokenizer
from minibert.train import Optimization, TrainingState

FOLDER, KEPT = "resume", 2
BUDGET = ("steps", "minutes", "save_minutes", "save_every", "snapshots", "report_every", "measure_every")


@dataclass(frozen=True)
class SavedRun:
    """An interrupted run, as `resume/step-N` holds it."""

    directory: Path
    values: dict

    @property
    def position(self) -> Position:
        return Position(**self.values["position"])

    @property
    def events(self) -> list[dict]:
        return self.values["events"]

    @property
    def begun(self) -> dict:
        """The details it was begun with."""
        return next((event["details"] for event in self.events if event["event"] == "started"), {})

    def check(self, settings: dict) -> None:
        """Raise ValueError where `settings` would train something else than the run that was cut off."""
        begun = self.values["settings"]
        begun = {"relative": "bert", "sizes": {}, "objective_options": {}, **begun}  # older runs lack some fields
        begun["optimization"] = asdict(Optimization(**begun["optimization"]))
        stored, asked = json.loads(json.dumps([begun, settings]))
        changed = [name for name in asked if name not in BUDGET and asked[name] != stored.get(name)]
        if changed:
            name = changed[0]
            raise ValueError(
                f"the run in {self.directory.parent.parent} has {name} {stored.get(name)}, not {asked[name]}: "
                "resume it with the settings it was begun with"
            )

    def check_text(self, facts: dict) -> None:
        """Raise ValueError where the text is another one: the place reached would mean nothing there."""
        for name in ("data", "tokens", "documents"):
            if self.begun.get(name, facts[name]) != facts[name]:
                raise ValueError(
                    f"the run in {self.directory.parent.parent} was begun on other text ({name}: {self.begun[name]}, "
                    f"now {facts[name]}): resume it with the text it was begun on"
                )

    def tokenizer(self) -> Tokenizer:
        try:
            return checkpoint.load_tokenizer(self.directory)
        except checkpoint.CheckpointError:  # older states have it beside the model only
            return checkpoint.load_tokenizer(self.directory.parent.parent)

    def restore(self, model: nn.Module, state: TrainingState) -> None:
        """Put optimizer, counters and random numbers back as they were."""
        try:
            stored = load_file(self.directory / "optimizer.safetensors")
        except (OSError, SafetensorError) as error:
            raise ValueError(f"{self.directory} cannot be resumed: {error}") from error
        torch.set_rng_state(stored.pop("rng.cpu"))
        if torch.cuda.is_available() and "rng.cuda" in stored:
            torch.cuda.set_rng_state(stored.pop("rng.cuda"))
        optimizer = state.optimizer.state_dict()
        for name in stored:
            number, _, part = name.partition(".")
            optimizer["state"].setdefault(int(number), {})[part] = stored[name]
        state.optimizer.load_state_dict(optimizer)
        state.step, state.tokens, state.seconds = (self.values[name] for name in ("step", "tokens", "seconds"))


def save(
    out: Path,
    models: Mapping[str, nn.Module],
    tokenizer: Tokenizer,
    state: TrainingState,
    position: Position,
    settings: dict,
    events: list[dict],
) -> None:
    """Write `resume/step-N` under `out`, then drop all but the last KEPT. models: by folder, "" that one itself."""
    directory = out / FOLDER / f"step-{state.step:08d}"
    if directory.exists():
        return
    tensors = {"rng.cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        tensors["rng.cuda"] = torch.cuda.get_rng_state()
    for number, values in state.optimizer.state_dict()["state"].items():
        tensors |= {f"{number}.{name}": value.detach().cpu().contiguous() for name, value in values.items()}
    values = {"step": state.step, "tokens": state.tokens, "seconds": state.seconds, "position": asdict(position)}
    values |= {"settings": settings, "events": events}
    with checkpoint.writing(directory) as folder:
        for name, model in models.items():
            checkpoint.save(folder / "models" / name, model, tokenizer)
        for file in (folder / "models").iterdir():
            file.rename(folder / file.name)
        (folder / "models").rmdir()
        save_file(tensors, folder / "optimizer.safetensors")
        (folder / "state.json").write_text(json.dumps(values), encoding="utf-8")
    for old in sorted(directory.parent.glob("step-*"))[:-KEPT]:
        shutil.rmtree(old)


def latest(out: Path) -> SavedRun | None:
    """The newest state under `out` that can be read."""
    for directory in sorted((Path(out) / FOLDER).glob("step-*"), reverse=True):
        try:
            return SavedRun(directory, json.loads((directory / "state.json").read_text(encoding="utf-8")))
        except (OSError, ValueError):
            continue
    return None


def clear(out: Path) -> None:
    """There is nothing to resume: a run is over, or another begins."""
    shutil.rmtree(Path(out) / FOLDER, ignore_errors=True)
