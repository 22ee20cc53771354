"""Payloads: read back as a browser reads them, they are the numbers to a byte's precision, and small."""

import json
from base64 import b64decode

import numpy as np
import pytest
import torch

from minibert.inside.heads.attention_summary import small_copies, strongest_edges
from plots.attention_payloads import heads_payload, lines_payload, matrix_payload


def unpacked(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(b64decode(text), dtype=kind)


@pytest.fixture(scope="module")
def probs():
    return (2 * torch.randn(12, 12, 64, 64, generator=torch.Generator().manual_seed(0))).softmax(-1)


def test_edges_come_back_where_they_were(probs):
    edges = strongest_edges(probs[3, [2, 5]], 0.7)
    payload = lines_payload(["t"] * 64, edges, [2, 5], faint=[True] + [False] * 63)
    counts, columns = (unpacked(payload[name], "<u2") for name in ("counts", "columns"))
    weights = unpacked(payload["weights"], "u1") / 255
    assert counts.sum() == len(columns) == len(weights) and len(counts) == 2 * 64
    at = np.repeat(np.arange(2 * 64), counts)
    exact = probs[3, [2, 5]].numpy()[at // 64, at % 64, columns]
    assert np.abs(weights - exact).max() <= 0.5 / 255 + 1e-6
    assert len(payload["colours"]) == 2 and payload["colours"][0] != payload["colours"][1]
    assert payload["faint"][:2] == [True, False]


def test_a_matrix_and_all_heads_come_back(probs):
    payload = matrix_payload(["t"] * 64, probs[0, 0], row=1, column=2)
    back = unpacked(payload["weights"], "u1").reshape(64, 64) / 255
    assert np.abs(back - probs[0, 0].numpy()).max() <= 0.5 / 255 + 1e-6
    assert (payload["row"], payload["column"]) == (1, 2)
    small = small_copies(probs, 32)
    payload = heads_payload(small, ["l"] * 144, ["t"] * 144, selected=(2, 3), crossed=[(0, 0), (11, 11)])
    back = unpacked(payload["weights"], "u1").reshape(12, 12, 32, 32) / 255
    assert np.abs(back - small.numpy()).max() <= 0.5 / 255 + 1e-6
    assert payload["selected"] == 27 and payload["crossed"] == [0, 143]


def test_a_large_view_takes_at_most_a_tenth_of_bertviz(probs):
    """12 layers, 12 heads, 64 tokens: everything the page sends for all heads, all lines of a layer, and a matrix."""
    theirs = len(json.dumps({"attention": probs.tolist()}))
    names = ["layer 12, head 12"] * 144
    ours = [
        heads_payload(small_copies(probs, 32), names, names, selected=(0, 0)),
        lines_payload(["token"] * 64, strongest_edges(probs[0], 1.0), range(12)),
        matrix_payload(["token"] * 64, probs[0, 0]),
    ]
    assert theirs > 12_000_000
    assert sum(len(json.dumps(payload)) for payload in ours) < theirs / 10
