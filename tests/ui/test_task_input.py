"""How an input is drawn: what its windows are called."""

import pytest

from tests.pages.driver import plain
from tests.ui.driver import script


def drawn(name):
    from minibert.tasks import TASKS, Options
    from tests.pages.finished_runs import spelling_predictor
    from ui.task_input import show_input

    tokenizer, task = spelling_predictor("classification", ["no", "yes"]).tokenizer, TASKS[name]
    given = {"tagging": "a b c d e f g h", "span": {"question": "a", "context": "a b c d e f g h"}}[name]
    labels = {"tagging": ["O", "B-X", "I-X"], "span": ["start", "end"]}[name]
    show_input(task, tokenizer, task.example(given), labels, Options(max_length=8, doc_stride=3), key="input")


@pytest.mark.parametrize(("name", "words"), [("tagging", "asked for words"), ("span", "passage tokens")])
def test_windows_of_an_own_text_say_what_they_hold(name, words):
    run = script(drawn, args=(name,)).run()
    assert not run.exception
    titles = [plain(block.value) for block in run.markdown if "Window" in block.value]
    assert len(titles) > 1 and all(words in title for title in titles[:2])
