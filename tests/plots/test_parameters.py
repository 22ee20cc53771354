"""The figures of the parameters page, checked by their data: lengths, areas and labels against the counts."""

import itertools
import math

import pytest

from minibert.config import BertConfig
from minibert.count import FAMILY, by_group, flops, memory, parameters, total
from plots import parameters as plots
from plots.theme import SMALL, apply, contrast

BASE = BertConfig.preset("base")


def boxes(count, **options) -> dict[str, tuple[float, float, float, float]]:
    """Part → left, right, top, bottom on the map."""
    (bars,) = plots.mosaic(count, **options).data
    edges = zip(bars.customdata, bars.x, bars.width, bars.base, bars.y, strict=True)
    return {name: (x - width / 2, x + width / 2, base, base + y) for name, x, width, base, y in edges}


@pytest.mark.parametrize("name", FAMILY)
def test_area_on_the_map_is_the_number_of_parameters(name):
    count = parameters(FAMILY[name])
    drawn = boxes(count)
    assert list(drawn) == [part.name for part in count.parts]
    everything = total(count.parts)
    for part in count.parts:
        left, right, top, bottom = drawn[part.name]
        assert (right - left) * (bottom - top) == pytest.approx(part.total / everything)


def test_columns_of_the_map_do_not_overlap_and_fill_their_height():
    columns: dict[tuple[float, float], float] = {}
    for left, right, top, bottom in boxes(parameters(BASE)).values():
        assert top == pytest.approx(columns.get((left, right), 0))  # each part starts where the one above ends
        columns[left, right] = bottom
    assert len(columns) == 3 and all(height == pytest.approx(1) for height in columns.values())
    assert all(a[1] < b[0] for a, b in itertools.pairwise(sorted(columns)))
    veiled = boxes(parameters(BASE), veiled=True).values()  # before the guess all parts are equally large
    areas = [(right - left) * (bottom - top) for left, right, top, bottom in veiled]
    assert areas == pytest.approx([1 / len(areas)] * len(areas))


@pytest.mark.parametrize("name", ["BERT-tiny", "BERT-mini"])
def test_titles_of_narrow_columns_stand_above_each_other(name):
    first, middle, last = plots.mosaic(parameters(FAMILY[name])).layout.annotations
    assert middle.yshift > last.yshift + 40 and (first.yshift, last.yshift) == (4, 4)


def test_copies_and_selection_are_drawn_on_the_map():
    def shapes(name, kind, **options):
        return [s for s in plots.mosaic(parameters(FAMILY[name]), **options).layout.shapes if s.type == kind]

    assert len(shapes("BERT-base", "line")) == 11 and not shapes("ALBERT-base", "line")
    frames = {(s.x0, s.x1, s.y0, s.y1) for s in shapes("BERT-base", "rect", selected="block.attn.query")}
    assert len(frames) == 1 and frames.pop() == pytest.approx(boxes(parameters(BASE))["block.attn.query"])
    assert not shapes("BERT-base", "rect")


def test_labels_come_from_the_caller_and_are_read_from_the_back_row():
    fig = apply(plots.mosaic(parameters(BASE), names={"embeddings.token": "词"}, columns={"block": "层"}))
    assert fig.data[0].text[0].startswith("词 ")
    assert any(note.text.startswith("层<br>85.1 M") for note in fig.layout.annotations)
    assert all(contrast(colour, plots.ink(colour)) >= 4.5 for colour in plots.COLOURS.values())
    assert fig.layout.uniformtext.minsize >= SMALL
    assert all(bar.insidetextfont.size >= SMALL for bar in fig.data)
    assert all(note.font.size >= SMALL for note in fig.layout.annotations)


def test_shares_fill_the_bar_and_embeddings_cost_nothing():
    rows = {"parameters": by_group(parameters(BASE).parts), "flops": by_group(flops(BASE, 8, 128).parts)}
    fig = plots.shares(rows)
    assert [sum(bar.x[i] for bar in fig.data) for i in (0, 1)] == pytest.approx([1, 1])
    groups = {bar.name: bar.x for bar in fig.data}
    assert groups["embeddings"][0] == pytest.approx(23_836_416 / 110_106_428, rel=1e-3) and groups["embeddings"][1] == 0
    assert groups["scores"][0] == 0 and groups["scores"][1] > 0


@pytest.mark.parametrize("training", [True, False])
def test_the_longest_memory_bar_is_the_peak(training):
    count = memory(BASE, 4, 128, training)
    bars = plots.memory_bars({"start": count.start, "end": count.end}).data
    longest = max(sum(bar.x[i] for bar in bars) for i in (0, 1))
    assert longest * (2**30 if count.peak >= 2**30 else 2**20) == pytest.approx(count.peak)
    looks = {(bar.marker.color, bar.marker.pattern.shape) for bar in bars}
    assert len(looks) == len(bars)  # groups of one colour differ by pattern


def test_growth_marks_the_present_size_on_the_sum():
    parts = {"mlp": [1, 2, 3, 4], "scores": [1, 4, 9, 16]}
    fig = plots.growth([1, 2, 3, 4], parts, at=3, x_title="T", y_title="y", limit=(2, "P"))
    *areas, marker = fig.data
    assert (marker.x[0], marker.y[0]) == (3, 12)
    assert fig.layout.shapes[0].x0 == 2 and fig.layout.annotations[0].text == "P"
    assert {area.stackgroup for area in areas} == {"all"}


def test_the_family_is_on_log_scales_with_everything_in_view():
    points = {
        name: (parameters(r).with_pooler, flops(r, 1, 128, 0, training=False).forward) for name, r in FAMILY.items()
    }
    fig = plots.family(points, x_title="x", y_title="y", here=("mine", 10**6, 10**8))
    assert fig.layout.xaxis.type == fig.layout.yaxis.type == "log"
    *named, _here = fig.data
    drawn = [point for trace in named for point in zip(trace.customdata, trace.x, trace.y, strict=True)]
    assert {name: place for name, *place in drawn} == {name: [*place] for name, place in points.items()}
    for place in [*points.values(), (10**6, 10**8)]:
        for axis, value in zip((fig.layout.xaxis, fig.layout.yaxis), place, strict=True):
            assert axis.range[0] < math.log10(value) < axis.range[1]
    close = {f"BERT-{n}": (10**7 * (1 + n / 40), 10**9 * (1 + n / 50)) for n in range(12)}
    crowd, alone = (plots.family(some, x_title="x", y_title="y").data[0] for some in (close, {"BERT": (10**7, 10**9)}))
    assert len(crowd.text) == 12 and 0 < len([name for name in crowd.text if name]) < 12  # none lies over another
    assert alone.text[0] and alone.textposition == ("middle right",)


def test_short_numbers():
    short = {0: "0", 999: "999", 1000: "1.00 k", 999_999: "1.00 M", 110_106_428: "110 M", 7_087_872: "7.09 M"}
    assert {n: plots.short(n) for n in short} == short
    assert [plots.short_bytes(n) for n in (512, 1536, 3 * 2**30)] == ["512 B", "1.50 KiB", "3.00 GiB"]
