"""The files of a checkpoint directory, and why one is refused: what is said without weights, so without torch.

Pages import this before they are drawn, so what takes a moment is imported where it is needed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from minibert.text.json_values import check_kinds, json_object
from minibert.text.shortened import ShortError

if TYPE_CHECKING:
    from minibert.tokenizer import Tokenizer

WEIGHTS, CONFIG = "model.safetensors", "config.json"
SHARDS = f"{WEIGHTS}.index.json"  # name of each tensor → file, where transformers has cut the weights into several
POINTER = b"version https://git-lfs"  # the first bytes of a file that Git LFS has not fetched
PICKLES = {".bin", ".pt", ".pth", ".ckpt", ".pkl"}
ELSEWHERE = {".h5": "Keras", ".msgpack": "Flax", ".index": "TensorFlow", ".meta": "TensorFlow", ".onnx": "ONNX"}


class CheckpointError(ShortError):
    """A directory that does not hold a model we can load; the message says what is wrong and what to do."""


def existing(directory: Path, name: str) -> Path:
    """The file of that name. Raises CheckpointError, which says what is there instead."""
    file = directory / name
    if file.is_file():
        with file.open("rb") as stream:
            if stream.read(len(POINTER)) == POINTER:
                raise CheckpointError(f"{file} is a Git LFS pointer, not the file itself: `git lfs pull` fetches it")
        return file
    if not directory.is_dir():
        raise CheckpointError(f"{directory} is not a directory")
    others = sorted(path.name for path in directory.iterdir())
    if name in (CONFIG, WEIGHTS) and "bert_config.json" in others:
        raise CheckpointError(
            f"{directory} has no {name}: bert_config.json and bert_model.ckpt are Google's TensorFlow release. Convert "
            "it with transformers and save it with `save_pretrained`"
        )
    if name == CONFIG and "modules.json" in others:
        raise CheckpointError(f"{directory} has no {name}: modules.json says which folder in it holds the encoder")
    if name == WEIGHTS and (pickled := [other for other in others if Path(other).suffix in PICKLES]):
        raise CheckpointError(
            f"{directory / pickled[0]} is a pickled checkpoint, and loading a pickle can run any code it holds. "
            "Convert it to model.safetensors where it came from (`save_pretrained` of transformers does)."
        )
    if name == WEIGHTS and (foreign := [other for other in others if Path(other).suffix in ELSEWHERE]):
        raise CheckpointError(
            f"{directory} has no {name}: {foreign[0]} is a file of {ELSEWHERE[Path(foreign[0]).suffix]}. Convert it to "
            "model.safetensors where it came from"
        )
    if name == WEIGHTS and (named := [other for other in others if other.endswith(".safetensors")]):
        raise CheckpointError(f"{directory} has no {name}, the name under which weights are read; it has {named[0]}")
    if name not in (CONFIG, WEIGHTS) and (directory / CONFIG).is_file():
        raise CheckpointError(f"{directory} has no {name}")
    raise CheckpointError(f"{directory} has no {name}: it is not a saved model")


def weight_files(directory: Path) -> list[Path]:
    """model.safetensors, or the parts that its index lists."""
    if (directory / WEIGHTS).is_file() or not (directory / SHARDS).is_file():
        return [existing(directory, WEIGHTS)]
    try:
        index = json_object(directory / SHARDS)
        check_kinds({"weight_map": index.get("weight_map")}, {"weight_map": dict[str, str]})
    except ValueError as error:
        raise CheckpointError(f"{directory / SHARDS}: {error}") from None
    names = sorted(set(index["weight_map"].values()))
    if strange := [name for name in names if Path(name).name != name]:
        raise CheckpointError(f"{directory / SHARDS}: {strange[0]} is not a file beside it")
    return [existing(directory, name) for name in names]


def load_tokenizer(directory: str | Path) -> Tokenizer:
    """The tokenizer saved with the model: a WordPiece, a byte-level BPE or a unigram model, as its files say."""
    from minibert.text.byte_tokenizer import ByteTokenizer, is_byte_level
    from minibert.text.unigram_tokenizer import UnigramTokenizer, is_unigram
    from minibert.tokenizer import Tokenizer

    directory = Path(directory)
    if is_byte_level(directory):
        return ByteTokenizer.from_directory(directory)
    if is_unigram(directory):
        return UnigramTokenizer.from_directory(directory)
    described = (directory / "tokenizer.json").is_file()  # transformers 5 writes only this one
    found = described or (directory / "vocab.txt").is_file()
    if not found and (pieces := [file.name for file in directory.glob("*.model")]):
        raise CheckpointError(
            f"{directory} has {min(pieces)}, and no tokenizer.json: transformers writes one "
            "(`AutoTokenizer.from_pretrained(…).save_pretrained(…)`)"
        )
    existing(directory, "tokenizer.json" if described else "vocab.txt")
    return Tokenizer.from_directory(directory)


def refusal(directory: Path) -> str | None:
    """Why no model can be opened from a directory, without a look at its weights; None if nothing is wrong."""
    from minibert.relatives import check_model_type

    try:
        check_model_type(json_object(existing(directory, CONFIG)).get("model_type", "bert"))
        weight_files(directory)
        load_tokenizer(directory)
    except (ValueError, OSError) as error:
        return str(error)
    return None


def changed(directory: Path) -> int:
    """Changes with the weights of a directory: the newest file's time; 0 without weights."""
    try:
        with os.scandir(directory) as files:  # a run of a page asks thirty times
            return max((file.stat().st_mtime_ns for file in files if file.name.endswith(".safetensors")), default=0)
    except (FileNotFoundError, NotADirectoryError):
        return 0
