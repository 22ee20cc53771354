"""How an input is drawn: what its windows are called."""

import pytest

from minibert.tasks import TASKS, Options
from tests.pages.driver import plain
from tests.pages.finished_runs import spelling_predictor
from tests.ui.driver import opened
from ui.task_input import show_input

CASES = {
    "tagging": ("a b c d e f g h", ["O", "B-X", "I-X"], "asked for words"),
    "span": ({"question": "a", "context": "a b c d e f g h"}, ["start", "end"], "passage tokens"),
}


@pytest.mark.parametrize("name", CASES)
def test_windows_of_an_own_text_say_what_they_hold(name):
    tokenizer, task = spelling_predictor("classification", ["no", "yes"]).tokenizer, TASKS[name]
    given, labels, words = CASES[name]
    run = opened(show_input, task, tokenizer, task.example(given), labels, Options(max_length=8, doc_stride=3), "input")
    titles = [plain(block.value) for block in run.markdown if "Window" in block.value]
    assert len(titles) > 1 and all(words in title for title in titles[:2])
