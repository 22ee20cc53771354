"""Analogies, worked by hand on a table whose answers are known."""

import numpy as np
import pytest
import torch

from minibert.config import BertConfig
from minibert.inside.geometry.analogies import WordTable, answers, share_right, word_table
from minibert.inside.geometry.vectors import unit
from minibert.model import Bert
from minibert.tokenizer import Tokenizer

#           male  royal  old
VECTORS = {
    "man": (1, 0, 0),
    "woman": (-1, 0, 0),
    "king": (1, 1, 0),
    "queen": (-1, 1, 0),
    "boy": (1, 0, -1),
    "girl": (-1, 0, -1),
}
TABLE = WordTable(tuple(VECTORS), unit(np.array(list(VECTORS.values()), float)))
PAIRS = [("man", "woman"), ("king", "queen"), ("boy", "girl")]


def test_the_answer_is_the_nearest_to_b_minus_a_plus_c():
    unit_of = dict(zip(TABLE.words, TABLE.vectors, strict=True))
    target = unit_of["woman"] - unit_of["man"] + unit_of["king"]
    length = np.linalg.norm(target)
    by_hand = {word: float(vector @ target / length) for word, vector in unit_of.items()}  # all at length 1
    best = sorted((word for word in by_hand if word not in ("man", "woman", "king")), key=lambda w: -by_hand[w])
    found = answers(TABLE, "man", "woman", "king", 3)
    assert [word for word, _ in found] == best and found[0][0] == "queen"
    assert [cosine for _, cosine in found] == pytest.approx([by_hand[word] for word in best])


def test_the_words_of_the_question_are_left_out_unless_asked_for():
    assert answers(TABLE, "man", "man", "king", 1, leave_out=False)[0][0] == "king"
    assert answers(TABLE, "man", "man", "king", 1)[0][0] != "king"
    with pytest.raises(ValueError, match="no whole word 'duke'"):
        answers(TABLE, "man", "woman", "duke", 1)


def test_every_two_pairs_are_asked_both_ways():
    share, asked = share_right(TABLE, [*PAIRS, ("duke", "duchess")])
    right = sum(answers(TABLE, *one, other[0], 1)[0][0] == other[1] for one in PAIRS for other in PAIRS if one != other)
    assert asked == 6 and share == right / 6 > 0.5
    assert share_right(TABLE, PAIRS[:1])[1] == 0


def test_only_whole_words_stand_in_the_table():
    tokenizer = Tokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", "##c", "42", "word", "!"])
    torch.manual_seed(0)
    model = Bert(BertConfig(11, 8, 1, 2, 8))
    table = word_table(model, tokenizer)
    assert table.words == ("a", "word")
    rows = model.embeddings.token.weight[[5, 9]].detach().numpy()
    assert np.allclose(table.vectors, unit(rows - rows.mean(0)), atol=1e-6)
