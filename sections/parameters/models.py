"""The models whose sizes can be loaded, with their sizes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from minibert.config import BertConfig
from minibert.count import FAMILY, Shape
from minibert.relatives import config_from_file, relative_named, shape_of
from ui import model_registry
from ui.inputs import distinct
from ui.runs import own_models
from ui.text import visible
from ui.translations import _

START = "BERT-base"
# letter → minimum, maximum, step
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
    """The published family, the checkpoints of this classroom, and the user's own runs."""
    return {**FAMILY, **{name: shape for name, (shape, _path) in with_weights().items()}}


def with_weights() -> dict[str, tuple[Shape, Path]]:
    """Models with weights here, within the sliders' range: name → its shape and folder."""
    places = {path.parent.name: path.parent for path in sorted(model_registry.CHECKPOINTS.glob("*/config.json"))}
    runs = [info for info in map(model_registry.info_of, own_models()) if info.pretrained]
    titles = distinct({info.name: visible(info.title, spaces=False) for info in runs})
    places |= {titles[run.name]: run.directory for run in runs if titles[run.name] not in {*FAMILY, *places}}
    results = {}
    for name, path in places.items():
        try:
            model = shape_of(config_from_file(path / "config.json"))
        except (ValueError, OSError):
            continue  # still being written, or of an unknown type: other pages report it
        reached = all(RANGES[letter][0] <= model.letters[letter] <= RANGES[letter][1] for letter in "LHAFVP")
        if reached and model.shared in ("all", "none") and not model.own_letters:  # designs with switches here
            results[name] = model, path
    return results


def settings_of(model: Shape) -> dict[str, object]:
    """Widget key → value."""
    letters = model.letters
    sizes = {letter: letters[letter] for letter in "LHAFVP"}
    design = {"S": letters["S"], "E": model.embedding_size or 0, "shared": model.shared == "all"}
    own = {row.name for row in model.own}
    places = {"relative": "block.attn.relative" in own, "xl": "block.attn.distance" in own}
    return {**sizes, **design, **places, "pooler": model.pooler, "objective": model.objective}


def model_of(state: Mapping[str, Any]) -> Shape:
    """The model of these sizes. ValueError, with a message for the user, if the sizes are inconsistent."""
    hidden, heads = state["H"], state["A"]
    if hidden % heads:
        near = [a for a in range(1, hidden + 1) if hidden % a == 0]
        below, above = max(a for a in near if a < heads), min((a for a in near if a > heads), default=hidden)
        raise ValueError(
            _(
                "H = {hidden:,} cannot be shared out among A = {heads} heads: each head gets D = H/A numbers, and "
                "{hidden:,}/{heads} is not whole. Nearest that fit: A = {below} or A = {above}."
            ).format(hidden=hidden, heads=heads, below=below, above=above)
        )
    if state["objective"] in ("mlm+nsp", "mlm+sop") and not state["pooler"]:
        raise ValueError(
            _("Predicting sentence pairs reads the pooler. Switch the pooler on, or choose another pre-training.")
        )
    if state["xl"] and (state["relative"] or state["shared"] or state["E"]):
        raise ValueError(_("XLNet’s network is not also NEZHA’s or ALBERT’s: switch one of them off."))
    config = BertConfig(
        vocab_size=state["V"],
        hidden_size=hidden,
        num_hidden_layers=state["L"],
        num_attention_heads=heads,
        intermediate_size=state["F"],
        max_position_embeddings=state["P"],
        type_vocab_size=state["S"] or 1,
    )
    network = "nezha" if state["relative"] else "xlnet" if state["xl"] else None
    own = relative_named(network).shape(config).own if network else ()  # imports torch
    return Shape(
        config,
        embedding_size=state["E"] or None,
        shared="all" if state["shared"] else "none",
        segments=bool(state["S"]),
        pooler=state["pooler"],
        objective=state["objective"],
        own=own,
    )
