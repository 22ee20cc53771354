"""The masking figures carry the numbers they are given and tell things apart without colour."""

import math

import numpy as np
import pytest

from plots import masking


def test_percent():
    said = {1: "100.0", 0.971: "97.1", 0.0234: "2.3", 0.01: "1.0", 0.00999: "1.00", 0.0014: "0.14", 2.1e-5: "0.0021"}
    assert {share: masking.percent(share) for share in said} == {share: f"{said[share]}\u00a0%" for share in said}
    assert masking.percent(0) == "0.0\u00a0%" and float(masking.percent(1e-300).removesuffix("\u00a0%")) == 0
    assert 0 < float(masking.percent(1e-12).removesuffix("\u00a0%")) < 1e-9


def test_rows_show_each_fate_where_it_happened():
    tokens = ["the", "dog", "##s", "barked"]
    rows = [["untouched", "masked", "untouched", "kept"], ["random", "untouched", "untouched", "masked"]]
    fig = masking.mask_rows(tokens, rows, ["first", "second"])
    drawn = {}
    for trace, fate in zip(fig.data, masking.FATE_COLOURS, strict=True):
        for (row, column), cell in np.ndenumerate(np.array(trace.z)):
            assert trace.text[row][column] == ("" if cell is None else masking.FATE_LETTERS[fate])
            if cell is not None:
                assert (row, column) not in drawn
                drawn[row, column] = fate
    assert drawn == {(r, c): fate for r, row in enumerate(rows) for c, fate in enumerate(row)}
    assert (fig.layout.xaxis.ticktext, fig.layout.yaxis.ticktext) == (tuple(tokens), ("first", "second"))
    assert len(set(masking.FATE_LETTERS.values())) == len(set(masking.FATE_COLOURS.values())) == 4
    assert [trace.name for trace in fig.data] == ["not chosen", "M [MASK]", "R random token", "K kept"]
    assert all(trace.showlegend for trace in fig.data)
    assert masking.mask_rows(["a"], [["masked"]], ["1"]).layout.xaxis.range == (-0.5, 11.5)
    assert len(masking.mask_rows([], [], []).data) == 4


def test_bars_show_tokens_probabilities_and_marks_and_those_of_several_blanks_share_one_scale():
    blank = masking.Blank("a [MASK]", ["cat", "dog", "cow"], [0.5, 0.25, 0.001], {2: "rank 9"}, {2: "true", 1: "shown"})
    fig = masking.expected_tokens([blank])
    (bar,) = fig.data
    assert list(bar.x) == [0.5, 0.25, 0.001]
    assert list(bar.text) == ["50.0\u00a0%", "25.0\u00a0%", "0.10\u00a0%  rank 9"]
    assert bar.marker.color[1:] == (masking.ROLE_COLOURS["shown"], masking.ROLE_COLOURS["true"])
    assert bar.marker.color[0] not in masking.ROLE_COLOURS.values()
    labels = [label.strip() for label in fig.layout.yaxis.ticktext]
    assert labels == ["cat", f"{masking.ROLE_SYMBOLS['shown']} dog", f"{masking.ROLE_SYMBOLS['true']} cow"]
    assert fig.layout.yaxis.range[0] > fig.layout.yaxis.range[1]  # the likeliest on top
    assert fig.layout.annotations[0].text == "a [MASK]"
    blanks = [masking.Blank(str(i), ["a", "a"], [0.1 * (i + 1), 0.01]) for i in range(5)]
    fig = masking.expected_tokens(blanks)
    assert [list(bar.y) for bar in fig.data] == [[0, 1]] * 5  # a token that stands twice keeps both bars
    ((_low, high),) = {axis.range for axis in fig.select_xaxes() if axis.range}
    assert high >= 1  # of all that is possible, not of the likeliest
    assert fig.layout.height > masking.expected_tokens(blanks[:3]).layout.height  # a second row of panels


def distributions(size=400, seed=0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=size) * 3
    other = logits + rng.normal(size=size)
    return [x - np.log(np.exp(x).sum()) for x in (logits, other)]


def test_every_token_is_a_point_at_its_probabilities():
    log_p, log_q = distributions()  # few enough to have a place each
    tokens = [f"t{i}" for i in range(400)]
    movers = list(np.argsort(-(np.exp(log_p) - np.exp(log_q)) * (log_p - log_q))[:12])
    fig = masking.two_contexts(tokens, log_p, log_q, movers)
    cloud, diagonal, first, second = fig.data
    alone = {name: place for name, *place in zip(cloud.customdata, cloud.x, cloud.y, strict=True) if name in tokens}
    assert len(alone) > 350
    for name, place in alone.items():
        assert np.log(place) == pytest.approx([log_p[tokens.index(name)], log_q[tokens.index(name)]])
    assert list(diagonal.x) == list(diagonal.y)
    assert fig.layout.xaxis.type == fig.layout.yaxis.type == "log"
    assert fig.layout.xaxis.range == fig.layout.yaxis.range
    assert fig.layout.xaxis.range[0] < min(log_p.min(), log_q.min()) / math.log(10)
    assert (np.asarray(first.x) > np.asarray(first.y)).all()
    assert (np.asarray(second.x) < np.asarray(second.y)).all()
    assert sorted([*first.customdata, *second.customdata]) == sorted(tokens[i] for i in movers)
    assert first.marker.symbol != second.marker.symbol
    written = {text for trace in (first, second) for text in trace.text if text}
    assert tokens[movers[0]] in written <= {tokens[i] for i in movers}


def test_thirty_thousand_tokens_are_all_counted_in_few_points():
    log_p, log_q = distributions(30_000)
    cloud = masking.two_contexts([f"t{i}" for i in range(30_000)], log_p, log_q, []).data[0]
    assert cloud.type == "scatter"  # no WebGL
    assert len(cloud.x) < 20_000
    assert sum(1 + int(([*label.split(" +"), "0"])[1]) for label in cloud.customdata) == 30_000


def test_names_do_not_lie_on_each_other():
    """Twenty points in a heap: some are named, and not all."""
    log_p, log_q = np.full((2, 200), -12.0)
    log_p[:20], log_q[:20] = -2 - 0.001 * np.arange(20), -3
    fig = masking.two_contexts([f"token{i}" for i in range(200)], log_p, log_q, list(range(20)))
    assert 1 <= len([text for trace in fig.data[2:] for text in trace.text if text]) <= 4
    assert len(masking.two_contexts([f"token{i}" for i in range(200)], log_p, log_p, []).data) == 4  # none moves


@pytest.mark.parametrize(("rate", "split"), [(0.15, (0.8, 0.1, 0.1)), (1, (1, 0, 0)), (0, (0.2, 0.3, 0.5))])
def test_what_is_read_is_a_whole(rate, split):
    bars = {trace.name.split("  ")[0]: trace.x for trace in masking.what_is_read(rate, split).data}
    assert sum(x[0] for x in bars.values()) == pytest.approx(1)
    assert [x[1] for x in bars.values()] == [1, 0, 0, 0]  # fine-tuning: ordinary words only
    shares = [bars[name][0] for name in ("[MASK]", "random token", "kept")]
    assert shares == pytest.approx([rate * share for share in split])


def test_every_score_is_written_and_placed_and_what_is_worse_has_another_shape():
    scores = {"MNLI": [84.2, 84.3, 83.6], "NER": [95.4, 94.9, 94.9]}
    fig = masking.ablation(["ours", "all", "none"], scores)
    for trace, values in zip(fig.data, scores.values(), strict=True):
        assert list(trace.x) == [float(text) for text in trace.text] == values
    assert list(fig.layout.yaxis.ticktext) == ["ours", "all", "none"]
    ranges = [axis.range for axis in fig.select_xaxes()]
    assert len({round(high - low, 9) for low, high in ranges}) == 1  # a tenth of a point is as wide in every panel
    for (low, high), values in zip(ranges, scores.values(), strict=True):
        assert low < min(values) <= max(values) < high
    assert list(fig.data[0].marker.symbol) == ["star", "circle", "diamond"]
    assert list(fig.data[1].marker.symbol) == ["star", "diamond", "diamond"]
    assert len({colour for colour, _ in masking.OUTCOMES.values()}) == 3
    assert [shape.x0 for shape in fig.layout.shapes if shape.type == "line"] == [84.2, 95.4]
