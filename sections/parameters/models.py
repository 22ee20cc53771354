"""The models whose sizes can be loaded, and the sizes of each."""

from pathlib import Path

from minibert.count import FAMILY, Shape, shape_of
from minibert.relatives.registry import config_from_file
from ui.inputs import distinct
from ui.models import CHECKPOINTS, info_of
from ui.runs import own_models
from ui.text import visible

START = "BERT-base"
# letter → least, most, step
RANGES = {
    "L": (1, 48, 1),
    "H": (64, 4096, 64),
    "A": (1, 64, 1),
    "F": (64, 16384, 64),
    "V": (100, 130_000, 1),
    "P": (16, 2048, 1),
    "T": (8, 2048, 8),
    "B": (1, 256, 1),
}
BATCH = {"T": 128, "B": 32}
MASKED = 0.15


def models() -> dict[str, Shape]:
    """The published family, the checkpoints of this classroom, and the reader's own runs."""
    return {**FAMILY, **{name: shape for name, (shape, _path) in with_weights().items()}}


def with_weights() -> dict[str, tuple[Shape, Path]]:
    """Models there are here, as far as the sliders reach: name → what there is to count, and where it lies."""
    places = {path.parent.name: path.parent for path in sorted(CHECKPOINTS.glob("*/config.json"))}
    runs = [info for info in map(info_of, own_models()) if info.pretrained]
    titles = distinct({info.name: visible(info.title, spaces=False) for info in runs})
    places |= {titles[run.name]: run.directory for run in runs if titles[run.name] not in {*FAMILY, *places}}
    found = {}
    for name, path in places.items():
        try:
            model = shape_of(config_from_file(path / "config.json"))
        except (ValueError, OSError):
            continue  # a checkpoint being written, or none that is known: other pages say so
        if all(RANGES[letter][0] <= model.letters[letter] <= RANGES[letter][1] for letter in "LHAFVP"):
            found[name] = model, path
    return found


def settings_of(model: Shape) -> dict[str, object]:
    """Widget key → value."""
    letters = model.letters
    sizes = {letter: letters[letter] for letter in "LHAFVP"}
    design = {"S": letters["S"], "E": model.embedding_size or 0, "shared": model.shared_layers}
    places = {"relative": model.relative_positions}
    return {**sizes, **design, **places, "pooler": model.pooler, "objective": model.objective}
