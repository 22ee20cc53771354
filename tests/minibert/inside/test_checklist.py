"""Edits by rule, and what they do to answers."""

from types import SimpleNamespace

import numpy as np
import pytest

from minibert.inside.predictions.checklist import RULES, check
from tests.hostile import HOSTILE

RULE = {rule.name: rule for rule in RULES}


def edit(name: str, text: str, seed: int = 0) -> str | None:
    return RULE[name].edit(text, np.random.default_rng(seed))


EDITS = [
    ("negation", "The film is good.", "The film is not good."),
    ("negation", "The film is not good.", "The film is good."),
    ("negation", "I can't say it.", "I can say it."),
    ("negation", "Can't you see?", "Can you see?"),
    ("negation", "We left early.", None),
    ("negation", "电影很好看。", "电影不好看。"),
    ("negation", "我不喜欢它。", "我喜欢它。"),
    ("negation", "这里没有灯。", "这里有灯。"),
    ("negation", "它从不停。", "它总是停。"),
    ("negation", "灯亮得很。", None),
    ("opposite", "A good film, but too long.", "A bad film, but too long."),
    ("opposite", "Goodness!", None),
    ("opposite", "房间很干净。", "房间很肮脏。"),
    ("synonym", "An awful movie.", "A dreadful movie."),
    ("synonym", "A filmy thing", None),
    ("synonym", "我喜欢它", "我喜爱它"),
    ("short form", "It is not far.", "It's not far."),
    ("short form", "It isn't far.", "It is not far."),
    ("short form", "这不是", None),
    ("typo", "a cat", None),
    ("order", "a a a a a", None),
    ("name", "Nobody was there.", None),
]


@pytest.mark.parametrize(("rule", "before", "after"), EDITS)
def test_what_a_rule_does(rule, before, after):
    assert edit(rule, before) == after


def test_a_name_becomes_another_everywhere_and_a_typo_swaps_two_inner_letters():
    after = edit("name", "Anna said that Anna would come with Tom.")
    first, _, _, second, *_ = after.split()
    assert first == second and first not in ("Anna", "Tom") and after.endswith("with Tom.")
    assert edit("name", "Tomorrow Tom sings.").startswith("Tomorrow ")
    assert "小明" not in edit("name", "小明来了。")
    text = "It was wonderful there"
    for seed in range(20):
        after = edit("typo", text, seed)
        assert sorted(after) == sorted(text) and sum(a != b for a, b in zip(after, text, strict=True)) == 2
        assert [word[0] + word[-1] for word in after.split()] == ["It", "ws", "wl", "te"]


def test_a_shuffle_keeps_the_words_and_the_end_and_an_aside_goes_behind():
    after = edit("order", "One two three four!")
    assert after.endswith("!") and after != "One two three four!"
    assert sorted(after[:-1].split()) == sorted(["One", "two", "three", "four"])
    assert sorted(edit("order", "房间很干净。")) == sorted("房间很干净。")
    assert edit("aside", "Fine.").startswith("Fine. ")
    assert edit("aside", "很好。").startswith("很好。") and " " not in edit("aside", "很好。")


@pytest.mark.parametrize("rule", RULE)
def test_any_text_is_edited_or_left(rule):
    for text in HOSTILE.values():
        after = edit(rule, text[:2000])
        assert after is None or (isinstance(after, str) and (rule == "order" or after != text[:2000]))


def test_flips_are_counted_against_what_is_expected():
    def predict(inputs):
        return [{"probabilities": {"no": 0.4, "yes": 0.6 if " not " in given["text"] else 0.1}} for given in inputs]

    inputs = [{"text": "The film is good."}, {"text": "It is not good."}, {"text": "We left"}]
    found = {checked.rule.name: checked for checked in check(SimpleNamespace(predict=predict), inputs)}
    negation = found["negation"]
    assert (len(negation.texts), negation.flips, negation.rate, negation.of) == (2, 2, 1.0, 3)
    assert (negation.texts[0].label, negation.texts[0].label_after) == ("no", "yes")
    assert found["opposite"].flips == 0 and len(found["opposite"].texts) == 2
    assert len(found["aside"].texts) == 3 and found["aside"].flips == 0
    assert np.isnan(found["name"].rate)


def test_the_other_text_of_a_pair_is_left_alone(answering):
    checks = check(answering("pair"), [{"text": "the film is good", "pair": "it is bad"}], "pair")
    (edited,) = next(checked for checked in checks if checked.rule.name == "negation").texts
    assert (edited.before, edited.after) == ("it is bad", "it is not bad")
    assert edited.others == {"text": "the film is good"}
    assert sum(edited.answer_after.values()) == pytest.approx(1)
