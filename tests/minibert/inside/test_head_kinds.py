"""Kinds of heads: hand-built attention gets the score it was built for, and nothing else does."""

import pytest
import torch

from minibert.config import BertConfig
from minibert.inside.heads import kinds as head_kinds
from minibert.inside.heads.kinds import ANTECEDENT, BROAD, FIRST, ITSELF, KINDS, NEXT, PREVIOUS, SAME, SEPARATOR
from minibert.tokenizer import Tokenizer
from minibert.toy import world as toy_world
from minibert.toy.annotations import encoded_stories
from tests.minibert.inside.random_models import random_model


@pytest.fixture(scope="module")
def encoding(letters):
    # [CLS] a ##b c a ##b [SEP]
    return letters.encode("ab c ab")


def scores_of(probs, aims) -> dict[str, float]:
    score, _chance, rows = head_kinds.tally(probs, aims)
    return {kind: (score[i] / rows[i]).item() for i, kind in enumerate(KINDS) if rows[i]}


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        (PREVIOUS, [0, 0, 1, 2, 3, 4, 5]),
        (NEXT, [1, 2, 3, 4, 5, 6, 6]),
        (ITSELF, [0, 1, 2, 3, 4, 5, 6]),
        (SAME, [0, 4, 5, 3, 5, 4, 6]),  # the other a, its word's other piece, …; c has no other
        (SEPARATOR, [6] * 7),
        (FIRST, [0] * 7),
    ],
)
def test_a_head_built_for_a_kind_scores_one(encoding, kind, columns):
    assert encoding.tokens == ["[CLS]", "a", "##b", "c", "a", "##b", "[SEP]"]
    scores = scores_of(torch.eye(7)[columns], head_kinds.targets(encoding))
    assert scores[kind] == pytest.approx(1)
    others = {other: score for other, score in scores.items() if other not in (kind, SAME, PREVIOUS, NEXT)}
    assert all(score < 0.6 for score in others.values())
    assert scores[BROAD] == pytest.approx(1 / 7)  # each row is all on one of seven tokens


def test_only_words_are_rows_a_missing_target_is_not_counted_and_even_attention_scores_what_chance_says(encoding):
    aims = head_kinds.targets(encoding)
    rows = {kind: aims[i].any(-1).nonzero().flatten().tolist() for i, kind in enumerate(KINDS[:-1])}
    assert rows[PREVIOUS] == [2, 3, 4, 5] and rows[NEXT] == [1, 2, 3, 4]  # before the first word is only [CLS]
    assert rows[SAME] == [1, 2, 4, 5]  # c is there once
    assert rows[SEPARATOR] == rows[FIRST] == rows[ITSELF] == [1, 2, 3, 4, 5]
    assert rows[ANTECEDENT] == []
    even = torch.full((2, 3, 7, 7), 1 / 7)
    score, chance, rows = head_kinds.tally(even, head_kinds.targets(encoding, [(3, 1), (3, 2)]))
    for i, kind in enumerate(KINDS):
        expected = rows[i] if kind == BROAD else chance[i]
        assert torch.allclose(score[i], expected.to(score.dtype).expand(2, 3)), kind
    assert chance[KINDS.index(ANTECEDENT)] == pytest.approx(2 / 7)


def test_a_head_is_named_by_its_highest_score_if_that_is_high_enough():
    scores = torch.full((len(KINDS), 1, 3), 0.1)
    scores[KINDS.index(SEPARATOR), 0, 0] = 0.9
    scores[KINDS.index(PREVIOUS), 0, 0] = 0.5
    scores[KINDS.index(BROAD), 0, 1] = 0.4
    scores[KINDS.index(ANTECEDENT)] = torch.nan
    kinds = head_kinds.HeadKinds(scores, torch.zeros(len(KINDS)), torch.ones(len(KINDS)))
    assert kinds.named(0.4) == [[SEPARATOR, BROAD, None]]
    assert kinds.named(0.5) == [[SEPARATOR, None, None]]
    assert kinds.score(PREVIOUS, 0, 0) == pytest.approx(0.5)


@pytest.fixture(scope="module")
def toy():
    tokenizer = Tokenizer(toy_world.vocabulary())
    config = BertConfig(tokenizer.vocab_size, 16, 2, 2, 32, max_position_embeddings=160, initializer_range=0.4)
    return random_model(config), tokenizer


def test_the_true_antecedent_of_the_toy_world(toy):
    _, tokenizer = toy
    story = toy_world.generate(3, world="small")
    ((encoding, pairs),) = encoded_stories(tokenizer, [story], 160)
    assert len(pairs) == len(toy_world.links(story)) > 5
    for row, column in pairs:  # one token a word, after [CLS]
        assert column - 1 in story.words[row - 1].determined_by
    looks = [dict(pairs).get(row, 0) for row in range(len(encoding))]
    score, chance, rows = head_kinds.tally(torch.eye(len(encoding))[looks], head_kinds.targets(encoding, pairs))
    at = KINDS.index(ANTECEDENT)
    assert score[at] == rows[at] > 5 and chance[at] < rows[at] / 2


def test_a_model_is_measured_as_the_mean_over_rows_of_all_sentences(toy):
    model, tokenizer = toy
    told = toy_world.stories(3, 0, "small")
    kinds = head_kinds.measure(model, encoded_stories(tokenizer, told, 160))
    assert kinds.scores.shape == (len(KINDS), 2, 2)
    total = rows = 0
    for story in told:
        ids = [tokenizer.cls_id, *(tokenizer.vocab.index(word.text) for word in story.words), tokenizer.sep_id]
        with torch.inference_mode():
            probs = head_kinds.attentions(model, ids)[1, 0]
        for i, word in enumerate(story.words, 1):
            if word.determined_by:
                total += sum(probs[i, j + 1].item() for j in word.determined_by)
                rows += 1
    assert kinds.score(ANTECEDENT, 1, 0) == pytest.approx(total / rows, abs=1e-5)
    none = head_kinds.measure(model, head_kinds.sentences(tokenizer, ["anna ran ."], 20))
    assert torch.isnan(none.scores[KINDS.index(ANTECEDENT)]).all()
    assert head_kinds.sentences(tokenizer, ["", " "], 20) == []
    with pytest.raises(ValueError, match="no sentence"):
        head_kinds.measure(model, [])
