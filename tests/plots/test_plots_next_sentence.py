"""Figures of the next-sentence lesson: their data."""

from plots.next_sentence import Share, judged_next, judgement, random_shares, trained_and_asked, with_and_without


def test_a_judgement_is_split_in_two_and_written_out():
    fig = judgement({"A, then B": 0.75, "<B>, then A": 0.2})
    assert [list(bar.x) for bar in fig.data] == [[0.75, 0.2], [0.25, 0.8]]
    assert [note.text for note in fig.layout.annotations] == ["<b>75.0%</b>", "<b>20.0%</b>"]
    assert fig.data[0].y[1] == "&lt;B&gt;, then A"


def test_both_judges_stand_on_the_row_of_the_kind():
    shares = {
        "model": [Share(0.8, 0.7, 0.9), Share(0.5, 0.4, 0.7)],
        "topic": [Share(0.7, 0.6, 0.8), Share(0.3, 0.2, 0.4)],
    }
    fig = judged_next(["next", "other, far"], shares, [1.0, 0.0], "judged next")
    for trace, values in zip(fig.data, shares.values(), strict=True):
        assert list(trace.x) == [share.value for share in values]
        assert [round(y) for y in trace.y] == [0, 1]
        assert [x + more for x, more in zip(trace.x, trace.error_x.array, strict=True)] == [s.high for s in values]
        assert [round(x - less, 9) for x, less in zip(trace.x, trace.error_x.arrayminus, strict=True)] == [
            s.low for s in values
        ]
    assert fig.data[0].marker.symbol != fig.data[1].marker.symbol
    assert [note.text for note in fig.layout.annotations] == ["<b>80%</b>", "<b>50%</b>", "<b>70%</b>", "<b>30%</b>"]
    assert [shape.x0 for shape in fig.layout.shapes] == [1.0, 0.0]
    assert fig.layout.yaxis.ticktext[1] == "other,<br>far"


def test_changes_have_their_sign_and_all_panels_one_scale():
    fig = with_and_without({"one": {"t": (84.4, 83.9), "u": (88.4, 84.9)}, "two": {"t": (84.0, 84.7)}}, ("up", "down"))
    assert list(fig.data[0].text) == ["<b>−0.5</b>", "<b>−3.5</b>"] and list(fig.data[1].text) == ["<b>+0.7</b>"]
    assert fig.data[0].marker.color[0] != fig.data[1].marker.color[0]
    assert fig.layout.xaxis.range == fig.layout.xaxis2.range


def test_shares_and_trainings_are_written_out():
    fig = random_shares([1, 2], [1.0, 0.667], ("sentences", "random"))
    assert list(fig.data[0].text) == ["100%", "67%"]
    fig = trained_and_asked({"none": (52.4, 53.3), "nsp": (90.5, 52.0)}, ("next?", "order?"))
    assert [list(bar.x) for bar in fig.data] == [[52.4, 90.5], [53.3, 52.0]]
