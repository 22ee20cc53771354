"""A text that a model cannot read is called so, with the numbers."""

import re

import pytest

from tests.pages.driver import open_page, plain
from tests.ui.driver import opened
from ui.limits import warn_unread
from ui.model_cache import load


def warnings(text: str, model: str) -> list[str]:
    return [box.value for box in opened(warn_unread, load(model).tokenizer.encode(text), model).warning]


def test_a_text_beyond_the_places_a_model_has_learned():
    (said,) = warnings("the dog " * 64, "mini-en")  # 128 tokens and two specials
    assert {"128", "130"} <= set(re.findall(r"\d+", said))
    assert not warnings("the dog " * 63, "mini-en")
    assert not warnings("the dog " * 64, "minilm-en")


def test_a_text_of_which_most_is_unknown():
    assert len(warnings("the dog ∯ ∰ ꙮ ꙮ ꙮ ꙮ ꙮ ꙮ", "mini-en")) == 1
    assert not warnings("他来到北京大学", "mini-zh") and not warnings("the dog barked ∯ ∰", "mini-en")
    assert not warnings("", "mini-en")


def test_some_unknown_tokens_are_counted_in_a_line():
    app = opened(warn_unread, load("mini-en").tokenizer.encode("the dog barked ∯ ∰"), "mini-en")
    (said,) = (caption.value for caption in app.caption)
    assert re.findall(r"\d+", said)[:2] == ["2", "6"]


UNREAD = "ꙮ ꙮ ꙮ ꙮ"  # in no vocabulary
FIELDS = {
    "attention": ["sentence"],
    "attention_explorer": ["sentence"],
    "attribution": ["blank"],
    "embeddings": ["text"],
    "encoder_decoder": ["sentence"],
    "input": ["a", "b"],
    "knowledge": ["text"],
    "masking": ["cloze"],
    "output_layer": ["mine-text"],
    "probes": ["cloze"],
}
WHERE = {"embeddings": {"what": "tokens"}, "encoder_decoder": {"half": "encoder"}}  # what a BERT reads


@pytest.mark.parametrize("page", FIELDS)
def test_every_page_that_reads_a_sentence_says_so(page, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path))
    fields = dict.fromkeys(FIELDS[page], UNREAD + " [MASK]" * (page in ("probes", "attribution", "masking")))
    app = open_page(page, model="mini-en", **WHERE.get(page, {}), **fields)
    assert any("[UNK]" in plain(box.value) for box in app.warning), [box.value for box in app.warning]


def test_a_click_chooses_the_model_that_reads_the_text():
    app = open_page("attention", model="mini-en", sentence="他来到北京大学")
    app.button(key="model-reader").click().run()
    assert app.selectbox(key="model").value == "mini-zh" and not app.warning
    assert "model-reader" not in {button.key for button in app.button}
