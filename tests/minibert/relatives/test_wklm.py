"""WKLM: which names give way to which, by hand; the head from the vectors beside a name; and what is asked when."""

import itertools
import random

import pytest
import torch

from minibert.inside.relatives.name_probe import names_in_text, original_probabilities, replaced_probabilities
from minibert.masking.units import word_units
from minibert.model import IGNORE, Batch
from minibert.objectives import Masking
from minibert.relatives import build, objective_for
from minibert.relatives.parts.replaced_names import (
    NamesBatch,
    NamesLm,
    ReplacedNames,
    draw_replaced,
    names_of,
    others_of,
    replace_names,
)
from minibert.relatives.wklm import WklmConfig
from minibert.text.store import TokenStore
from minibert.text.word_lists import names_in
from minibert.toy import lexicon
from minibert.toy.name_probe import frequency_baseline, name_questions
from tests.minibert.relatives.toy_world import TOKENIZER, stream

NAMES = names_in(TOKENIZER)
OTHERS = others_of(NAMES)
SIZES = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 40}
SIZES |= {"max_position_embeddings": 80, "initializer_range": 0.2}


def network() -> NamesLm:
    torch.manual_seed(0)
    return build(WklmConfig(TOKENIZER.vocab_size, **SIZES), NamesLm).eval()


def encoded(text: str) -> tuple[torch.Tensor, torch.Tensor]:
    encoding = TOKENIZER.encode(text)
    return torch.tensor([encoding.ids]), torch.tensor([encoding.special])


def test_names_have_kinds_and_others_of_their_length():
    anna, zoo = (tuple(TOKENIZER.encode(name, add_special=False).ids) for name in ("anna", "the zoo"))
    assert {TOKENIZER.vocab[other[0]] for other in OTHERS[anna]} == {*lexicon.GIRLS, *lexicon.BOYS} - {"anna"}
    assert all(len(other) == 2 and NAMES[other] == "place" for other in OTHERS[zoo]) and len(OTHERS[zoo]) == 13
    assert others_of({(1,): "a", (2,): "b", (3, 4): "a"}) == {}  # alone of its kind, or of its length


def test_never_two_that_follow_each_other_and_as_many_as_the_chance_says():
    rng = random.Random(1)
    drawn = draw_replaced(20_000, 0.5, rng)
    assert not any(a and b for a, b in itertools.pairwise(drawn))
    assert sum(drawn) / len(drawn) == pytest.approx(0.5 / 1.5, abs=0.01)  # p / (1 + p)
    assert draw_replaced(5, 1.0, rng) == [True, False, True, False, True]


def test_only_names_change_and_only_into_their_kind():
    ids, special = encoded("anna met ben near the zoo. then he helped her.")
    read, replaced, behind = replace_names(ids, special, torch.zeros_like(special), OTHERS, random.Random(0), 1.0)
    assert replaced[0].tolist() == [IGNORE, 1, IGNORE, 0, IGNORE, 1, *[IGNORE] * (ids.size(1) - 6)]
    assert behind[0, [1, 3, 5]].tolist() == [2, 4, 7]
    changed = (read != ids)[0].nonzero().flatten().tolist()
    assert changed == [1, 6]  # "the" is in both names of places
    assert NAMES[tuple(read[0, 1:2].tolist())] == "first name" and NAMES[tuple(read[0, 5:7].tolist())] == "place"


def test_the_head_reads_the_vectors_beside_the_name():
    """By hand: w · [x_{s−1}; x_e] + b, σ, and the mean of the two cross-entropies."""
    model, (ids, _) = network().double(), encoded("anna met ben near the zoo.")
    replaced, behind = torch.full_like(ids, IGNORE), torch.zeros_like(ids)
    replaced[0, 1], behind[0, 1], replaced[0, 5], behind[0, 5] = 1, 2, 0, 7
    out = model(NamesBatch(ids, replaced=replaced, behind=behind))
    x, (w,), b = model.bert(Batch(ids))[0][0], model.names.weight, model.names.bias
    by_hand = torch.cat([w @ torch.cat([x[left], x[right]]) + b for left, right in ((0, 2), (4, 7))])
    assert torch.allclose(out.name_logits, by_hand, atol=1e-9)
    p, q = by_hand.sigmoid()
    assert out.name_loss.item() == pytest.approx((-p.log() - (1 - q).log()).item() / 2, abs=1e-6)
    assert model(Batch(ids)).name_logits is None


def batches_of(**options) -> list[Batch]:
    objective = objective_for(WklmConfig(TOKENIZER.vocab_size, **SIZES), masking=Masking(rate=0.3), **options)
    return list(stream(objective, 60, batch_size=12, epochs=1))


def test_hidden_words_are_a_share_of_berts_and_none_is_in_a_name():
    for batch in batches_of():
        assert isinstance(batch, NamesBatch) and batch.next_labels is None
        text = torch.where(batch.labels != IGNORE, batch.labels, batch.ids)
        for row, hidden in zip(text.tolist(), (batch.labels != IGNORE).tolist(), strict=True):
            special = [i in TOKENIZER.special_ids for i in row]
            for start, end in names_of(row, word_units([False] * len(row), special), OTHERS):
                assert not any(hidden[start:end])
        assert 0.04 < batch.num_targets / batch.tokens < 0.1  # a third of 30 %, of what is in no name


def test_true_names_may_be_hidden_too_and_are_not_asked_about_then():
    hidden_names = 0
    for batch in batches_of(names_too=True, hidden=1.0):
        asked, hidden = batch.replaced != IGNORE, batch.labels != IGNORE
        for row, first in asked.nonzero().tolist():
            assert not hidden[row, first : int(batch.behind[row, first])].any()
        named = torch.isin(batch.labels, torch.tensor([name[0] for name in NAMES if len(name) == 1]))
        hidden_names += int(named.sum())
        assert 0.2 < batch.num_targets / batch.tokens < 0.32
    assert hidden_names > 20


def test_names_are_asked_about_after_some_batches():
    before, after = batches_of(names_from=2)[1:3]
    assert not isinstance(before, NamesBatch) and isinstance(after, NamesBatch)
    objective = ReplacedNames(names_from=2)
    assert set(objective.target_counts(before)) == {"mlm"} and set(objective.target_counts(after)) == {"mlm", "names"}
    assert [objective.after(n).begun for n in range(4)] == [False, False, True, True]


def test_a_batch_without_names_asks_nothing_about_them():
    ids, _ = encoded("the zoo")
    model, none = network(), torch.full_like(ids, IGNORE)
    labels = none.clone()
    labels[0, 1] = 7
    out = model(NamesBatch(ids, labels=labels, replaced=none, behind=torch.zeros_like(ids)))
    assert out.name_loss.item() == 0 and torch.isfinite(out.loss)


def test_a_text_without_names_is_refused():
    store = TokenStore.build([["soon it was a good day."]] * 4, TOKENIZER)
    with pytest.raises(ValueError, match="holds no name that is known"):
        ReplacedNames().vocabulary(store, TOKENIZER)


def test_what_is_suspected_is_the_head_and_candidates_are_read_in_their_place():
    model, encoding = network(), TOKENIZER.encode("anna met ben near the zoo.")
    names = names_in_text(encoding, TOKENIZER)
    doubts = replaced_probabilities(model, encoding.ids, names)
    own = tuple(encoding.ids[5:7])
    shares = original_probabilities(model, encoding.ids, names[2], [own, *OTHERS[own]])
    assert len(doubts) == 3 and len(shares) == 14
    assert shares[0].item() == pytest.approx(1 - doubts[2], abs=1e-5)
    swapped = [*encoding.ids[:5], *OTHERS[own][3], *encoding.ids[7:]]
    assert shares[4].item() == pytest.approx(1 - replaced_probabilities(model, swapped, names)[2], abs=1e-5)
    assert replaced_probabilities(model, encoding.ids, []) == []


def test_the_name_named_most_is_a_guess():
    ids = TOKENIZER.encode("anna met ben. anna helped him. anna ran home.").ids
    asked = [(ids, 1, "name"), (ids, 3, "name"), (ids, 2, "verb")]
    found = name_questions(asked, TOKENIZER)
    assert found == asked[:2] and frequency_baseline(found, TOKENIZER) == 0.5  # anna, wherever
