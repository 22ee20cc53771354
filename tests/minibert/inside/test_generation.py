"""BERT's guesses while it is made to write are the model's own; its conditionals depend on their order."""

import math

import pytest

from minibert.inside.predictions.cloze import expectations
from minibert.inside.predictions.generation import chain, views, write


def test_writing_fills_the_first_blank_and_goes_on(model, letters):
    text, stop = letters.encode("ab").ids[1:-1], letters.ids["."]
    steps = list(write(model, letters, list(text), 4, [stop], blanks=2))
    for step in steps:
        assert step.ids == [letters.cls_id, *text, letters.mask_id, letters.mask_id, stop, letters.sep_id]
        log_probs = expectations(model, step.ids, [step.position])[0]
        allowed = [i for i in range(letters.vocab_size) if i not in letters.special_ids]
        assert step.chosen == max(allowed, key=lambda i: log_probs[i])
        assert step.guesses[0] == (step.chosen, pytest.approx(log_probs[step.chosen].exp().item()))
        assert len(step.guesses) == 5
        text.append(step.chosen)
    assert len(steps) == 4
    assert len(list(write(model, letters, [letters.ids["a"]], 500))) == 64 - 3  # it ends where the positions end


def test_a_chain_reveals_in_its_order_and_views_hide_what_they_say(model, letters):
    ids = letters.encode("a b c").ids
    m = letters.mask_id
    cls, a, _b, c, sep = ids
    there = chain(model, ids, [1, 2, 3], m)
    assert there[0] == pytest.approx(expectations(model, [cls, m, m, m, sep], [1])[0, a].item())
    assert there[2] == pytest.approx(expectations(model, [*ids[:3], m, sep], [3])[0, c].item())
    back = chain(model, ids, [3, 2, 1], m)
    assert back[0] == pytest.approx(expectations(model, [cls, m, m, m, sep], [3])[0, c].item())
    assert abs(sum(there) - sum(back)) > 1e-3
    ids = letters.encode("a b c d").ids
    seen = views(model, ids, 2, m)
    rows = [ids, [*ids[:2], m, *ids[3:]], [*ids[:2], m, m, m, ids[-1]], [*ids[:2], m, ids[-1]]]
    expected = [math.exp(expectations(model, row, [2])[0, ids[2]].item()) for row in rows]
    assert [seen.shown, seen.both, seen.left, seen.cut] == pytest.approx(expected)
