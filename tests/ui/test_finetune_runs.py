"""What is drawn of fine-tuning runs: the readers' own words are never markup."""

import pytest

from tests.hostile import HOSTILE
from tests.pages.driver import figure
from tests.ui.driver import script


def kinds(kind):
    from types import SimpleNamespace

    from ui.finetune_runs import by_kind

    example, prediction = {"extra": {"kind": kind}}, {"grade": 1.0}
    details = {"dev_examples": [example]}
    last_eval = {"details": {"predictions": [prediction]}}
    by_kind([SimpleNamespace(details=details, last_eval=last_eval, start="pretrained")])


@pytest.mark.parametrize("name", [name for name, text in HOSTILE.items() if text])
def test_a_kind_is_shown_as_text(name):
    run = script(kinds, args=(HOSTILE[name],)).run()
    assert not run.exception
    (place,) = figure(run, "kinds")["data"][0]["x"]
    assert "<" not in place and ">" not in place


def test_a_kind_that_is_a_number_is_a_name():
    drawn = figure(script(kinds, args=("7",)).run(), "kinds")
    assert drawn["layout"]["xaxis"]["type"] == "category" and drawn["data"][0]["x"] == ["7"]
