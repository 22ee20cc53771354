"""Exact resuming: all that a pre-training run needs to continue bit for bit, without pickle.

`resume/step-00000500/` in a run's directory holds a checkpoint like any other (in float32), optimizer.safetensors,
state.json, and SHA256SUMS of these, as `sha256sum -c` reads them. Each directory appears complete or not at all; the
last two are kept, in case the newest is damaged.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_type_hints

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from minibert import checkpoint
from minibert.text.batches import Position
from minibert.text.json_values import check_kinds, json_object, json_value
from minibert.tokenizer import Tokenizer
from minibert.train import Optimization, TrainingState

FOLDER, KEPT, SUMS = "resume", 2, "SHA256SUMS"
EXTRA_WEIGHTS = "beside.safetensors"  # weights trained with the model that are no part of it
STATE = {
    "step": int,
    "tokens": int,
    "seconds": float,
    "position": dict[str, int],
    "settings": dict[str, Any],
    "events": list[dict[str, Any]],
}
BUDGET = ("steps", "minutes", "save_minutes", "save_every", "snapshots", "report_every", "measure_every")


@dataclass(frozen=True)
class SavedRun:
    """An interrupted run, as stored in `resume/step-N`."""

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
        """The details of its `started` event."""
        return next((event["details"] for event in self.events if event["event"] == "started"), {})

    def check(self, settings: dict) -> None:
        """Raise ValueError if `settings` differ, except in BUDGET, from those of the interrupted run."""
        saved = self.values["settings"]
        saved = {"relative": "bert", "sizes": {}, "objective_options": {}, **saved}  # older runs lack some fields
        saved["optimization"] = asdict(Optimization(**saved["optimization"]))
        stored, current = json_value(json.dumps([saved, settings]))
        changed = [name for name in current if name not in BUDGET and current[name] != stored.get(name)]
        if changed:
            name = changed[0]
            raise ValueError(
                f"the run in {self.directory.parent.parent} has {name} {stored.get(name)}, not {current[name]}: "
                "resume it with the settings it was begun with"
            )

    def check_text(self, facts: dict) -> None:
        """Raise ValueError if the text differs: the saved position would be meaningless."""
        for name in ("data", "tokens", "documents"):
            if self.begun.get(name, facts[name]) != facts[name]:
                raise ValueError(
                    f"the run in {self.directory.parent.parent} was begun on other text ({name}: {self.begun[name]}, "
                    f"now {facts[name]}): resume it with the text it was begun on"
                )

    def tokenizer(self) -> Tokenizer:
        try:
            return checkpoint.load_tokenizer(self.directory)
        except checkpoint.CheckpointError:  # older states have the tokenizer beside the model only
            return checkpoint.load_tokenizer(self.directory.parent.parent)

    def restore(self, model: nn.Module, state: TrainingState) -> None:
        """Restore optimizer, counters and random number generators."""
        optimizer = state.optimizer.state_dict()
        numbered = enumerate(weight for group in state.optimizer.param_groups for weight in group["params"])
        shapes = {number: weight.shape for number, weight in numbered}
        try:
            stored = load_file(self.directory / "optimizer.safetensors")
            torch.set_rng_state(stored.pop("rng.cpu"))
            cuda = stored.pop("rng.cuda", None)
            if cuda is not None and torch.cuda.is_available():
                torch.cuda.set_rng_state(cuda)
            for name, value in stored.items():
                number, _, part = name.partition(".")
                if value.dim() and value.shape != shapes[int(number)]:
                    raise ValueError(f"{name} in optimizer.safetensors is of another shape than its weight")
                optimizer["state"].setdefault(int(number), {})[part] = value
            for group in optimizer["param_groups"]:  # a weight without gradients has no state
                kinds = {frozenset(optimizer["state"].get(number, ())) for number in group["params"]} - {frozenset()}
                if len(kinds) > 1:
                    raise ValueError("optimizer.safetensors lacks some of what is remembered of the weights")
        except (OSError, SafetensorError, KeyError, TypeError, RuntimeError, ValueError) as error:
            raise ValueError(f"{self.directory} cannot be resumed: {error}") from error
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
    extra_weights: Mapping[str, torch.Tensor] | None = None,
) -> None:
    """Write `resume/step-N` under `out`, then delete all but the last KEPT. models: by subfolder, "" for the directory
    itself · extra_weights: further weights, written to EXTRA_WEIGHTS."""
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
        if extra_weights:
            save_file(dict(extra_weights), folder / EXTRA_WEIGHTS)
        (folder / "state.json").write_text(json.dumps(values), encoding="utf-8")
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        sums = "".join(f"{digest(file)}  {file.relative_to(folder).as_posix()}\n" for file in files)
        (folder / SUMS).write_text(sums, encoding="utf-8")
    for old in sorted(directory.parent.glob("step-*"))[:-KEPT]:
        shutil.rmtree(old)


def digest(file: Path) -> str:
    with open(file, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def latest(out: Path, damaged: list[str] | None = None) -> SavedRun | None:
    """The newest state under `out` that can be resumed; newer damaged ones are appended to `damaged`."""
    for directory in sorted((Path(out) / FOLDER).glob("step-*"), reverse=True):
        try:
            return open_state(directory)
        except ValueError as error:
            if damaged is not None:
                damaged.append(f"{directory.name}, which is damaged: {error}")
    return None


def require_latest(out: Path) -> SavedRun:
    """`latest`, or ValueError where there is none."""
    damaged: list[str] = []
    if (saved := latest(out, damaged)) is None:
        why = f" but {'; '.join(damaged)}" if damaged else ""
        raise ValueError(f"{out} holds no interrupted run to resume{why}")
    return saved


def open_state(directory: Path) -> SavedRun:
    """Load and verify the state in a directory. Raises ValueError with the reason if it is not as saved."""
    if (sums := directory / SUMS).exists():  # older states have none
        try:
            for line in sums.read_text(encoding="utf-8").splitlines():
                saved, name = line.split("  ", 1)
                if ".." in Path(name).parts or digest(directory / name.lstrip("/")) != saved:
                    raise ValueError(f"{Path(name).name} is not as it was saved")
        except OSError as error:
            raise ValueError(f"{Path(error.filename).name} cannot be read ({error.strerror})") from None
    values = json_object(directory / "state.json")
    if lacking := STATE.keys() - values.keys():
        raise ValueError(f"state.json lacks {min(lacking)}")
    check_kinds(values, STATE)
    settings, position = values["settings"], values["position"]
    try:
        Position(**position)
        check_kinds(settings["optimization"], get_type_hints(Optimization))
        Optimization(**settings["optimization"])
    except (AttributeError, TypeError, KeyError) as error:
        raise ValueError(f"state.json holds another position or other settings ({error})") from None
    kinds = {"event": str, "details": dict[str, Any], "step": int, "progress": float}
    for event in values["events"]:
        check_kinds({"event": None, **event}, kinds)
    if min(position.values(), default=0) < 0:
        raise ValueError("state.json holds a position before the first")
    return SavedRun(directory, values)


def clear_unfinished(out: Path) -> None:
    """Remove what a killed save has left."""
    for left in Path(out, FOLDER).glob(f".step-*{checkpoint.UNFINISHED}"):
        shutil.rmtree(left, ignore_errors=True)


def clear(out: Path) -> None:
    """Remove all saved states: the run has ended, or another begins."""
    shutil.rmtree(Path(out) / FOLDER, ignore_errors=True)
