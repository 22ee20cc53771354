"""Figures of the service and of the options of fine-tuning."""

from plots.service import rates, request_stages
from plots.training_options import loss_spread, loss_sum, step_shares, two_answers


def test_rates_are_grouped_by_clients():
    fig = rates([1, 8], {"single": [10.0, 11.0], "batched": [9.0, 60.0]}, "{n} clients", "a second")
    assert [list(trace.y) for trace in fig.data] == [[10.0, 11.0], [9.0, 60.0]]
    assert list(fig.data[0].x) == ["1 clients", "8 clients"]


def test_losses_and_their_mean():
    fig = loss_spread({"1 mask": [1.0, 3.0], "2 masks": [2.0]}, "loss")
    assert list(fig.data[0].x) == [1.0, 3.0] and list(fig.data[1].x) == [2.0, 2.0]


def test_a_sum_of_losses_is_stacked():
    fig = loss_sum({"task": 0.7, "MLM": 0.4}, "loss")
    assert [trace.x[0] for trace in fig.data] == [0.7, 0.4] and fig.layout.barmode == "stack"


def test_two_answers_share_their_steps():
    fig = two_answers([0.4, 0.8], [0.4, 0.6], ("last", "mean"), ("step", "probability"))
    assert [list(trace.y) for trace in fig.data] == [[0.4, 0.8], [0.4, 0.6]]
    assert all(list(trace.x) == [1, 2] for trace in fig.data) and fig.data[0].name == "last"


def test_what_steps_count_begins_at_step_1():
    (bars,) = step_shares([0.25, 0.75], ("step", "counts")).data
    assert list(bars.x) == [1, 2] and list(bars.y) == [0.25, 0.75]


def test_each_part_of_a_request_begins_where_the_one_before_ends():
    fig = request_stages({"read": (0.0, 1.0), "model": (1.0, 3.0), "written": (4.0, 0.5)}, "4.5 ms", "ms", 300)
    bars = fig.data
    assert [(bar.base[0], bar.x[0]) for bar in bars] == [(0.0, 1.0), (1.0, 3.0), (4.0, 0.5)]
    assert len({bar.marker.color for bar in bars}) == 2 and bars[1].marker.pattern.shape == ""  # the longest stands out
    assert fig.layout.title.text == "4.5 ms" and fig.layout.yaxis.ticktext[0] == "1 · read"
