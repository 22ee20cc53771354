"""One part of ui as a page of its own, run without a browser."""

from functools import partial

from streamlit.testing.v1 import AppTest

script = partial(AppTest.from_function, default_timeout=240)  # Streamlit's own 3 s are too short for a busy machine


def opened(part, /, *arguments, session=(), **link) -> AppTest:
    """A page that is `part(*arguments)`, opened by a link, in a session that holds some values already. What the part
    returns is in the session as "got"."""

    def page(part, arguments):
        import streamlit

        streamlit.session_state["got"] = part(*arguments)

    app = script(page, args=(part, arguments))
    for key, value in dict(session).items():
        app.session_state[key] = value
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    return app
