"""The stepper moves by its buttons, stays within its steps and puts the step in the link."""

import pytest
import streamlit as st

from tests.ui.driver import opened
from ui.stepper import stepper

part = st.fragment(stepper)
STEPS = ["scale", "mask", "mix", "more"]


def button(run, key):
    return run.button(key=f"step-{key}")


def test_buttons_move_and_the_link_follows():
    run = opened(part, "step", STEPS[:3])
    assert run.session_state["got"] == 0 and "step" not in run.query_params
    assert button(run, "left").disabled
    button(run, "right").click().run()
    assert run.session_state["got"] == 1 and run.query_params["step"] == "2"
    button(run, "2").click().run()
    assert run.session_state["got"] == 2 and button(run, "right").disabled
    button(run, "left").click().run()
    assert run.session_state["got"] == 1
    button(run, "0").click().run()
    assert run.session_state["got"] == 0 and "step" not in run.query_params


@pytest.mark.parametrize(("link", "step"), [("3", 2), ("0", 0), ("4", 0), ("x", 0), ("", 0), ("9" * 99, 0)])
def test_a_link_opens_its_step(link, step):
    assert opened(part, "step", STEPS[:3], step=link).session_state["got"] == step


def test_fewer_steps_than_before():
    steps = STEPS[:]
    run = opened(part, "step", steps)
    button(run, "3").click().run()
    del steps[2:]
    assert run.run().session_state["got"] == 1 and not run.exception
