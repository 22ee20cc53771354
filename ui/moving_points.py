"""Points that move from layer to layer: a custom component, because a plotly chart is redrawn at every change.

The slider, the arrow keys (in the picture or on the slider) and “Play” move them at once in the browser; the page is
notified a moment later.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ui.figures import in_words
from ui.player import component, playing
from ui.translations import _

# Groups differ by shape as well as by colour; OWN marks points that the user has added.
SHAPES = ("circle", "diamond", "square", "triangle", "cross", "wedge")
OWN = "star"
_HTML = """<div class="mb-moving">
<div class="top"><p class="finding"></p><button type="button"></button></div>
<div class="head"><ul class="legend"></ul><p class="said" aria-live="polite"></p></div>
<svg role="img" tabindex="0"></svg>
<div class="way"><input type="range" min="0" step="1" list="layers">
<div class="names"></div></div>
<datalist id="layers"></datalist>
</div>"""


@dataclass(frozen=True)
class Points:
    """identity: changes when the set of points does · layouts: (layers, N, 2), centred · layers: their names ·
    groups: names; of: group index of each point; own: group of the points the user has added, drawn as stars ·
    titles: tooltip of each point · texts: label beside each point, "" for none · findings: title of the picture at
    each layer."""

    identity: str
    layouts: Sequence[Sequence[Sequence[float]]]
    layers: Sequence[str]
    groups: Sequence[str]
    of: Sequence[int]
    titles: Sequence[str]
    texts: Sequence[str]
    own: int | None = None
    findings: Sequence[str] = ()


def moving_points(
    key: str,
    points: Points,
    *,
    layer: int,
    chosen: int | None,
    near: Sequence[Sequence[int]],
    alt: str,
    data: Any,
    rise: bool = False,
    on_layer: Callable[[], None],
    on_point: Callable[[], None],
) -> None:
    """Draw the points at a layer. on_layer, on_point: callbacks after the user changed the layer or clicked a point;
    `ui.player.reported_value` returns which. near: for each layer, the points connected to the chosen one · alt, data:
    as in `ui.figures.figure` · rise: animate points that are new to the user from the first layer up to this one."""
    from plots.theme import PALETTE

    groups = [
        {
            "name": name,
            "colour": PALETTE[number % len(PALETTE)],
            "shape": OWN if number == points.own else SHAPES[(number + number // len(PALETTE)) % len(SHAPES)],
        }
        for number, name in enumerate(points.groups)
    ]
    reach = np.abs(np.asarray(points.layouts)).max(axis=(0, 1))
    component("moving_points", _HTML, Path(__file__).with_name("moving_points"))(
        key=key,
        data={
            "identity": points.identity,
            "points": points.layouts,
            "extent": [max(float(reach[0]), 0.1), max(float(reach[1]), 0.1)],
            "layers": list(points.layers),
            "groups": groups,
            "of": list(points.of),
            "titles": list(points.titles),
            "texts": list(points.texts),
            "layer": layer,
            "chosen": chosen,
            "near": [list(row) for row in near],
            "alt": alt,
            "findings": list(points.findings),
            "rise": rise,
            "words": {
                "layer": _("Layer"),
                **playing(),
                "hint": _("Point at a mark to read it; click it for its neighbours."),
            },
        },
        on_layer_change=on_layer,
        on_point_change=on_point,
    )
    in_words(alt, f"{key}-words", data)
