"""Examples that show a lesson's point show it with the checkpoints that we ship: each says how likely, at least."""

import tomllib
from functools import cache

import pytest
import torch

from minibert import checkpoint
from minibert.folders import CHECKPOINTS, LESSONS
from minibert.inside.geometry.vectors import sentence_vectors
from minibert.inside.predictions.hidden_text import guessed, hide, read, vocabulary_of
from minibert.model import Batch
from minibert.seq2seq.corrector import Corrector
from minibert.toy.collocations import expected
from minibert.toy.corrections import correction_sample
from sections.what_to_hide.subject import RATE, SEED
from ui.languages import language_of

POINTS = {
    " ".join([path.parent.name + ":", point["text"], point.get("second", "")]).rstrip(): point
    for path in sorted(LESSONS.glob("*/*.toml"))
    if path.name in ("examples.toml", "passages.toml")
    for points in tomllib.loads(path.read_text(encoding="utf-8")).values()
    for point in points
    if isinstance(point, dict) and "least" in point
}


@cache
def network(language: str, name: str | None = None):
    folder = CHECKPOINTS / (name or ("mini-zh" if language == "zh" else "minilm-en"))
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


@pytest.mark.parametrize("name", [name for name, point in POINTS.items() if "second" in point])
def test_a_pair_is_judged_as_the_example_promises(name):
    point = POINTS[name]
    model, tokenizer = network(language_of(point["text"]), point.get("model"))
    encoding = tokenizer.encode(point["text"], point["second"])
    with torch.inference_mode():
        logits = model(Batch(torch.tensor([encoding.ids]), torch.tensor([encoding.segments]))).nsp_logits[0]
    assert logits.softmax(-1)[0 if point["follows"] else 1] >= point["least"]


@pytest.mark.parametrize("name", [name for name, point in POINTS.items() if not {"given", "second"} & point.keys()])
def test_the_word_hidden_is_found_as_the_example_promises(name):
    point = POINTS[name]
    model, tokenizer = network(language_of(point["text"]), point.get("model"))
    encoding = tokenizer.encode(point["text"])
    place = encoding.tokens.index(point["hide"].lower())  # a word of one token, the first of its kind
    ids = torch.tensor([encoding.ids])
    ids[0, place] = tokenizer.mask_id
    with torch.inference_mode():
        probs = model(Batch(ids, torch.zeros_like(ids))).mlm_logits[0, place].softmax(-1)
    assert probs[encoding.ids[place]] >= point["least"]
    assert probs.argmax() == encoding.ids[place]


def test_the_shipped_corrector_mends_every_slip_of_the_text_that_the_page_opens_with():
    text = tomllib.loads((LESSONS / "to_write" / "examples.toml").read_text(encoding="utf-8"))["wrong"][0]
    sample = correction_sample(*Corrector.load(CHECKPOINTS / "unilm-toy" / "corrector"), text)
    assert " ".join(sample["tokens"]) == "jack was an eager box . he pan home ."
    assert " ".join(best for (best, _share), *_others in sample["said"]) == "jack was an eager boy . he ran home ."


@pytest.mark.parametrize("language", ["en", "zh"])
def test_two_sentences_of_the_cone_that_ask_the_same_are_nearer_than_two_with_nothing_in_common(language):
    texts = tomllib.loads((LESSONS / "cone" / "examples.toml").read_text(encoding="utf-8"))[language]
    vectors = torch.from_numpy(sentence_vectors(*network(language), texts, ("mean",))["mean"][-1])
    apart, alike = torch.cosine_similarity(vectors[::2], vectors[1::2])[:2]
    assert alike > apart + 0.1


def test_in_chinese_a_hidden_character_is_easier_to_guess_than_a_hidden_word():
    model, tokenizer = network("zh")
    text = tomllib.loads((LESSONS / "what_to_hide" / "examples.toml").read_text(encoding="utf-8"))["zh"][0]
    vocabulary = vocabulary_of(model, tokenizer, True)
    reading = read(tokenizer, vocabulary, text, 28, True)
    drawn = [hide(reading, kind, vocabulary, RATE / 100, SEED) for kind in ("piece", "word")]
    piece, word = guessed(model, drawn, tokenizer.pad_id)
    assert piece.right >= 2 * word.right
