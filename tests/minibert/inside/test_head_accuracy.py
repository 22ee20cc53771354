"""Which word a head finds: attention between words by plain loops, heads built to be right, rules and halves."""

from itertools import product

import pytest
import torch

from minibert.inside.heads import accuracy as head_accuracy
from minibert.inside.heads.accuracy import (
    FROM_DEPENDENT,
    FROM_HEAD,
    RelationAccuracy,
    about_relations,
    best_rule,
    measure_heads,
)
from minibert.inside.heads.grammatical_relations import Relation
from minibert.inside.heads.kinds import attentions
from minibert.inside.heads.pronouns import Pronoun

TEXTS = [("ab", "c", "dea", "b"), ("fg", "h"), ("b", "ac", "d", "abc", "e", "gi"), ("a", "b", "cde")]
RELATIONS = [
    [Relation("det", 0, 2), Relation("amod", 1, 2), Relation("det", 3, 2)],
    [Relation("dobj", 1, 0)],
    [Relation("det", 0, 3), Relation("dobj", 5, 1), Relation("pobj", 3, 2)],
    [],
]


def by_loops(model, tokenizer, words) -> list:
    """[layer][head][from word][to word], from the pieces of words that are spelt: one a letter, after [CLS]."""
    probs = attentions(model, tokenizer.encode(" ".join(words)).ids)
    places, at = [], 1
    for word in words:
        places.append(range(at, at + len(word)))
        at += len(word)

    def said(head):
        return [[sum(head[i, j].item() for i in row for j in to) / len(row) for to in places] for row in places]

    return [[said(head) for head in layer] for layer in probs]


def most(row, own, among=None):
    return max((place for place in among or range(len(row)) if place != own), key=lambda place: row[place])


def test_attention_between_words_and_accuracy_are_what_plain_loops_say(model, letters):
    weights_of = [by_loops(model, letters, words) for words in TEXTS]
    for words, by_loop in zip(TEXTS, weights_of, strict=True):
        encoding, expected = letters.encode(" ".join(words)), torch.tensor(by_loop)
        tokens = head_accuracy.tokens_of_words(encoding, words)
        weights = head_accuracy.between_words(attentions(model, encoding.ids), tokens)
        torch.testing.assert_close(weights, expected, atol=1e-6, rtol=0)
        assert (weights.sum(-1) < 1 + 1e-5).all()  # the rest goes to [CLS] and [SEP]
        chosen = head_accuracy.looks_at(weights)
        for word in range(len(words)):
            assert chosen[1, 0, word] == most(expected[1, 0, word].tolist(), word)
    pronouns = [Pronoun(TEXTS[2], 5, 1, (0, 3), "meaning"), Pronoun(TEXTS[0], 3, 2, (0,), "form")]
    asked = about_relations(TEXTS, RELATIONS)
    found = {(one.relation, one.direction): one for one in measure_heads(model, letters, asked)}
    (both,) = measure_heads(model, letters, head_accuracy.about_pronouns(pronouns))
    assert both.relation == head_accuracy.COREFERENCE
    for layer, head in product(range(3), range(4)):
        says = [text[layer][head] for text in weights_of]
        for name in ("det", "amod", "dobj", "pobj"):
            asked = [(text, one) for text, some in enumerate(RELATIONS) for one in some if one.name == name]
            right = [most(says[text][one.dependent], one.dependent) == one.head for text, one in asked]
            ours = found[name, FROM_DEPENDENT].accuracy[layer, head].item()
            assert ours == pytest.approx(sum(right) / len(right))
        # A word with two dependents is asked once, and either is right.
        dets = [most(says[0][2], 2) in (0, 3), most(says[2][3], 3) == 0]
        assert found["det", FROM_HEAD].accuracy[layer, head].item() == pytest.approx(sum(dets) / 2)
        right = [most(says[2][5], 5, (0, 1, 3)) == 1, most(says[0][3], 3, (0, 2)) == 2]
        assert both.right[:, layer, head].tolist() == right


def test_what_is_cut_off_is_not_asked(model, letters):
    long = ("abc",) * 30  # 90 pieces; the model reads 62
    asked = about_relations([long], [[Relation("det", 0, 1), Relation("det", 2, 25), Relation("det", 25, 26)]])
    counts = {one.direction: len(one.questions) for one in measure_heads(model, letters, asked)}
    assert counts == {FROM_DEPENDENT: 1, FROM_HEAD: 1}
    with pytest.raises(ValueError, match="no relation"):
        measure_heads(model, letters, head_accuracy.HeadQuestions((long,), ()))


def question(text: int, looking: int, wanted: int, among=None) -> head_accuracy.HeadQuestion:
    return head_accuracy.HeadQuestion("det", FROM_DEPENDENT, text, looking, frozenset({wanted}), among)


def test_the_best_rule():
    assert best_rule([question(0, 1, 2), question(0, 3, 4), question(0, 5, 3)]) == (pytest.approx(2 / 3), "+1")
    assert best_rule([question(0, 3, 1), question(1, 4, 2), question(0, 5, 4)])[1] == "-2"
    pronouns = [question(0, 9, 4, (1, 4)), question(1, 9, 2, (2, 5, 7)), question(2, 9, 1, (1, 3))]
    assert best_rule(pronouns) == (pytest.approx(2 / 3), "first")
    assert best_rule(pronouns[:1]) == (1.0, "nearest")


def test_a_head_is_chosen_on_one_half_and_measured_on_the_other():
    # Head 1 is right on the texts 0, 1, 4, 5, …; head 2 on the others; head 3 on three of four of all.
    questions = tuple(question(text, 0, 1) for text in range(16))
    half = torch.tensor([text // 2 % 2 == 0 for text in range(16)])
    most_of = torch.tensor([text % 4 > 0 for text in range(16)])
    found = RelationAccuracy(
        "det", FROM_DEPENDENT, questions, torch.stack([half, ~half, most_of], 1)[:, None], 0.0, "+1"
    )
    assert found.accuracy.tolist() == [[0.5, 0.5, 0.75]] and found.best == (0, 2)
    assert found.held_out == 0  # each half chooses the head that is wrong on the other
    steady = RelationAccuracy("det", FROM_DEPENDENT, questions, most_of[:, None, None], 0.0, "+1")
    assert steady.held_out == pytest.approx(0.75)
    few = RelationAccuracy("det", FROM_DEPENDENT, questions[:2], most_of[:2, None, None], 0.0, "+1")
    assert few.held_out != few.held_out  # NaN: one half is empty
    # The better direction is that of the best head.
    right = torch.tensor([[[False, False]], [[False, True]]])
    ways = [
        RelationAccuracy("det", way, (), one, 0.0, "+1")
        for way, one in ((FROM_DEPENDENT, right[:1]), (FROM_HEAD, right))
    ]
    assert head_accuracy.better_direction(ways) == [ways[1]]
