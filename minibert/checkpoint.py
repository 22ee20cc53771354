"""Load and save in the Hugging Face layout: config.json, model.safetensors, vocab.txt. Never a pickle.

`load(save(m))` is m, `transformers` loads what we save, and we load what it saves. For BERT only names differ, so the
conversion is a table: NAMES, after those of a relative of BERT, which may also store weights in another `layout`.
"""

from __future__ import annotations

import errno
import glob
import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, get_type_hints, overload

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import nn

from minibert.checkpoint_files import CONFIG, WEIGHTS, CheckpointError, existing, weight_files
from minibert.checkpoint_files import load_tokenizer as load_tokenizer
from minibert.heads import (
    BertForCloze,
    BertForIntentAndEntities,
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    HeadOptions,
    TaskHead,
)
from minibert.model import Bert, BertForPreTraining, MlmHead, initialize
from minibert.relatives import Relative, build, components_of, config_from, objective_for, relative_of
from minibert.relatives.parts.masked_lm import MaskedLm
from minibert.text.json_values import check_kinds, json_object
from minibert.tokenizer import Tokenizer
from minibert.training.mapped_weights import load_mapped
from minibert.training.skip_init import sizes_only, skip_init

M = TypeVar("M", bound=nn.Module)

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
# Names of classes in config.json, without the relative's prefix: Bert…, Albert….
ARCHITECTURES = {
    "Model": Bert,
    "ForMaskedLM": MaskedLm,
    "ForPreTraining": BertForPreTraining,
    "ForSequenceClassification": BertForSequenceClassification,
    "ForTokenClassification": BertForTokenClassification,
    "ForQuestionAnswering": BertForQuestionAnswering,
    "ForMultipleChoice": BertForMultipleChoice,
    "ForIntentAndEntities": BertForIntentAndEntities,
    "ForCloze": BertForCloze,
}


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


def architecture(model: Any) -> str:
    """The name of the class in transformers: `BertForPreTraining`, `AlbertModel`."""
    relative = relative_of(model.config)
    return relative.prefix + kind_of(type(model), relative)


def kind_of(cls: type[nn.Module], relative: Relative) -> str:
    """The class name without its prefix, e.g. `ForPreTraining`."""
    known = (*relative.heads.items(), *ARCHITECTURES.items())
    return next((name for name, head in known if head is cls), cls.__name__.removeprefix("Bert"))


def class_of(architecture: str, relative: Relative, file: Path) -> type[nn.Module]:
    """The class of an architecture name, the inverse of `architecture`. Raises CheckpointError for an unknown one."""
    kind = architecture.removeprefix(relative.prefix)
    classes = {**ARCHITECTURES, **relative.heads}
    if not architecture.startswith(relative.prefix) or kind not in classes:
        known = ", ".join(relative.prefix + name for name in classes)
        raise CheckpointError(f"{file}: {architecture} is not one of {known}")
    return classes[kind]


def stored_names(model: Any) -> dict[str, str | None]:
    """Our name of each tensor → the name it is stored under; None if the same tensor is already stored under another
    name (a tied decoder, a shared block)."""
    relative, names, stored = relative_of(model.config), {}, set()
    own = relative.head_names.get(kind_of(type(model), relative), ())
    for name, tensor in model.state_dict(keep_vars=True).items():
        names[name] = None if id(tensor) in stored else their_name(name, relative, own)
        stored.add(id(tensor))
    return names


def save(
    directory: str | Path,
    model: Any,
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
        stored: as_stored(stored, value.detach().cpu().to(dtype or value.dtype), model.config).contiguous()
        for name, value in model.state_dict().items()
        if (stored := names[name]) is not None
    }
    config = {
        "model_type": model.config.model_type,  # `as_dict` may replace it by the name that transformers uses
        **model.config.as_dict(),
        "architectures": [architecture(model)],
        "tie_word_embeddings": True,
        "dtype": str(dtype or torch.float32).removeprefix("torch."),
        **getattr(model, "options_to_config", dict)(),
        **({OBJECTIVE: objective} if (objective := objective_of(model)) else {}),
        **(notes or {}),
    }
    with writing(directory) as folder:
        save_file(state, folder / WEIGHTS, metadata={"format": "pt"})
        (folder / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        if tokenizer is not None:
            tokenizer.save(folder)
    return Path(directory)


def make_ready(directory: str | Path) -> None:
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


def objective_of(model: Any) -> str | None:
    """The name of a model's pre-training objective: its class's `objective_name`, else its relative's; None
    for a model without pre-training heads."""
    name = objective_for(model.config).name if isinstance(model, BertForPreTraining) else None
    return getattr(model, "objective_name", name)


@contextmanager
def writing(directory: str | Path) -> Iterator[Path]:
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


@overload
def load(directory: str | Path, *, kind: type[M], new_heads: bool = False, **options: Any) -> M: ...
@overload
def load(directory: str | Path, *, kind: None = None, new_heads: bool = False, **options: Any) -> Any: ...
def load(directory: str | Path, *, kind: type[nn.Module] | None = None, new_heads: bool = False, **options: Any) -> Any:
    """The model in `directory`, in eval mode, float32, with the pre-training heads that its file holds.

    kind: another class than the one it was saved as. `Bert` is the encoder, whatever stands beside it; a task's new
    layer, which the file does not have, keeps its initial values, and so do pre-training heads with `new_heads`;
    parts the class does not have are dropped. `options` go to the class in place of what config.json says, e.g.
    `labels=["no", "yes"]`.

    Raises CheckpointError: not a model, a pickled one, sizes that disagree with config.json, missing weights or heads.
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
    saved_kind = Bert if kind is Bert else saved_class(values, relative, stored, config_file)
    if kind is None or (issubclass(saved_kind, kind) and kind is not Bert and not new_heads):
        kind, strict = saved_kind, True
    else:
        strict = False
    both = kind is MaskedLm and saved_kind is BertForPreTraining  # its next-sentence head is dropped
    if not strict and issubclass(kind, BertForPreTraining) and not (new_heads or both):
        raise CheckpointError(
            f"{directory}: this {relative.title} was not pre-trained by guessing hidden words: it has no masked-LM head"
        )
    try:
        if hasattr(kind, "options_from_config"):
            options = {**kind.options_from_config(values), **options}
        with sizes_only():
            outline = build(config, kind, **options)
    except ValueError as error:
        raise CheckpointError(f"{config_file}: {error}") from error
    state = matched(outline, stored, directory, strict=strict)
    with skip_init(whole=strict):
        model = build(config, kind, **options)
    for part in lacking(model, state):
        initialize(part, config.initializer_range)
    assign(model, state)
    return model.eval()


def assign(model: nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    """Fill weights without copying them, so that mapped ones stay mapped. Tied ones stay tied, which
    `load_state_dict(assign=True)` undoes. Raises CheckpointError for a weight of another shape."""
    for name, weight in model.state_dict(keep_vars=True).items():
        if name in state:
            if state[name].shape != weight.shape:
                has, wants = tuple(state[name].shape), tuple(weight.shape)
                raise CheckpointError(f"{name} is stored with the shape {has}, where the model has {wants}")
            weight.data = state[name].to(weight.dtype).contiguous()


def saved_class(
    values: Mapping[str, Any], relative: Relative, stored: Mapping[str, Any], file: Path
) -> type[nn.Module]:
    """The class of config.json's `architectures`; with pre-training heads, and where that is missing, the class of the
    heads in the file: bert-base-uncased calls itself a masked LM and has both."""
    mlm, pairs = (their_name(name, relative) in stored for name in ("mlm.decoder.bias", "nsp.weight"))
    kind = "ForPreTraining" if mlm and pairs else "ForMaskedLM" if mlm else "Model"
    name = (values.get("architectures") or [relative.prefix + kind])[0]
    saved = class_of(name, relative, file)
    if saved not in (BertForPreTraining, MaskedLm):
        return saved
    if not mlm:
        raise CheckpointError(f"{file}: {name} has a masked-LM head, and the weights beside it do not hold one")
    return BertForPreTraining if pairs else MaskedLm


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
    stored: dict[str, torch.Tensor] = {}
    for file in weight_files(directory):
        try:
            stored |= load_mapped(file)
        except SafetensorError as error:
            raise CheckpointError(f"{file} is damaged or not a safetensors file: {error}") from error
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
        if tensor.is_complex() or not is_finite(tensor):
            raise CheckpointError(f"{file}: {name} holds what is no finite number")


def is_finite(tensor: torch.Tensor) -> bool:
    # The extremes are NaN if any number is; thirty times as quick as asking each. torch has none of 8-bit floats.
    usual = tensor if tensor.is_floating_point() and tensor.itemsize > 1 else tensor.float()
    return not tensor.numel() or all(map(math.isfinite, usual.aminmax()))


def config_values(directory: str | Path) -> dict[str, Any]:
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


def matched(
    model: Any, stored: Mapping[str, torch.Tensor], directory: Path, *, strict: bool
) -> dict[str, torch.Tensor]:
    """The stored weights by their names in `model`, which only provides shapes. Raises CheckpointError if a shape
    differs, a weight of the encoder is missing or, if `strict`, any that the model reads, or one is unknown."""
    left, relative = dict(stored), relative_of(model.config)
    prefix, here = f"{relative.encoder}.", encoder_prefix(stored, relative)
    expected, names = model.state_dict(), stored_names(model)
    state, missing = {}, {}
    for name, value in expected.items():
        if (key := names[name]) is None:
            continue
        if isinstance(model, Bert) or key.startswith(prefix):
            key = here + key.removeprefix(prefix)
        if key not in left:
            missing[name] = key
        elif left[key].shape != value.shape:
            has, wants = tuple(left[key].shape), tuple(value.shape)
            raise CheckpointError(f"{directory}: {key} has shape {has} where config.json asks for {wants}")
        else:
            state[name] = left.pop(key)
    lacks = [key for name, key in missing.items() if needed(name.removeprefix("bert."), model, strict)]
    unknown = sorted(left) if strict else []
    if lacks or unknown:
        why = f"lacks {min(lacks)}" if lacks else f"holds {unknown[0]}, which is no part of this model"
        raise CheckpointError(f"{directory / WEIGHTS} {why} ({len(lacks)} missing, {len(unknown)} unknown)")
    return state


def encoder_prefix(stored: Mapping[str, Any], relative: Relative) -> str:
    """What precedes the encoder's names in a file: "bert.", nothing, or what another class calls the encoder."""
    table, usual = their_name("embeddings.token.weight", relative), f"{relative.encoder}."
    found = {name.removesuffix(table) for name in stored if name == table or name.endswith(f".{table}")}
    if usual in found or (not found and any(name.startswith(usual) for name in stored)):
        return usual
    return found.pop() if len(found) == 1 else ""


def needed(name: str, model: Any, strict: bool) -> bool:
    """Whether a file must hold a weight: any of the encoder; if `strict`, a head's, and the pooler's if it is read."""
    if name.startswith(("embeddings.", "blocks.")):
        return True
    if not strict or not name.startswith("pooler."):
        return strict
    if isinstance(model, TaskHead):
        return model.one_vector and model.reading.pooling == "pooler"
    return isinstance(model, BertForPreTraining) and not isinstance(model, MaskedLm)
