"""Examples that show a lesson's point show it with the checkpoints that we ship: each says how likely, at least."""

import tomllib
from functools import cache

import pytest
import torch

from minibert import checkpoint
from minibert.folders import CHECKPOINTS, LESSONS
from minibert.model import Batch
from minibert.toy.collocations import expected
from ui.languages import language_of

POINTS = {
    f"{path.parent.name}: {point['text']}": point
    for path in sorted(LESSONS.glob("*/*.toml"))
    if path.name in ("examples.toml", "passages.toml")
    for points in tomllib.loads(path.read_text(encoding="utf-8")).values()
    for point in points
    if isinstance(point, dict) and "least" in point
}


@cache
def network(language: str):
    folder = CHECKPOINTS / ("mini-zh" if language == "zh" else "minilm-en")
    return checkpoint.load(folder).eval(), checkpoint.load_tokenizer(folder)


@pytest.mark.parametrize("name", [name for name, point in POINTS.items() if "given" in point])
def test_the_word_hidden_is_found_by_the_other_word_as_the_example_promises(name):
    point, folder = POINTS[name], CHECKPOINTS / "xlnet-toy" / "xlnet"
    model, tokenizer = checkpoint.load(folder).eval(), checkpoint.load_tokenizer(folder)
    encoding = tokenizer.encode(point["text"])
    other, place = (encoding.tokens.index(point[word]) for word in ("given", "hide"))
    known, unknown = (
        expected(model, encoding.ids, place, hidden, tokenizer.mask_id)[encoding.ids[place]].exp()
        for hidden in ([place], [other, place])
    )
    assert known >= point["least"] and unknown <= point["most_without"]


@pytest.mark.parametrize("name", [name for name, point in POINTS.items() if "given" not in point])
def test_the_word_hidden_is_found_as_the_example_promises(name):
    point = POINTS[name]
    model, tokenizer = network(language_of(point["text"]))
    encoding = tokenizer.encode(point["text"])
    place = encoding.tokens.index(point["hide"].lower())  # a word of one token, the first of its kind
    ids = torch.tensor([encoding.ids])
    ids[0, place] = tokenizer.mask_id
    with torch.inference_mode():
        probs = model(Batch(ids, torch.zeros_like(ids))).mlm_logits[0, place].softmax(-1)
    assert probs[encoding.ids[place]] >= point["least"]
    assert probs.argmax() == encoding.ids[place]
