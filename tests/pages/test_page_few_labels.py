"""The page on few labels: what stands in the blank is the model's, patterns are measured, runs are drawn."""

from types import SimpleNamespace

import pytest
import torch
import transformers

from sections.few_labels.subject import Inputs, split
from sections.few_labels.train import method_of, settings_of
from tests.pages.driver import ROOT, figure, open_page

PARTS = ("Own pattern", "Two texts", "Train with few", "P-tuning", "Several patterns", "The claim", "The code")


def test_the_blank_is_filled_as_transformers_fills_it():
    app = open_page(
        "few_labels",
        language="zh",
        text="房间很干净。",
        pattern="{text}我[MASK]喜欢。",
        negative="不",
        positive="很",
        part=PARTS[1],
    )
    folder = ROOT / "checkpoints" / "mini-zh"
    model = transformers.BertForMaskedLM.from_pretrained(folder).eval().float()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for text, words, key in (
        ("房间很干净。我[MASK]喜欢。", ["不", "很"], "at-blank"),
        ("我去了北京？[MASK]，我去了上海。", ["不", "是"], "at-pair-blank"),
    ):
        given = tokenizer(text, return_tensors="pt")
        at = given.input_ids[0].tolist().index(tokenizer.mask_token_id)
        with torch.no_grad():
            logits = model(**given).logits[0, at]
        expected = logits[tokenizer.convert_tokens_to_ids(words)].softmax(0).tolist()
        drawn = [trace["x"][0] for trace in figure(app, key)["data"]]
        assert drawn == pytest.approx(expected, abs=1e-3)


@pytest.mark.release
def test_patterns_are_measured():
    app = open_page("few_labels", language="zh", part=PARTS[0], pattern="{text}真[MASK]。")
    app.button(key="pattern-zh-show").click().run()
    marks = figure(app, "patterns")["data"]
    assert len(marks) == 5 and all(0.3 < mark["x"][0] < 0.9 for mark in marks)


@pytest.mark.parametrize(("pattern", "words"), [("no blank", "不"), ("{text}[MASK]", "很很"), ("{text}[MASK]", " , ")])
def test_what_cannot_be_asked_is_said(pattern, words):
    app = open_page("few_labels", language="zh", pattern=pattern, negative=words, part=PARTS[6])
    assert app.info and not figure(app, "at-blank")


def test_settings_are_those_of_the_method():
    inputs = Inputs("en", "x", "{text} It was [MASK].", (("negative", ("bad",)), ("positive", ("good",))))
    pet, task = settings_of(inputs, "pet", 32, 1)
    assert task == "cloze" and pet.epochs == 10 and pet.mlm_weight == 1e-4 and pet.words["positive"] == ["good"]
    assert settings_of(inputs, "head", 8, 0)[1] == "classification"
    prompted, _ = settings_of(inputs, "p-tuning", 8, 0)
    assert prompted.freeze == "all" and prompted.prompt == "lstm"
    assert split("bad, terrible，不、差, ") == ["bad", "terrible", "不", "差"]
    assert method_of(SimpleNamespace(kind="few_labels-learn/123/p-tuning-2-en")) == "p-tuning"
