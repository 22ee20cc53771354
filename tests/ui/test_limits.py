"""A text that a model cannot read is called so, with the numbers."""

import pytest

from tests.ui.driver import script


def app(text: str, model: str):
    from ui.limits import warn_unread
    from ui.models import load

    warn_unread(load(model).tokenizer.encode(text), model)


def warnings(text: str, model: str) -> list[str]:
    run = script(app, args=(text, model)).run()
    assert not run.exception
    return [box.value for box in run.warning]


def test_a_text_beyond_the_places_a_model_has_learned():
    (said,) = warnings("the dog " * 64, "mini-en")  # 128 tokens and two specials
    assert "at most 128 tokens. This one has 130" in said
    assert not warnings("the dog " * 63, "mini-en")
    assert not warnings("the dog " * 64, "minilm-en")


@pytest.mark.parametrize(("text", "unknown", "n"), [("他来到北京大学", None, None), ("the dog barked ∯ ∰", 0, 0)])
def test_a_text_of_which_most_is_unknown(text, unknown, n):
    said = warnings(text, "mini-en")
    assert len(said) == (1 if unknown is None else 0)
    assert all("[UNK] to mini&#45;en" in one for one in said)


def test_nothing_is_said_of_nothing():
    assert not warnings("", "mini-en")
