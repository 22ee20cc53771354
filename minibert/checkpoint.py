"""Load and save in the Hugging Face layout: config.json, model.safetensors, vocab.txt. Never a pickle.

`load(save(m))` is m, `transformers` loads what we save, and we load what it saves. Only names differ between the two
worlds, so the whole bridge is one table of names.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from minibert.config import BertConfig
from minibert.heads import (
    BertForIntentAndEntities,
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from minibert.model import Bert, BertForPreTraining
from minibert.tokenizer import Tokenizer

WEIGHTS, CONFIG = "model.safetensors", "config.json"

# ours → theirs, in order; `bert.` stands before the encoder's names except in a bare BertModel.
NAMES = [
    (r"^bert\.", "bert."),
    (r"\bembeddings\.token\b", "embeddings.word_embeddings"),
    (r"\bembeddings\.position\b", "embeddings.position_embeddings"),
    (r"\bembeddings\.segment\b", "embeddings.token_type_embeddings"),
    (r"\bembeddings\.norm\b", "embeddings.LayerNorm"),
    (r"\bblocks\.(\d+)\.attn\.(query|key|value)\b", r"encoder.layer.\1.attention.self.\2"),
    (r"\bblocks\.(\d+)\.attn\.output\b", r"encoder.layer.\1.attention.output.dense"),
    (r"\bblocks\.(\d+)\.attn_norm\b", r"encoder.layer.\1.attention.output.LayerNorm"),
    (r"\bblocks\.(\d+)\.mlp\.expand\b", r"encoder.layer.\1.intermediate.dense"),
    (r"\bblocks\.(\d+)\.mlp\.contract\b", r"encoder.layer.\1.output.dense"),
    (r"\bblocks\.(\d+)\.mlp_norm\b", r"encoder.layer.\1.output.LayerNorm"),
    (r"^mlm\.dense\b", "cls.predictions.transform.dense"),
    (r"^mlm\.norm\b", "cls.predictions.transform.LayerNorm"),
    (r"^mlm\.decoder\.weight\b", "cls.predictions.decoder.weight"),
    (r"^mlm\.decoder\.bias\b", "cls.predictions.bias"),
    (r"^nsp\b", "cls.seq_relationship"),
]
# LayerNorm's in files converted from TensorFlow, the released bert-base-uncased among them.
OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
# Tied or constant: stored once or not at all. The copy, and what it is a copy of.
TIED = {
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
PICKLES = {".bin", ".pt", ".pth", ".ckpt", ".pkl"}
BUFFERS = {"embeddings.position_ids", "bert.embeddings.position_ids"}
ARCHITECTURES = {
    "BertModel": Bert,
    "BertForMaskedLM": BertForPreTraining,
    "BertForPreTraining": BertForPreTraining,
    "BertForSequenceClassification": BertForSequenceClassification,
    "BertForTokenClassification": BertForTokenClassification,
    "BertForQuestionAnswering": BertForQuestionAnswering,
    "BertForMultipleChoice": BertForMultipleChoice,
    "BertForIntentAndEntities": BertForIntentAndEntities,
}


class CheckpointError(ValueError):
    """A directory that does not hold a model we can load; the message says what is wrong and what to do."""


def their_name(name: str) -> str:
    """`bert.blocks.3.attn.query.weight` → `bert.encoder.layer.3.attention.self.query.weight`."""
    for ours, theirs in NAMES:
        name = re.sub(ours, theirs, name)
    return name


def architecture(model: nn.Module) -> str:
    return {Bert: "BertModel"}.get(type(model), type(model).__name__)


def save(
    directory,
    model: nn.Module,
    tokenizer: Tokenizer | None = None,
    *,
    dtype: torch.dtype | None = None,
    notes: dict | None = None,
) -> Path:
    """Write a directory that `load` and `transformers.AutoModel…from_pretrained` read. It appears whole or not at all.

    dtype: store weights as e.g. torch.float16 (half the size; they load as float32) · notes: further entries of
    config.json, which JSON must hold. Files already in the directory
    under other names are kept, so saving again over a checkpoint replaces the model and nothing else.
    """
    state = {}
    for name, value in model.state_dict().items():
        theirs = their_name(name)
        if theirs not in TIED:
            state[theirs] = value.detach().cpu().to(dtype or value.dtype).contiguous()
    config = {
        **model.config.as_dict(),
        "architectures": [architecture(model)],
        "model_type": "bert",
        "tie_word_embeddings": True,
        "dtype": str(dtype or torch.float32).removeprefix("torch."),
        **getattr(model, "options_to_config", dict)(),
        **(notes or {}),
    }
    with writing(directory) as folder:
        save_file(state, folder / WEIGHTS, metadata={"format": "pt"})
        (folder / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        if tokenizer is not None:
            tokenizer.save(folder)
    return Path(directory)


@contextmanager
def writing(directory) -> Iterator[Path]:
    """A temporary folder beside `directory`; what was written there moves in, file by file, only if nothing failed."""
    directory = Path(directory)
    directory.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
    folder.chmod(0o755)
    try:
        yield folder
        for file in folder.iterdir():
            file.chmod(0o644)  # safetensors writes for its owner alone
        if directory.exists():
            for file in folder.iterdir():
                os.replace(file, directory / file.name)
        else:
            os.replace(folder, directory)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def load(directory, *, kind: type[nn.Module] | None = None, **options) -> nn.Module:
    """The model in `directory`, in eval mode, float32. `kind` asks for another class than the one it was saved as:
    parts the file does not have (a fresh head) keep their initial values, parts the class does not have are dropped.
    `options` go to the class in place of what config.json says, e.g. `labels=["no", "yes"]`.

    Raises CheckpointError: not a model, a pickled one, sizes that disagree with config.json, missing weights.
    """
    directory = Path(directory)
    config_file = existing(directory, CONFIG)
    values = config_values(directory)
    try:
        config = BertConfig.from_dict(values)
    except (ValueError, TypeError) as error:
        raise CheckpointError(f"{config_file}: {error}") from error
    stored = stored_weights(directory)
    heads = any(name.startswith("cls.") for name in stored)
    saved_as = (values.get("architectures") or ["BertForPreTraining" if heads else "BertModel"])[0]
    if saved_as not in ARCHITECTURES:
        raise CheckpointError(f"{config_file}: {saved_as} is not one of {', '.join(ARCHITECTURES)}")
    kind = kind or ARCHITECTURES[saved_as]
    options = {**getattr(kind, "options_from_config", lambda values: {})(values), **options}
    model = kind(config, **options)
    fill(model, stored, directory, strict=kind is ARCHITECTURES[saved_as])
    return model.eval()


def stored_weights(directory: Path) -> dict[str, torch.Tensor]:
    """The tensors of the directory by the names they have today."""
    try:
        stored = load_file(existing(directory, WEIGHTS))
    except SafetensorError as error:
        raise CheckpointError(f"{directory / WEIGHTS} is damaged or not a safetensors file: {error}") from error
    for old, new in OLD_NAMES.items():
        stored = {name.removesuffix(old) + new if name.endswith(old) else name: x for name, x in stored.items()}
    for copy, original in TIED.items():
        if copy in stored and original in stored and not torch.equal(stored[copy], stored[original]):
            raise CheckpointError(f"{directory}: {copy} differs from {original}, and here they are one (tied)")
    return stored


def config_values(directory) -> dict:
    """Everything that the directory's config.json says."""
    file = existing(Path(directory), CONFIG)
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"{file}: {error}") from error
    if not isinstance(values, dict):
        raise CheckpointError(f"{file} does not hold an object")
    return values


def fill(model: nn.Module, stored: dict, directory: Path, *, strict: bool) -> None:
    """Copy weights by name into `model`; complain about what is missing, unknown or of another shape."""
    bare = not any(name.startswith(("bert.", "cls.")) for name in stored)
    wanted = model.state_dict()
    state, missing = {}, []
    for name, value in wanted.items():
        theirs = their_name(name)
        if theirs in TIED:
            continue
        key = theirs.removeprefix("bert.") if bare else theirs
        if isinstance(model, Bert) and not bare:
            key = f"bert.{key}"
        if key not in stored:
            missing.append(key)
        elif stored[key].shape != value.shape:
            has, wants = tuple(stored[key].shape), tuple(value.shape)
            raise CheckpointError(f"{directory}: {key} has shape {has} where config.json asks for {wants}")
        else:
            state[name] = stored.pop(key).float()
    # A checkpoint may lack what its class can do without (a masked-LM file has no next-sentence head or pooler);
    # the encoder itself may never be incomplete.
    unfilled = [key for key in missing if ".encoder." in f".{key}" or ".embeddings." in f".{key}"]
    unknown = set(stored) - set(TIED) - BUFFERS if strict else set()
    if unfilled or unknown:
        problem = f"lacks {sorted(unfilled)[0]}" if unfilled else f"holds {sorted(unknown)[0]}, which is not BERT's"
        raise CheckpointError(f"{directory / WEIGHTS} {problem} ({len(unfilled)} missing, {len(unknown)} unknown)")
    model.load_state_dict(state, strict=False)


def existing(directory: Path, name: str) -> Path:
    file = directory / name
    if file.is_file():
        return file
    if not directory.is_dir():
        raise CheckpointError(f"{directory} is not a directory")
    pickled = sorted(path.name for path in directory.iterdir() if path.suffix in PICKLES)
    if name == WEIGHTS and pickled:
        raise CheckpointError(
            f"{directory / pickled[0]} is a pickled checkpoint, and loading a pickle can run any code it holds. "
            "Convert it to model.safetensors where it came from (`save_pretrained` of transformers does)."
        )
    raise CheckpointError(f"{directory} has no {name}: it is not a saved model")


def load_tokenizer(directory) -> Tokenizer:
    """The tokenizer saved with the model."""
    if not (Path(directory) / "tokenizer.json").is_file():  # transformers 5 writes only this one
        existing(Path(directory), "vocab.txt")
    return Tokenizer.from_directory(directory)
