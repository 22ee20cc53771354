"""Learning watched step by step, and three ways to cut a text."""

import pytest

from minibert.text.vocab import SPECIAL_TOKENS, alphabet_of, count_words, learn_fast
from minibert.text.vocab_growth import growing_vocabulary, kinds_so_far, learned_pieces, watch_learning, ways_to_cut
from minibert.tokenizer import Tokenizer

TEXT = "the baker bakes bread and the bakers bake bread; the reader reads what the readers read. café Ünïcode 我爱你"


@pytest.mark.parametrize("scoring", ["frequency", "ratio"])
def test_what_is_watched_is_what_is_learned(scoring):
    learned = watch_learning(TEXT, True, scoring, 50)
    last = len(learned.merges)
    assert learned.size(last) == len(learned.pieces(last))
    if scoring == "frequency":
        assert learned.pieces(last) == learn_fast([TEXT], learned.size(last), coverage=1.0)
    for step in (0, 1, last // 2, last):
        cuts = learned.cuts(step)
        assert all("".join(piece.removeprefix("##") for piece in cut) == word for word, cut in cuts.items())
        assert {piece for cut in cuts.values() for piece in cut} <= set(learned.pieces(step))
        assert sum(learned.words[word] * len(cut) for word, cut in cuts.items()) == learned.tokens[step]


def test_any_text_can_be_learned_from_and_compared():
    for text in ("", " ", "a", "我爱你 我爱你", "\0\u200d", "😀😀", "<b>&amp;</b>", "zzzz zzzz zzzz"):
        learned, ways = watch_learning(text, True, "ratio", 20), ways_to_cut(text)
        assert len(learned.tokens) == len(learned.merges) + 1
        assert ways["words"].tokens == len(text.split())
        assert all(0 <= way.lost <= way.words for way in ways.values())


def test_the_three_ways_are_counted_right():
    ways = ways_to_cut("a bb a cc. A bb d")
    assert (ways["words"].entries, ways["words"].tokens, ways["words"].lost, ways["words"].words) == (4, 7, 2, 4)
    assert (ways["characters"].entries, ways["characters"].tokens, ways["characters"].lost) == (5, 11, 2)
    assert ways["pieces"].lost == 2  # "cc." and "d" hold characters the first half has not


def test_the_curve_runs_from_characters_to_the_learned_vocabulary():
    words, pieces = count_words([TEXT]), learned_pieces([TEXT], True)
    start = len(SPECIAL_TOKENS) + len(alphabet_of(words))
    curve = growing_vocabulary(words, pieces, start)
    assert [x for x, _y in curve] == sorted({x for x, _y in curve})
    assert curve[-1] == (len(pieces), len(Tokenizer(pieces).encode(TEXT, add_special=False)))
    assert curve[0] == (start, sum(count * len(word) for word, count in words.items()))
    assert curve[0][1] > curve[-1][1]


def test_kinds_add_up():
    read, kinds, letters = kinds_so_far(list("abacab"))
    assert (read[-1], kinds, letters[-1]) == (6, [1, 2, 2, 3, 3, 3], 3)
    assert kinds_so_far([]) == ([], [], [])
