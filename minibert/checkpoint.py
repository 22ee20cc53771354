"""Load and save in the Hugging Face layout: config.json, model.safetensors, vocab.txt. Never a pickle.

`load(save(m))` is m, `transformers` loads what we save, and we load what it saves. For BERT only names differ, so the
conversion is a table: NAMES, after those of a relative of BERT, which may also store weights in another `layout`.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_type_hints

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from minibert.heads import (
    BertForCloze,
    BertForIntentAndEntities,
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    HeadOptions,
)
from minibert.model import Bert, BertForPreTraining, MlmHead, initialize
from minibert.relatives import Relative, build, components_of, config_from, objective_for, relative_of
from minibert.text.byte_tokenizer import ByteTokenizer, is_byte_level
from minibert.text.json_values import check_kinds, json_object
from minibert.text.shortened import ShortError
from minibert.tokenizer import Tokenizer
from minibert.training.skip_init import filled_later, sizes_only

WEIGHTS, CONFIG = "model.safetensors", "config.json"
UNFINISHED = ".unfinished"  # suffix of a folder that is still being written
OBJECTIVE = "minibert_objective"  # key in config.json: name of the model's pre-training objective
# Types of the optional entries of config.json beside the sizes; null counts as absent.
KINDS = {
    "model_type": str,
    "architectures": list[str],
    "id2label": dict[str, str | int | float],
    "num_labels": int,
    "problem_type": str,
    **{f"classifier_{name}": kind for name, kind in get_type_hints(HeadOptions).items()},
    "cloze_words": list[list[int]],
    "cloze_mask": int,
    "intents": list[str],
    "tags": list[str],
    "minibert_task": str,
    "minibert_options": dict[str, Any],
    OBJECTIVE: str,
}
MOST_LABELS = 2**16  # each is a row of weights; a config.json with more is refused

# ours → transformers', applied in order; `bert.` precedes the encoder's names except in a bare BertModel.
NAMES = [
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
PICKLES = {".bin", ".pt", ".pth", ".ckpt", ".pkl"}
# Names of classes in config.json, without the relative's prefix: Bert…, Albert….
ARCHITECTURES = {
    "Model": Bert,
    "ForMaskedLM": BertForPreTraining,
    "ForPreTraining": BertForPreTraining,
    "ForSequenceClassification": BertForSequenceClassification,
    "ForTokenClassification": BertForTokenClassification,
    "ForQuestionAnswering": BertForQuestionAnswering,
    "ForMultipleChoice": BertForMultipleChoice,
    "ForIntentAndEntities": BertForIntentAndEntities,
    "ForCloze": BertForCloze,
}


class CheckpointError(ShortError):
    """A directory that does not hold a model we can load; the message says what is wrong and what to do."""


def their_name(name: str, relative: Relative, of_head: Sequence[tuple[str, str]] = ()) -> str:
    """`bert.blocks.3.attn.query.weight` → `bert.encoder.layer.3.attention.self.query.weight`. of_head: names
    that differ in one class."""
    for ours, theirs in [*of_head, *relative.names, *NAMES]:
        name = re.sub(ours, theirs, name)
    return re.sub(r"^bert\.", f"{relative.encoder}.", name)


def copies(relative: Relative) -> dict[str, str]:
    """Tied weights that other software may store twice: name of the copy → name of the original."""
    bias = their_name("mlm.decoder.bias", relative)
    return {
        their_name("mlm.decoder.weight", relative): their_name("bert.embeddings.token.weight", relative),
        f"{bias.removesuffix('bias')}decoder.bias": bias,
    }


def architecture(model: nn.Module) -> str:
    """The name of the class in transformers: `BertForPreTraining`, `AlbertModel`."""
    relative = relative_of(model.config)
    return relative.prefix + kind_of(type(model), relative)


def kind_of(cls: type[nn.Module], relative: Relative) -> str:
    """The class name without its prefix, e.g. `ForPreTraining`."""
    own = next((name for name, head in relative.heads.items() if head is cls), None)
    return own or ("Model" if cls is Bert else cls.__name__.removeprefix("Bert"))


def class_of(architecture: str, relative: Relative, file: Path) -> type[nn.Module]:
    """The class of an architecture name, the inverse of `architecture`. Raises CheckpointError for an unknown one."""
    kind = architecture.removeprefix(relative.prefix)
    classes = {**ARCHITECTURES, **relative.heads}
    if not architecture.startswith(relative.prefix) or kind not in classes:
        known = ", ".join(relative.prefix + name for name in classes)
        raise CheckpointError(f"{file}: {architecture} is not one of {known}")
    return classes[kind]


def stored_names(model: nn.Module) -> dict[str, str | None]:
    """Our name of each tensor → the name it is stored under; None if the same tensor is already stored under another
    name (a tied decoder, a shared block)."""
    relative, names, seen = relative_of(model.config), {}, set()
    own = relative.head_names.get(kind_of(type(model), relative), ())
    for name, tensor in model.state_dict(keep_vars=True).items():
        names[name] = None if id(tensor) in seen else their_name(name, relative, own)
        seen.add(id(tensor))
    return names


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
    config.json, serialisable as JSON. For a model with pre-training heads, OBJECTIVE is written there too. Files
    already in the directory under other names are kept, so saving again over a checkpoint replaces the model and
    nothing else.
    Raises CheckpointError for a model with replaced components: no model_type describes it, it would load as another.
    """
    components = vars((model if isinstance(model, Bert) else model.bert).components)
    usual = vars(components_of(model.config))
    if own := [name for name in usual if components[name] != usual[name]]:
        raise CheckpointError(
            f"this model has {', '.join(own)} of its own, and the model_type {model.config.model_type!r} does not "
            "say so: it would come back as another. Give it a file in minibert/relatives to save it"
        )
    names, layout = stored_names(model), relative_of(model.config).layout
    as_stored = layout[0] if layout else lambda name, weight, config: weight
    state = {
        names[name]: as_stored(names[name], value.detach().cpu().to(dtype or value.dtype), model.config).contiguous()
        for name, value in model.state_dict().items()
        if names[name] is not None
    }
    config = {
        "model_type": model.config.model_type,  # `as_dict` may replace it by the name that transformers uses
        **model.config.as_dict(),
        "architectures": [architecture(model)],
        "tie_word_embeddings": True,
        "dtype": str(dtype or torch.float32).removeprefix("torch."),
        **getattr(model, "options_to_config", dict)(),
        **({OBJECTIVE: asked} if (asked := objective_of(model)) else {}),
        **(notes or {}),
    }
    with writing(directory) as folder:
        save_file(state, folder / WEIGHTS, metadata={"format": "pt"})
        (folder / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        if tokenizer is not None:
            tokenizer.save(folder)
    return Path(directory)


def make_ready(directory) -> None:
    """Check before a long run that `writing(directory)` will work (else CheckpointError), and remove the leftovers of
    killed saves. Do not call it while another process saves to the same directory."""
    directory = Path(directory).absolute()
    try:
        for left in directory.parent.glob(f".{glob.escape(directory.name)}-{'?' * 8}{UNFINISHED}"):  # mkdtemp's pattern
            shutil.rmtree(left, ignore_errors=True)
        beside = next(folder for folder in directory.parents if os.path.lexists(folder))
        for folder in [beside, directory] if os.path.lexists(directory) else [beside]:
            with tempfile.TemporaryDirectory(prefix=f".{directory.name}-", suffix=UNFINISHED, dir=folder):
                pass
        for name in (CONFIG, WEIGHTS):
            if (directory / name).is_dir():
                raise IsADirectoryError(errno.EISDIR, f"{name} in it is a directory")
    except OSError as error:
        raise CheckpointError(f"{directory} cannot be written: {error.strerror}") from None


def objective_of(model: nn.Module) -> str | None:
    """The name of a model's pre-training objective: its class's (`asked`) if it has one, else its relative's; None for
    a model without pre-training heads."""
    name = objective_for(model.config).name if isinstance(model, BertForPreTraining) else None
    return getattr(model, "asked", name)


@contextmanager
def writing(directory) -> Iterator[Path]:
    """A temporary folder beside `directory`; what was written there moves in, file by file, only if nothing failed."""
    directory = Path(directory)
    directory.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", suffix=UNFINISHED, dir=directory.parent))
    folder.chmod(0o755)
    try:
        yield folder
        for file in folder.iterdir():
            file.chmod(0o644)  # safetensors makes it readable by its owner only
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
        config = config_from(values)
    except ValueError as error:
        raise CheckpointError(f"{config_file}: {error}") from error
    relative = relative_of(config)
    stored = stored_weights(directory, relative)
    if relative.layout:
        stored = {name: relative.layout[1](name, weight, config) for name, weight in stored.items()}
    heads = their_name("mlm.decoder.bias", relative) in stored
    saved_as = (values.get("architectures") or [f"{relative.prefix}{'ForPreTraining' if heads else 'Model'}"])[0]
    saved_kind = class_of(saved_as, relative, config_file)
    if kind is None or issubclass(saved_kind, kind):
        kind = saved_kind
    elif kind is BertForPreTraining and "ForPreTraining" in relative.heads:
        raise CheckpointError(
            f"{directory}: this {relative.title} was not pre-trained by guessing hidden words: it has no masked-LM head"
        )
    try:
        options = {**getattr(kind, "options_from_config", lambda values: {})(values), **options}
        with sizes_only():
            outline = build(config, kind, **options)
    except ValueError as error:
        raise CheckpointError(f"{config_file}: {error}") from error
    state = matched(outline, stored, directory, strict=kind is saved_kind)
    with filled_later():
        model = build(config, kind, **options)
    for part in lacking(model, state):
        initialize(part, config.initializer_range)
    model.load_state_dict(state, strict=False)
    return model.eval()


def lacking(model: nn.Module, state: Mapping[str, torch.Tensor]) -> list[nn.Module]:
    """Modules of an encoder or masked-LM head that own a weight neither stored nor tied to a stored one."""
    known = {id(tensor) for name, tensor in model.state_dict(keep_vars=True).items() if name in state}
    return [
        part
        for whole in model.modules()
        if isinstance(whole, Bert | MlmHead)
        for part in whole.modules()
        if any(id(weight) not in known for weight in part.parameters(recurse=False))
    ]


def stored_weights(directory: Path, relative: Relative) -> dict[str, torch.Tensor]:
    """The tensors of the directory, all finite; old LayerNorm names are updated, tied copies dropped."""
    try:
        stored = load_file(existing(directory, WEIGHTS))
    except SafetensorError as error:
        raise CheckpointError(f"{directory / WEIGHTS} is damaged or not a safetensors file: {error}") from error
    for old, new in OLD_NAMES.items():
        stored = {name.removesuffix(old) + new if name.endswith(old) else name: x for name, x in stored.items()}
    for copy, original in copies(relative).items():
        if copy in stored and original in stored and not torch.equal(stored.pop(copy), stored[original]):
            raise CheckpointError(f"{directory}: {copy} differs from {original}, and here they are one (tied)")
    check_finite(stored, directory / WEIGHTS)
    return {name: tensor for name, tensor in stored.items() if not name.endswith("embeddings.position_ids")}


def check_finite(tensors: Mapping[str, torch.Tensor], file: Path) -> None:
    """Raise CheckpointError for NaN, infinite or complex weights, which would spoil every output."""
    for name, tensor in tensors.items():
        if tensor.is_complex() or not tensor.float().isfinite().all():
            raise CheckpointError(f"{file}: {name} holds what is no finite number")


def config_values(directory) -> dict:
    """All entries of the directory's config.json but nulls; those in KINDS are type-checked."""
    file = existing(Path(directory), CONFIG)
    try:
        values = {name: value for name, value in json_object(file).items() if value is not None}
    except ValueError as error:
        raise CheckpointError(str(error)) from None
    try:
        check_kinds(values, KINDS)
    except ValueError as error:
        raise CheckpointError(f"{file}: {error}") from None
    for name in ("id2label", "intents", "tags"):
        if len(values.get(name, ())) > MOST_LABELS:
            raise CheckpointError(f"{file}: {name} has {len(values[name]):,} labels; at most {MOST_LABELS:,} are read")
    if not 0 < values.get("num_labels", 2) <= MOST_LABELS:
        raise CheckpointError(f"{file}: num_labels is {values['num_labels']:,}, not a number from 1 to {MOST_LABELS:,}")
    return values


def matched(model: nn.Module, stored: dict, directory: Path, *, strict: bool) -> dict[str, torch.Tensor]:
    """The stored weights by their names in `model`, which only provides shapes. Raises CheckpointError if a shape
    differs, a weight of the encoder is missing or, if `strict`, one is unknown."""
    stored = dict(stored)
    prefix = f"{relative_of(model.config).encoder}."
    bare = not any(name.startswith(prefix) for name in stored)
    wanted, names = model.state_dict(), stored_names(model)
    state, missing = {}, {}
    for name, value in wanted.items():
        if names[name] is None:
            continue
        key = names[name].removeprefix(prefix) if bare else names[name]
        if isinstance(model, Bert) and not bare:
            key = prefix + key
        if key not in stored:
            missing[name] = key
        elif stored[key].shape != value.shape:
            has, wants = tuple(stored[key].shape), tuple(value.shape)
            raise CheckpointError(f"{directory}: {key} has shape {has} where config.json asks for {wants}")
        else:
            state[name] = stored.pop(key)
    # A checkpoint may lack what its class can do without (a masked-LM file has no next-sentence head or pooler);
    # the encoder itself may never be incomplete.
    unfilled = [
        key for name, key in missing.items() if name.removeprefix("bert.").startswith(("embeddings.", "blocks."))
    ]
    unknown = set(stored) if strict else set()
    if unfilled or unknown:
        unknown_name = f"holds {sorted(unknown)[0]}, which is no part of this model" if unknown else ""
        problem = f"lacks {sorted(unfilled)[0]}" if unfilled else unknown_name
        raise CheckpointError(f"{directory / WEIGHTS} {problem} ({len(unfilled)} missing, {len(unknown)} unknown)")
    return state


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
    """The tokenizer saved with the model: a WordPiece, or a byte-level BPE where its files are there."""
    if is_byte_level(Path(directory)):
        return ByteTokenizer.from_directory(directory)
    if not (Path(directory) / "tokenizer.json").is_file():  # transformers 5 writes only this one
        existing(Path(directory), "vocab.txt")
    return Tokenizer.from_directory(directory)
