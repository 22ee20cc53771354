"""What was set on a page is there again in a tab that is opened again, and when the reader comes back to the page."""

from streamlit.testing.v1 import AppTest


def opened(**query) -> AppTest:
    """A page with a tab, and another page."""

    def script():
        import streamlit as st

        from ui.kept import keep
        from ui.navigation import _forget_page
        from ui.state import VISIT

        st.session_state.setdefault("_page", "one")
        if st.session_state.pop("_go", False):
            _forget_page()
            st.session_state[VISIT] = st.session_state.get(VISIT, 0) + 1
            st.session_state["_page"] = "two" if st.session_state["_page"] == "one" else "one"
        if st.session_state["_page"] == "two":
            st.stop()
        keep("one", {"rate": 5}, prefixes=("mine-",))
        if st.checkbox("tab", True, key="_tab"):
            st.slider("rate", 1, 9, key="rate")
            st.text_input("text", key="mine-text")

    app = AppTest.from_function(script)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def go(app: AppTest) -> None:
    app.session_state["_go"] = True
    app.run()


def test_a_closed_tab_loses_nothing():
    app = opened()
    assert app.slider(key="rate").value == 5
    app.slider(key="rate").set_value(8).run()
    app.text_input(key="mine-text").set_value("hello").run()
    app.checkbox(key="_tab").uncheck().run()
    app.checkbox(key="_tab").check().run()
    assert app.slider(key="rate").value == 8 and app.text_input(key="mine-text").value == "hello"


def test_a_page_that_was_left_by_the_menu_is_as_it_was():
    app = opened()
    app.slider(key="rate").set_value(8).run()
    app.text_input(key="mine-text").set_value("hello").run()
    go(app)
    assert not app.slider
    go(app)
    assert app.slider(key="rate").value == 8 and app.text_input(key="mine-text").value == "hello"


def test_a_link_that_says_what_is_on_the_page_counts_for_more():
    app = opened()
    app.slider(key="rate").set_value(8).run()
    go(app)
    app.query_params["task"] = "pair"
    go(app)
    assert app.slider(key="rate").value == 5


def uploading():
    import streamlit as st

    from ui.kept import kept_uploader
    from ui.navigation import _forget_page

    if st.session_state.pop("_go", False):
        _forget_page()
        st.session_state["_away"] = not st.session_state.get("_away", False)
    if not st.session_state.get("_away"):
        st.text(", ".join(file.name for file in kept_uploader("one", "file", "Your file", ["txt"])))
        st.button("anything else")


def test_a_file_is_there_after_coming_back_and_whatever_is_clicked_then():
    app = AppTest.from_function(uploading).run()
    app.file_uploader(key="file").set_value([("mine.txt", b"hello", "text/plain")]).run()
    go(app)
    assert not app.text
    go(app)
    assert app.text[0].value == "mine.txt"
    app.button[-1].click().run()
    assert app.text[0].value == "mine.txt" and not app.exception
    app.button(key="file-forget").click().run()
    assert app.text[0].value == ""


def test_a_file_that_the_reader_takes_out_is_gone():
    app = AppTest.from_function(uploading).run()
    app.file_uploader(key="file").set_value([("mine.txt", b"hello", "text/plain")]).run()
    app.file_uploader(key="file").set_value([]).run()
    assert app.text[0].value == "" and not app.exception
