"""The stepper moves by its buttons, stays within its steps and puts the step in the link."""

import pytest

from tests.ui.driver import script


def app(n=3):
    import streamlit as st

    from ui.stepper import stepper

    @st.fragment
    def part():
        st.write(f"at {stepper('step', ['scale', 'mask', 'mix', 'more'][:n])}")

    part()


def button(run, key):
    return run.button(key=f"step-{key}")


def test_buttons_move_and_the_link_follows():
    run = script(app).run()
    assert run.markdown[0].value == "at 0" and "step" not in run.query_params
    assert button(run, "left").disabled
    button(run, "right").click().run()
    assert run.markdown[0].value == "at 1" and run.query_params["step"] == "2"
    button(run, "2").click().run()
    assert run.markdown[0].value == "at 2" and button(run, "right").disabled
    button(run, "left").click().run()
    assert run.markdown[0].value == "at 1"
    button(run, "0").click().run()
    assert run.markdown[0].value == "at 0" and "step" not in run.query_params


@pytest.mark.parametrize(("link", "step"), [("3", 2), ("0", 0), ("4", 0), ("x", 0), ("", 0), ("9" * 99, 0)])
def test_a_link_opens_its_step(link, step):
    run = script(app)
    run.query_params["step"] = link
    run.run()
    assert run.markdown[0].value == f"at {step}" and not run.exception


def test_fewer_steps_than_before():
    run = script(app, kwargs={"n": 4}).run()
    button(run, "3").click().run()
    fewer = script(app, kwargs={"n": 2})
    fewer.session_state["step-step"] = run.session_state["step-step"]
    fewer.run()
    assert fewer.markdown[0].value == "at 1" and not fewer.exception
