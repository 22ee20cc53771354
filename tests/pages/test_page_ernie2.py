"""ERNIE 2.0: the plan that is drawn is the one that is trained; what was learned of each task."""

import pytest

from minibert.relatives.parts.continual_tasks import REGIMES, stages
from minibert.toy.continual import TASKS, ContinualSettings, train_continually
from sections.ernie2.stages import tasks
from tests.pages.driver import figure, numbers, open_page, whole
from tests.pages.finished_runs import run_of


def test_the_plan_is_drawn_and_all_three_regimes_begin(asked_for):
    app = open_page("ernie2", owner="me")
    bars = figure(app, "ernie2-plan")["data"]
    plan = stages("continual", list(TASKS), 400)
    assert [bar["name"] for bar in bars] == list(tasks().values())
    assert [int(n) for n in numbers(bars[0]["customdata"])][:4] == [stage["words"] for stage in plan]
    whole(app.button(key="train-ernie2").click().run())
    assert [arguments[0] for _, arguments, _ in asked_for] == [
        ContinualSettings(name, 400, asked=120, evaluate_every=20) for name in REGIMES
    ]


@pytest.mark.release
@pytest.mark.trains
def test_what_was_learned_of_each_task_is_drawn(runs_folder):
    for regime in ("one_by_one", "continual"):
        settings = ContinualSettings(regime, 8, batch_size=2, stories=20, asked=4, evaluate_every=4, hidden_size=32)
        run_of(train_continually(settings), f"what_to_hide-ernie2/{regime}", owner="me", title=regime)
    app = open_page("ernie2", owner="me")
    lines = figure(app, "ernie2-learned")["data"]
    assert [line["name"] for line in lines] == list(tasks().values()) * 2
    assert len(numbers(lines[0]["x"])) == 3
