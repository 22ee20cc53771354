"""Inputs, answers and reviews of every task, drawn; whatever stands in the texts."""

from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import pytest

from minibert.tasks import TASKS
from tests.hostile import HOSTILE
from tests.ui.driver import script

DATA = Path("lessons/data")
SETS = {
    "classification": "reviews/dev.tsv",
    "pair": "pairs/dev.tsv",
    "similarity": "similarity/dev.tsv",
    "multilabel": "emotions/dev.tsv",
    "tagging": "entities/dev.txt",
    "span": "questions/dev.json",
    "span-or-none": "questions-or-none/dev.json",
    "choice": "choices/dev.csv",
    "intent": "intents/dev.md",
}
EVIL = HOSTILE["script"]
every_task = pytest.mark.parametrize("name", list(TASKS))


@cache
def untrained(name: str, chinese: bool = False):
    """(predictor with random weights, some examples of the embedded data)."""
    import torch

    from minibert.config import BertConfig
    from minibert.finetune import Predictor
    from minibert.tasks import Options
    from minibert.tokenizer import Tokenizer

    task = TASKS[name]
    data = task.read(DATA / SETS[name]).take(range(14))
    tokenizer = Tokenizer.from_directory("checkpoints/mini-zh" if chinese else "checkpoints/mini-en")
    config = BertConfig(
        vocab_size=tokenizer.vocab_size, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=96, initializer_range=0.6,
    )  # fmt: skip
    options = Options(max_length=96, doc_stride=48)
    torch.manual_seed(0)
    return Predictor(task.head(config, task.labels(data), options).eval(), tokenizer, task, options), data


def evil(example):
    """The example with the hostile text in every field that a user fills, and its labels hostile too."""
    changes = {}
    for name, value in asdict(example).items():
        if name == "words":
            changes |= {"words": (EVIL, *value[1:]), "tags": (f"B-{EVIL}", *example.tags[1:]), "text": None}
        elif name in ("text", "pair", "question") and "words" not in asdict(example):
            changes[name] = f"{EVIL} {value}" if name != "text" or not hasattr(example, "intent") else f"{value} {EVIL}"
        elif name == "context":
            changes[name] = f"{value} {EVIL}"
        elif name == "choices":
            changes[name] = tuple(f"{EVIL} {choice}" for choice in value)
    return replace(example, **changes)


def body(run) -> str:
    """All HTML of the page."""
    return "".join(block.proto.body for block in run.get("html"))


def everything(run) -> str:
    return body(run) + "".join(block.value for block in run.markdown) + "".join(block.value for block in run.caption)


def page(name, example, key="k"):
    import streamlit as st

    from minibert.tasks import TASKS
    from tests.ui.test_answers import untrained
    from ui.answers import answer_form, headline, show_answer, show_input

    predictor, _data = untrained(name)
    show_input(TASKS[name], predictor.tokenizer, example, predictor.labels, predictor.options, f"{key}in")
    given = answer_form(TASKS[name], example, key)
    st.session_state["given"] = given
    if given is not None:
        answer = predictor.predict([given])[0]
        st.session_state["headline"] = headline(TASKS[name], answer)
        show_answer(TASKS[name], given, answer, f"{key}out")


def review(name, examples, evaluation):
    from minibert.tasks import TASKS
    from ui.answers import show_review

    show_review(TASKS[name], examples, evaluation, "review")


@every_task
def test_an_example_is_built_asked_and_answered(name):
    _predictor, data = untrained(name)
    run = script(page, args=(name, data.examples[0])).run()
    assert not run.exception
    assert "[CLS]" in body(run) and "mb-segment-a" in body(run)
    words, number = run.session_state["headline"]
    assert words and isinstance(number, float)


@every_task
def test_hostile_text_is_shown_as_text(name):
    _predictor, data = untrained(name)
    run = script(page, args=(name, evil(data.examples[0]))).run()
    assert not run.exception
    shown = everything(run)
    assert "<img" not in shown and "</script>" not in shown
    assert any(EVIL in field.value for field in [*run.text_input, *run.text_area])


@every_task
def test_a_dev_set_is_reviewed(name):
    import json

    from minibert.finetune import evaluate

    predictor, data = untrained(name)
    evaluation = json.loads(json.dumps(evaluate(predictor, data).details))
    examples = json.loads(json.dumps([asdict(example) for example in data.examples]))
    run = script(review, args=(name, examples, evaluation)).run()
    assert not run.exception
    assert run.get("plotly_chart") and "mb-cases" in body(run)
