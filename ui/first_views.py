"""What a page shows first and takes long to compute: made once, stored beside the lesson, and read by whoever asks for
exactly that. Another sentence, model or layer is computed live.

    python -m bench.first_views           # makes all of them again, after a change of weights, examples or code
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from minibert.folders import CHECKPOINTS, LESSONS
from ui.model_registry import model_named, peer_named

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

FOLDER = "first_views"  # in lessons/<lesson>
TOLERANCE = 1e-5

mode: Literal["read", "write", "check"] = "read"  # bench.first_views writes, a release test checks
used: set[Path] = set()  # the files that have been asked for, in other modes than "read"


class Outdated(AssertionError):
    """A stored result differs from the one computed now; the message names the file."""


def first_view(
    lesson: str, name: str, model: str, inputs: Any, make: Callable[[], Mapping[str, np.ndarray]]
) -> dict[str, np.ndarray]:
    """`make()`, or the same from a file, if it is stored for exactly this.

    model: its name; stored are those that ship, packaged ones, and random weights; "" where none of these is read ·
    inputs: values of JSON, all that the result depends on besides the model's weights and the code.
    """
    import numpy as np

    file = _file(lesson, name, model, inputs)
    if file is None:
        return dict(make())
    if mode == "write":
        used.add(file)
        file.parent.mkdir(exist_ok=True)
        np.savez_compressed(file, allow_pickle=False, **make())
    if not file.is_file():
        if mode == "check":
            raise Outdated(f"{file.name} is missing")
        return dict(make())
    with np.load(file, allow_pickle=False) as arrays:
        result = dict(arrays)
    if mode == "check":
        used.add(file)
        check(file, result, make())
    return result


def stored(lesson: str, name: str, model: str, inputs: Any) -> bool:
    """Whether `first_view` of the same arguments reads a file; who makes or checks files is not told to wait."""
    file = _file(lesson, name, model, inputs)
    return file is not None and (mode != "read" or file.is_file())


def _file(lesson: str, name: str, model: str, inputs: Any) -> Path | None:
    if model and not _never_changes(model):
        return None
    key = hashlib.sha256(json.dumps([model, inputs], ensure_ascii=False).encode()).hexdigest()[:16]
    return LESSONS / lesson / FOLDER / f"{name}-{key}.npz"


def _never_changes(model: str) -> bool:
    """Whether its weights are the same wherever this release runs."""
    directory = model_named(model).directory
    if directory is None or directory.parent == CHECKPOINTS:  # random weights have none, and a fixed seed
        return True
    peer = peer_named(model)
    return peer is not None and directory == peer.directory  # a package of known hash


def check(file: Path, kept: Mapping[str, np.ndarray], computed: Mapping[str, np.ndarray]) -> None:
    """Raise Outdated where a stored array is not the one computed now."""
    import numpy as np

    for name in sorted({*kept, *computed}):
        ours, theirs = kept.get(name), computed.get(name)
        if ours is None or theirs is None or np.shape(ours) != np.shape(theirs):
            raise Outdated(f"{file.name}: {name} is missing, or has another shape")
        numbers = np.issubdtype(ours.dtype, np.number)
        if numbers:  # of the number itself where that is over 1: processors add in other orders
            scale = np.fmax(1, np.abs(theirs))  # 1 where there is no number
            same = np.allclose(ours / scale, theirs / scale, rtol=0, atol=TOLERANCE, equal_nan=True)
        else:
            same = np.all(ours == theirs)
        if not same:
            raise Outdated(f"{file.name}: {name} is not what is computed now")
