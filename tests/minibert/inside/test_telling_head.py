"""The head that has most to show for a word, and the word to begin with."""

import torch

from minibert.inside.heads.telling import content_words, telling_head, word_that_asks

TOKENS = ["[CLS]", "the", "dog", "ran", "after", "the", "cat", "because", "it", "was", "angry", ".", "[SEP]"]
IT = TOKENS.index("it")


def test_a_word_may_fetch_from_content_that_is_no_neighbour_and_the_telling_head_gives_most_to_it():
    it, first, next_to_dog = ([TOKENS[j] for j in content_words(TOKENS, at)] for at in (IT, 1, 3))
    assert it == ["dog", "ran", "cat"] and "dog" not in next_to_dog
    assert first == ["ran", "cat", "angry"]  # nothing stands before it
    probs = torch.full((2, 3, len(TOKENS), len(TOKENS)), 0.01)
    probs[0, 1, IT, IT - 1] = 0.9  # a neighbour does not count
    probs[1, 2, IT, 2] = probs[1, 2, IT, 6] = 0.3
    layer, head, share = telling_head(probs, TOKENS, IT)
    assert (layer, head) == (1, 2) and abs(share - 0.61) < 1e-6
    assert telling_head(probs, ["[CLS]", "[SEP]"], 0) is None
    assert TOKENS[word_that_asks(TOKENS, range(1, 12))] == "it"  # of the words, a pronoun asks first
    assert word_that_asks(["[CLS]", "the", "dog", "[SEP]"], [1, 2]) == 2
    assert word_that_asks(["[CLS]", "[SEP]"], []) == 0
