"""Our views of attention: what is clicked comes back, tokens go out as text."""

import json

import pytest

from sections.attention_explorer import views
from tests.ui.driver import script


def test_the_code_of_each_view_is_whole_and_loads_nothing():
    for view in views.VIEWS:
        code = (views.FOLDER / f"{view}.js").read_text(encoding="utf-8")
        assert code.count("export default") == 1
        for text in (code, (views.FOLDER / "common.js").read_text(encoding="utf-8")):
            assert "innerHTML" not in text and "import " not in text and "fetch(" not in text
            assert "://" not in text.replace("http://www.w3.org/2000/svg", "").replace("// ", "")


def test_an_unknown_view_is_refused():
    with pytest.raises(ValueError, match="heads, lines, matrix"):
        views.show("circle", {}, "key", print)


def test_a_view_is_given_what_it_draws_and_invisible_characters_are_shown():
    def page():
        from sections.attention_explorer.views import show

        show("matrix", {"tokens": ["a\x00", "<b>"], "weights": "", "row": None, "column": None}, "m", print, file="f")

    app = script(page).run()
    assert not app.exception
    (component,) = app.get("bidi_component")
    data = json.loads(component.proto.json)
    assert data["tokens"] == ["a⟨U+0000⟩", "<b>"] and data["file"] == "f" and data["said"]["from"] == "from"
