"""The files of a directory of sentence vectors, as sentence-transformers writes and reads them: which modules follow
the encoder, and the settings of each."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from minibert import checkpoint
from minibert.sentence_vectors.whitening import Whitening
from minibert.text.json_values import json_value

MODULES, LENGTHS = "modules.json", "sentence_bert_config.json"
KINDS = (
    "Transformer",
    "WeightedLayerPooling",
    "Pooling",
    "Dense",
    "Normalize",
)  # supported modules, in this order
FLAGS = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens", "max": "pooling_mode_max_tokens"}
IDENTITY = "torch.nn.modules.linear.Identity"  # the activation of a Dense without one


def write_json(file: Path, values) -> None:
    file.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


def values_of(file: Path, kind: type):
    """The value in a JSON file. Raises CheckpointError if it is not a `kind`."""
    try:
        values = json_value(file.read_bytes())
    except (OSError, ValueError) as error:
        raise checkpoint.CheckpointError(f"{file} cannot be read: {error}") from None
    if not isinstance(values, kind):
        raise checkpoint.CheckpointError(f"{file} must hold {'an object' if kind is dict else 'a list'}")
    return values


def parts_of(directory: Path) -> dict[str, Path]:
    """Module → its folder, as listed in modules.json; {} without that file."""
    if not (file := directory / MODULES).is_file():
        return {}
    parts = {}
    for one in values_of(file, list):
        kind, path = (one.get("type"), one.get("path", "")) if isinstance(one, dict) else (None, "")
        if not (isinstance(kind, str) and isinstance(path, str)):
            raise checkpoint.CheckpointError(f"{file}: each module must be an object with a type")
        parts[kind.rpartition(".")[2]] = directory / path
    if unknown := parts.keys() - {*KINDS}:
        raise checkpoint.CheckpointError(f"{file}: a {min(unknown)} behind the encoder is not known here")
    if [*parts] != [kind for kind in KINDS if kind in parts]:
        raise checkpoint.CheckpointError(f"{file}: what is behind the encoder must come as {', '.join(KINDS)}")
    for path in parts.values():
        if not path.resolve().is_relative_to(directory.resolve()):
            raise checkpoint.CheckpointError(f"{file}: a module must lie within {directory}")
    return parts


def stored_length(directory: Path) -> int | None:
    """How many tokens of a text are read; sentence-transformers 6 stores it in another file than versions up to 5."""
    for name, key in ((LENGTHS, "max_seq_length"), ("tokenizer_config.json", "model_max_length")):
        if (file := directory / name).is_file() and (told := values_of(file, dict).get(key)) is not None:
            if not (isinstance(told, int) and told >= 3):
                raise checkpoint.CheckpointError(f"{file}: {key} must be a number from 3 on, not {told!r}")
            return told
    return None


def stored_pooling(folder: Path) -> str:
    """The pooling of a Pooling module: flags in sentence-transformers up to version 5, a name in version 6."""
    file = checkpoint.existing(folder, "config.json")
    told = values_of(file, dict)
    names = {flag: name for name, flag in FLAGS.items()}
    modes = [
        names.get(flag, flag) for flag, value in told.items() if flag.startswith("pooling_mode_") and value is True
    ]
    if mode := told.get("pooling_mode"):
        modes = mode if isinstance(mode, list) else [mode]
    if len(modes) != 1 or modes[0] not in list(FLAGS):
        raise checkpoint.CheckpointError(
            f"{file}: pools by {', '.join(map(str, modes)) or 'nothing'}; known is one of {', '.join(FLAGS)}"
        )
    return modes[0]


def stored_weights(folder: Path, shapes: dict[str, tuple[int, ...]]) -> list[Tensor]:
    """The tensors of a module with these names and shapes; −1 stands for any size."""
    file = checkpoint.existing(folder, checkpoint.WEIGHTS)
    try:
        found = load_file(file)
    except (OSError, SafetensorError) as error:
        raise checkpoint.CheckpointError(f"{file} cannot be read: {error}") from None
    for name, shape in shapes.items():
        has = tuple(found[name].shape) if name in found else None
        if (
            has is None
            or len(has) != len(shape)
            or any(want not in (-1, n) for n, want in zip(has, shape, strict=True))
        ):
            raise checkpoint.CheckpointError(f"{file}: {name} must have the shape {shape}, not {has}")
    return [found[name].float() for name in shapes]


def stored_layers(folder: Path, count: int) -> tuple[int, ...]:
    """The layers, from 0 (the embeddings) to `count`, that a WeightedLayerPooling averages; only equal weights are
    supported."""
    start = values_of(checkpoint.existing(folder, "config.json"), dict).get("layer_start")
    if not (isinstance(start, int) and 0 <= start <= count):
        raise checkpoint.CheckpointError(f"{folder}: layer_start must be a layer from 0 to {count}, not {start!r}")
    (weights,) = stored_weights(folder, {"layer_weights": (count + 1 - start,)})
    some = weights.nonzero().flatten().tolist()
    if not some or weights[some].unique().numel() != 1:
        raise checkpoint.CheckpointError(f"{folder}: known is a plain mean of layers, not {weights.tolist()}")
    return tuple(start + i for i in some)


def stored_whitening(folder: Path, width: int) -> Whitening:
    """A Dense without an activation, Ax + b, as a whitening (x − μ)W: W = Aᵀ, and μ is a solution of Aμ = −b."""
    file = checkpoint.existing(folder, "config.json")
    told = values_of(file, dict)
    activation = told.get("activation_function")
    if activation != IDENTITY or told.get("use_residual"):
        raise checkpoint.CheckpointError(
            f"{file}: a Dense is known here without an activation, not with {activation!r}"
        )
    if told.get("bias") is not True:
        raise checkpoint.CheckpointError(f"{file}: a Dense is known here with its bias")
    weight, bias = (
        part.double().numpy() for part in stored_weights(folder, {"linear.weight": (-1, width), "linear.bias": (-1,)})
    )
    if len(weight) != len(bias) or len(weight) > width:
        raise checkpoint.CheckpointError(f"{folder}: {len(weight)} rows with {len(bias)} biases of {width} numbers")
    return Whitening(np.linalg.lstsq(weight, -bias, rcond=None)[0], weight.T)
