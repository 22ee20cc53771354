"""Display names of the parts and groups of the counts, parts as a table, and the point clicked in a figure."""

from collections.abc import Iterable, Mapping

import streamlit as st

from minibert.count import CostTerm
from ui.translations import _, pgettext


def slider_labels(*, short: bool = False) -> dict[str, str]:
    """Letter → slider label. short: for eight sliders in a row."""
    if short:
        return {
            "L": _("L layers"),
            "H": _("H hidden"),
            "A": _("A heads"),
            "F": _("F feed"),
            "V": _("V vocab"),
            "P": _("P places"),
            "T": _("T tokens"),
            "B": _("B batch"),
        }
    return {
        "L": _("L layers"),
        "H": _("H hidden size"),
        "A": _("A heads"),
        "F": _("F feed-forward"),
        "V": _("V vocabulary"),
        "P": _("P positions"),
        "T": _("T tokens"),
        "B": _("B batch size"),
    }


def part_names() -> dict[str, str]:
    return {
        "embeddings.token": _("token"),
        "embeddings.position": _("position"),
        "embeddings.segment": _("segment"),
        "embeddings.norm": _("LayerNorm of the embeddings"),
        "embeddings.projection": _("projection E → H"),
        "embeddings.query": _("what a place begins as"),
        "block.attn.query": _("query"),
        "block.attn.key": _("key"),
        "block.attn.value": _("value"),
        "block.attn.output": _("output"),
        "block.attn.distance": _("distances"),
        "block.attn.distance_bias": _("bias for distances"),
        "block.attn.segment": _("same segment, another"),
        "block.attn.segment_bias": _("bias for segments"),
        "block.attn_norm": _("LayerNorm after attention"),
        "block.mlp.expand": _("feed-forward, H → F"),
        "block.mlp.contract": _("feed-forward, F → H"),
        "block.mlp_norm": _("LayerNorm after feed-forward"),
        "pooler.dense": _("pooler"),
        "mlm.dense": _("MLM head, dense"),
        "mlm.norm": _("MLM head, LayerNorm"),
        "mlm.decoder": _("MLM head, output biases"),
        "rtd.dense": _("replaced-token head, dense"),
        "rtd.decoder": _("replaced-token head, decision"),
        "nsp": _("sentence-pair head"),
        "names": _("head for names"),
        "sbo.position": _("boundary head, places in a span"),
        "sbo.first": _("boundary head, first layer"),
        "sbo.first_norm": _("boundary head, first LayerNorm"),
        "sbo.second": _("boundary head, second layer"),
        "sbo.second_norm": _("boundary head, second LayerNorm"),
        "sbo.decoder": _("boundary head, output"),
    }


def group_names() -> dict[str, str]:
    return {
        "embeddings": _("embeddings"),
        "attention": _("attention"),
        "scores": _("T × T scores"),
        "mlp": _("feed-forward"),
        "norms": _("LayerNorms"),
        "heads": pgettext("on top of a model", "heads"),
        "weights": _("weights"),
        "gradients": _("gradients"),
        "moments": _("the optimizer's moments"),
        "copies": _("bf16 copies of the weights"),
        "activations": _("activations"),
        "working": _("largest temporary values"),
        "summing": _("the tied matrix's two gradients"),
    }


def part_table(parts: Iterable[CostTerm], names: Mapping[str, str] | None = None) -> list[dict]:
    """One row per part: its formula, number of copies, and parameter count."""
    return [
        {
            _("part"): (names or {}).get(part.name, part.name),
            _("formula"): part.formula,
            _("copies"): part.times,
            _("number"): part.total,
        }
        for part in parts
    ]


def clicked_name(chart: str) -> str | None:
    """The name attached to the clicked point of a figure."""
    points = st.session_state[chart].selection.points
    data = points[0].get("customdata") if points else None
    return data[0] if isinstance(data, list) else data
