"""The files of a directory of sentence vectors, as sentence-transformers writes and reads them: which modules follow
the encoder, and the settings of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from minibert import checkpoint
from minibert.sentence_vectors.whitening import Whitening
from minibert.text.json_values import check_kinds, json_value, short
from minibert.tokenizer import Tokenizer

MODULES, LENGTHS, PROMPTS = "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"
OLD_LENGTHS = tuple(f"sentence_{name}_config.json" for name in ("roberta", "distilbert", "albert", "xlnet"))
KINDS = ("Transformer", "WeightedLayerPooling", "Pooling", "Dense", "Normalize")  # supported modules, in this order
FLAGS = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens", "max": "pooling_mode_max_tokens"}
IDENTITY = "torch.nn.modules.linear.Identity"  # the activation of a Dense without one


def write_json(file: Path, values: Any) -> None:
    file.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


def values_of(file: Path, kind: type) -> Any:
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


def checked_values(file: Path, kinds: dict) -> dict:
    """The entries of a JSON file but nulls; {} without the file. Raises CheckpointError for one of another type."""
    if not file.is_file():
        return {}
    values = {name: value for name, value in values_of(file, dict).items() if value is not None}
    try:
        check_kinds(values, kinds)
    except ValueError as error:
        raise checkpoint.CheckpointError(f"{file}: {error}") from None
    return values


def encoder_settings(folder: Path) -> tuple[int | None, bool]:
    """(how many tokens of a text are read, whether it is put in lower case first) from the encoder's folder; versions
    of sentence-transformers keep the first in different files."""
    file = next((folder / name for name in (LENGTHS, *OLD_LENGTHS) if (folder / name).is_file()), folder / LENGTHS)
    values = checked_values(file, {"do_lower_case": bool})
    of_tokenizer = folder / "tokenizer_config.json"
    for where, key, found in (
        (file, "max_seq_length", values),
        (of_tokenizer, "model_max_length", checked_values(of_tokenizer, {})),
    ):
        if (length := found.get(key)) is not None:
            if isinstance(length, bool) or not (isinstance(length, int | float) and length >= 3):
                raise checkpoint.CheckpointError(f"{where}: {key} must be a number from 3 on, not {short(length)}")
            return int(length), values.get("do_lower_case", False)
    return None, values.get("do_lower_case", False)


def lowercased(tokenizer: Tokenizer, folder: Path) -> Tokenizer:
    """The tokenizer with lower case before all else. Raises CheckpointError where it cannot do that."""
    if tokenizer.lowercase:
        return tokenizer
    if type(tokenizer) is not Tokenizer:
        raise checkpoint.CheckpointError(f"{folder / LENGTHS}: do_lower_case is known for WordPiece only")
    return tokenizer.with_special_tokens(lowercase=True)


def stored_prompt(directory: Path) -> tuple[str, int | None]:
    """(what precedes every text, how many numbers of a vector are kept; None: all)."""
    file = directory / PROMPTS
    kinds = {"prompts": dict[str, str | None], "default_prompt_name": str, "truncate_dim": int}
    values = checked_values(file, kinds)
    name, kept = values.get("default_prompt_name"), values.get("truncate_dim")
    if name is not None and name not in values.get("prompts", {}):
        raise checkpoint.CheckpointError(f"{file}: there is no prompt {short(name)}, the default_prompt_name")
    if kept is not None and kept < 1:
        raise checkpoint.CheckpointError(f"{file}: truncate_dim must be at least 1, not {kept}")
    return (values["prompts"][name] or "") if name is not None else "", kept


def tokenizer_and_prompt(directory: Path) -> tuple[Tokenizer, str]:
    """How a directory's texts are read: the tokenizer, which puts them in lower case if sentence-transformers does, and
    the default prompt before each. Raises CheckpointError."""
    parts = parts_of(directory)
    folder = parts.get("Transformer", directory)
    tokenizer = checkpoint.load_tokenizer(folder)
    if not parts:
        return tokenizer, ""
    lower = encoder_settings(folder)[1]
    return lowercased(tokenizer, folder) if lower else tokenizer, stored_prompt(directory)[0]


def stored_pooling(folder: Path, prompt: str = "") -> str:
    """The pooling of a Pooling module: flags in sentence-transformers up to version 5, a name in version 6."""
    file = checkpoint.existing(folder, "config.json")
    values = values_of(file, dict)
    names = {flag: name for name, flag in FLAGS.items()}
    modes = [names.get(key, key) for key, value in values.items() if key.startswith("pooling_mode_") and value is True]
    if mode := values.get("pooling_mode"):
        modes = mode if isinstance(mode, list) else [mode]
    if len(modes) != 1 or modes[0] not in list(FLAGS):
        raise checkpoint.CheckpointError(
            f"{file}: pools by {', '.join(map(str, modes)) or 'nothing'}; known is one of {', '.join(FLAGS)}"
        )
    if prompt and values.get("include_prompt") is False:
        raise checkpoint.CheckpointError(f"{file}: include_prompt is false; here a prompt's tokens are pooled, too")
    return modes[0]


def stored_weights(folder: Path, shapes: dict[str, tuple[int, ...]]) -> list[Tensor]:
    """The tensors of a module with these names and shapes; −1 stands for any size."""
    file = checkpoint.existing(folder, checkpoint.WEIGHTS)
    try:
        stored = load_file(file)
    except (OSError, SafetensorError) as error:
        raise checkpoint.CheckpointError(f"{file} cannot be read: {error}") from None
    for name, shape in shapes.items():
        has = tuple(stored[name].shape) if name in stored else ()
        if len(has) != len(shape) or any(size not in (-1, n) for n, size in zip(has, shape, strict=True)):
            raise checkpoint.CheckpointError(f"{file}: {name} must have the shape {shape}, not {has or None}")
    return [stored[name].float() for name in shapes]


def stored_layers(folder: Path, count: int) -> tuple[int, ...]:
    """The layers, from 0 (the embeddings) to `count`, that a WeightedLayerPooling averages; only equal weights are
    supported."""
    start = values_of(checkpoint.existing(folder, "config.json"), dict).get("layer_start")
    if not (isinstance(start, int) and 0 <= start <= count):
        raise checkpoint.CheckpointError(f"{folder}: layer_start must be a layer from 0 to {count}, not {start!r}")
    (weights,) = stored_weights(folder, {"layer_weights": (count + 1 - start,)})
    averaged = weights.nonzero().flatten().tolist()
    if not averaged or weights[averaged].unique().numel() != 1:
        raise checkpoint.CheckpointError(f"{folder}: known is a plain mean of layers, not {weights.tolist()}")
    return tuple(start + i for i in averaged)


def stored_whitening(folder: Path, width: int) -> Whitening:
    """A Dense without an activation, Ax + b, as a whitening (x − μ)W: W = Aᵀ, and μ is a solution of Aμ = −b."""
    file = checkpoint.existing(folder, "config.json")
    values = values_of(file, dict)
    activation = values.get("activation_function")
    if activation != IDENTITY or values.get("use_residual"):
        raise checkpoint.CheckpointError(f"{file}: a Dense is known without an activation, not with {activation!r}")
    if values.get("bias") is not True:
        raise checkpoint.CheckpointError(f"{file}: a Dense is known here with its bias")
    weight, bias = (
        part.double().numpy() for part in stored_weights(folder, {"linear.weight": (-1, width), "linear.bias": (-1,)})
    )
    if len(weight) != len(bias) or len(weight) > width:
        raise checkpoint.CheckpointError(f"{folder}: {len(weight)} rows with {len(bias)} biases of {width} numbers")
    return Whitening(np.linalg.lstsq(weight, -bias, rcond=None)[0], weight.T)
