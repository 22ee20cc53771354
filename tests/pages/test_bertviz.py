"""BertViz's views: our numbers, no address to load from, no text that could end a script."""

import json
import re

import numpy as np
import pytest

from sections.attention_explorer import bertviz
from tests.hostile import HOSTILE

TOKENS = ["[CLS]", HOSTILE["script"], "a\u2028b", "[SEP]", "<!--", "&lt;", "[SEP]"]


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    probs = rng.random((2, 3, 7, 7)) ** 4
    probs /= probs.sum(-1, keepdims=True)
    return probs, rng.normal(size=(2, 3, 7, 5)), rng.normal(size=(2, 3, 7, 5))


def views(numbers, second=None, dark=False) -> dict[str, str]:
    probs, query, key = numbers
    return {
        "head": bertviz.head_view(probs, TOKENS, second, layer=1, dark=dark),
        "model": bertviz.model_view(probs, TOKENS, second, dark=dark),
        "neuron": bertviz.neuron_view(probs, query, key, TOKENS, second, layer=1, head=2, dark=dark),
    }


def params(html: str) -> dict:
    """What the view is given, as a browser reads it."""
    line = re.search(r"(?:const params|window\.bertviz_params) = (\{.*?\});(?: //[^\n]*)?\n", html).group(1)
    return json.loads(line)


def test_nothing_is_loaded_and_no_token_ends_a_script(numbers):
    for html in views(numbers, 4).values():
        assert "cdnjs" not in html and not re.search(r"<(script|link|img|iframe)[^>]*\s(src|href)=", html)
        assert "default-src 'none'" in html and "connect-src" not in html
        assert "PYTHON_PARAMS;" not in html and "require.config({" not in html
        assert html.lower().count("</script") == 5  # jQuery, d3, what takes the place of require.js, the view, its size
        assert "<img" not in html and "\u2028" not in html


@pytest.mark.parametrize("name", ["head", "model"])
def test_lines_are_our_attention_and_of_a_pair_what_crosses(numbers, name):
    probs = numbers[0]
    (alone,), html = params(views(numbers)[name])["attention"], views(numbers, 4)[name]
    assert alone["left_text"] == alone["right_text"] == TOKENS
    np.testing.assert_allclose(alone["attn"], probs, atol=5.1e-5)
    parts = {part["name"]: part for part in params(html)["attention"]}
    crossing = parts["Sentence A -> Sentence B"]
    np.testing.assert_allclose(crossing["attn"], probs[:, :, :4, 4:], atol=5.1e-5)
    assert crossing["left_text"] == TOKENS[:4] and crossing["right_text"] == TOKENS[4:]
    assert html.split("<script>")[0].count("<option") == len(parts) == 5
    assert 'id="filter"' not in views(numbers)[name].split("<script>")[0]


def test_the_neuron_view_has_the_queries_and_keys_it_is_given(numbers):
    probs, query, key = numbers
    given = params(views(numbers, 4)["neuron"])
    assert (given["layer"], given["head"]) == (1, 2)
    for part, rows, columns in (("all", slice(7), slice(7)), ("ba", slice(4, 7), slice(4))):
        narrowed = given["attention"][part]
        np.testing.assert_allclose(narrowed["queries"], query[:, :, rows], atol=5.1e-5)
        np.testing.assert_allclose(narrowed["keys"], key[:, :, columns], atol=5.1e-5)
        np.testing.assert_allclose(narrowed["attn"], probs[:, :, rows, columns], atol=5.1e-5)


def test_layers_and_heads_are_chosen_on_the_page_and_count_from_1(numbers):
    probs, query, key = numbers
    head = params(bertviz.head_view(probs, TOKENS, layer=1))
    assert (head["layer"], head["heads"], head["include_layers"]) == (2, None, [1, 2])
    assert params(bertviz.head_view(probs, TOKENS, layer=1, head=2))["heads"] == [2]
    model = bertviz.model_view(probs, TOKENS, opened=(1, 2))
    assert (params(model)["include_layers"], params(model)["include_heads"]) == ([1, 2], [1, 2, 3])
    assert "attn_background_1_2" in model and "attn_background_1_2" not in bertviz.model_view(probs, TOKENS)
    neuron = bertviz.neuron_view(probs, query, key, TOKENS)
    assert neuron.count(".text(i + 1)") == 2 and ".text(i)" not in neuron
    for html in (*views(numbers).values(), model):  # a frame forgets what is chosen in it: it has nothing to choose
        controls = html.split("<script>")[0]
        assert controls.count("<select") == controls.count("hidden></select>")


def test_dark_and_light(numbers):
    light, dark = views(numbers), views(numbers, dark=True)
    for name in light:
        assert "color-scheme: light" in light[name] and "color-scheme: dark" in dark[name]
        assert "'background': '#14171C'" in dark[name] or name == "head"
    assert params(light["model"])["display_mode"] == "light" and params(dark["neuron"])["display_mode"] == "dark"
