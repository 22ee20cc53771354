"""Options of fine-tuning in figures: what the curves hold."""

from plots.training_options import rows_that_fit, share_within


def test_the_curve_is_the_share_that_is_not_longer():
    fig = share_within([5, 7, 7, 20], 7, {0.75: 7, 0.92: 20}, ("tokens", "share"), "read", "title")
    curve = dict(zip(fig.data[0].x, fig.data[0].y, strict=True))
    assert curve == {0: 0, 5: 0.25, 7: 0.75, 20: 1, 21: 1}
    chosen = fig.data[-1]
    assert (chosen.x[0], chosen.y[0]) == (7, 0.75)
    assert {note.text for note in fig.layout.annotations} == {"75%: 7", "92%: 20"}


def test_a_length_beyond_all_is_in_sight():
    fig = share_within([5, 7], 512, {}, ("tokens", "share"), "read")
    assert fig.data[0].y[-1] == 1 and fig.layout.xaxis.range[1] > 512


def test_where_no_row_fits_nothing_is_drawn():
    fig = rows_that_fit((64, 512), {"fused": [9, 0]}, {"measured": {64: 3, 512: 0}}, 64, ("tokens", "rows"))
    assert [list(trace.x) for trace in fig.data] == [[64], [64]]
