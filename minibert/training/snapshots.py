"""Small copies of a model during training, to look back at what it knew when.

Weights are stored as 8-bit integers with a scale for each row (absolute maximum / 127): a quarter of float32, half of
the finished checkpoint, and accurate enough to look at. `steps/step-00000500.safetensors` beside the checkpoint, whose
config.json and vocab.txt they share.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

from minibert import checkpoint

FOLDER = "steps"
TOKENS, BIAS = "bert.embeddings.token.weight", "mlm.decoder.bias"
NEVER = -1e4  # output bias of an entry that was not in the vocabulary yet


@dataclass(frozen=True)
class Snapshot:
    """step, tokens: how far the run was at that time."""

    path: Path
    step: int
    tokens: int


def save(folder: str | Path, model: nn.Module, step: int, tokens: int) -> Path:
    """Write step-N.safetensors into `folder`, complete or not at all."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors, names = {}, checkpoint.stored_names(model)
    for name, value in model.state_dict().items():
        if names[name] is None:  # tied or shared weights
            continue
        value = value.detach().float().cpu()
        if value.dim() < 2:
            tensors[name] = value.half()
            continue
        scale = value.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / 127  # (rows, 1)
        tensors[name] = (value / scale).round().to(torch.int8)
        tensors[f"{name}.scale"] = scale
    path = folder / f"step-{step:08d}.safetensors"
    temporary = path.with_suffix(".tmp")
    save_file(tensors, temporary, metadata={"step": str(step), "tokens": str(tokens)})
    temporary.chmod(0o644)  # safetensors makes it readable by its owner only
    os.replace(temporary, path)
    return path


def clear(directory: str | Path) -> None:
    """Remove the snapshots of an earlier run, which would mix with the new ones."""
    for path in Path(directory, FOLDER).glob("step-*.safetensors"):
        path.unlink()


def listed(directory: str | Path) -> list[Snapshot]:
    """The snapshots kept beside the checkpoint in `directory`, oldest first."""
    found = []
    for path in sorted(Path(directory, FOLDER).glob("step-*.safetensors")):
        try:
            with safe_open(path, "pt") as file:
                facts = file.metadata()
            found.append(Snapshot(path, int(facts["step"]), int(facts["tokens"])))
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise checkpoint.CheckpointError(f"{path} is damaged or no snapshot: {error}") from None
    return found


def load(directory: str | Path, snapshot: Snapshot) -> nn.Module:
    """The model of `directory` as it was at `snapshot`, in eval mode, float32. Entries added to its vocabulary later
    have a zero vector and are never predicted."""
    model: Any = checkpoint.load(directory)
    state, expected = {}, model.state_dict()
    try:
        with safe_open(snapshot.path, "pt") as file:
            names = set(file.keys())
            for name in names:
                if not name.endswith(".scale"):
                    value = file.get_tensor(name).float()
                    state[name] = value * file.get_tensor(f"{name}.scale") if f"{name}.scale" in names else value
    except (SafetensorError, RuntimeError) as error:  # RuntimeError: a scale that does not fit
        raise checkpoint.CheckpointError(f"{snapshot.path} is damaged or no snapshot: {error}") from None
    checkpoint.check_finite(state, snapshot.path)
    if unknown := set(state) - set(expected):
        raise checkpoint.CheckpointError(f"{snapshot.path} holds {min(unknown)}, which is no part of the model")
    grows = {TOKENS, BIAS} & set(expected)  # with the vocabulary
    if lacking := grows - set(state):
        raise checkpoint.CheckpointError(f"{snapshot.path} lacks {min(lacking)}")
    for name, value in state.items():
        if value.shape[name in grows :] != expected[name].shape[name in grows :] or value.dim() != expected[name].dim():
            raise checkpoint.CheckpointError(f"{snapshot.path}: {name} is of another shape than in the model")
    sizes = {len(state[name]) for name in grows}
    if len(sizes) != 1 or not 0 < min(sizes) <= model.config.vocab_size:
        raise checkpoint.CheckpointError(f"{snapshot.path} is of another vocabulary than the model")
    missing = model.config.vocab_size - min(sizes)
    if missing > 0:
        if BIAS in state:
            state[BIAS] = F.pad(state[BIAS], (0, missing), value=NEVER)
        state[TOKENS] = F.pad(state[TOKENS], (0, 0, 0, missing))
    checkpoint.assign(model, state)
    return model.eval()
