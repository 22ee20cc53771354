"""How pairs are made, step by step and equal to the data pipeline's; what a model and topic alone say of pairs."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

from minibert.folders import ROOT
from minibert.inside.predictions import next_sentence
from minibert.inside.predictions.next_sentence import (
    APART,
    ELSEWHERE,
    NEXT,
    SWAPPED,
    TOPIC,
    TopicOverlap,
    deal,
    decisions,
    probes,
)
from minibert.text.batches import PretrainingBatches
from minibert.text.documents import read_documents, split_sentences
from minibert.text.store import TokenStore

DOCUMENTS = ROOT / "lessons" / "data" / "documents"
LINES = ["one two three.", "four.", "five six.", "seven eight nine ten.", "a.", "b c d.", "e f."] * 2


@pytest.fixture(scope="module")
def documents():
    first, again = (list(read_documents([DOCUMENTS / f"{name}.txt"])) for name in ("topics", "again"))
    return first + again, [*range(len(first)), *range(len(again))]


SIZES, LENGTHS, SEEDS = st.lists(st.integers(1, 9), min_size=2, max_size=6), st.integers(5, 60), st.integers(0, 2**32)


@settings(max_examples=60)
@given(sizes=SIZES, max_length=LENGTHS, seed=SEEDS)
def test_the_pairs_are_those_of_pre_training(letters, sizes, max_length, seed):
    store = TokenStore.build([LINES[:size] for size in sizes], letters)
    made = decisions(store, max_length, seed)
    for one, after in pairwise(made):
        assert not one.put_back or one.document != after.document or after.chunk[0] == one.put_back[0]
    rng = np.random.default_rng(seed)
    stream = PretrainingBatches(store, letters, batch_size=1, max_length=max_length, seed=0)
    expected = [(p.a, p.b, p.next_label) for p in stream.rows_of(rng.permutation(len(store)).tolist(), rng)]
    ours = [one.pair for one in made]
    assert [(store.ids[p.a].tolist(), store.ids[p.b].tolist(), p.next_label) for p in ours] == expected


@settings(max_examples=60)
@given(sizes=SIZES, max_length=LENGTHS, short=st.sampled_from([0.0, 0.3, 1.0]), seed=SEEDS)
def test_every_step_fits_the_next(letters, sizes, max_length, short, seed):
    store = TokenStore.build([LINES[:size] for size in sizes], letters)
    budget = max_length - 3
    for one in decisions(store, max_length, seed, short):
        chunk = [place for sentence in one.chunk for place in sentence]
        start, end = store.sentences[store.documents[one.document]], store.sentences[store.documents[one.document + 1]]
        assert start <= chunk[0] and chunk[-1] < end and chunk == list(range(chunk[0], chunk[-1] + 1))
        assert 2 <= one.target <= budget and (short > 0 or one.target == budget)
        assert len(chunk) - len(one.chunk[-1]) < one.target  # it grew no further than needed
        assert len(chunk) >= one.target or chunk[-1] == end - 1
        assert one.a == chunk[: len(one.a)]
        if one.random_next:
            assert not start <= one.b[0] < end
            assert [place for sentence in one.put_back for place in sentence] == chunk[len(one.a) :]
        else:
            assert len(one.chunk) > 1 and one.a + one.b == chunk and one.put_back == []
        for whole, kept in ((one.a, one.pair.a), (one.b, one.pair.b)):
            assert kept == whole[whole.index(kept[0]) :][: len(kept)]
        assert len(one.pair.a) + len(one.pair.b) == min(budget, len(one.a) + len(one.b))


def test_documents_are_separated_by_blank_lines(tmp_path):
    text = "one.\ntwo.\n\n \n three. \n\n\nfour."
    (tmp_path / "text.txt").write_text(text)
    read = list(read_documents([tmp_path / "text.txt"]))
    assert next_sentence.documents_in(text) == read == [["one.", "two."], ["three."], ["four."]]
    assert next_sentence.documents_in(" \n\n ") == []


def test_short_documents_give_more_random_pairs(documents, mini):
    store = TokenStore.build(documents[0], mini[1])
    shares = [random / pairs for random, pairs in (next_sentence.random_share(store, n, 48, seed=0) for n in (1, 2, 7))]
    assert 1 == shares[0] > shares[1] > shares[2] > 0.5
    # Two sentences in one chunk: a fair coin; if it says random, the second is put back and gets a random B too.
    random, pairs = next_sentence.random_share(store, 2, 512, seed=0, short_probability=0, documents=3000)
    assert random / pairs == pytest.approx(2 / 3, abs=0.02)


def test_judgements_equal_transformers(mini):
    """Ours are of one batch, theirs of each pair alone."""
    model, tokenizer = mini
    pairs = [("The dog barked.", "The cat ran away from it."), ("A b c.", "Snow " * 700), ("One.", "Two three four.")]
    theirs = transformers.BertForPreTraining.from_pretrained(ROOT / "checkpoints" / "mini-en").float().eval()
    wanted = []
    for a, b in pairs:
        encoding = tokenizer.encode(a, b, max_length=512)
        with torch.no_grad():
            said = theirs(torch.tensor([encoding.ids]), token_type_ids=torch.tensor([encoding.segments]))
        wanted.append(float(said.seq_relationship_logits.softmax(-1)[0, 0]))
    np.testing.assert_allclose(next_sentence.judge(model, tokenizer, pairs), wanted, atol=1e-5)


def test_topic_overlap_reads_no_order(mini, documents):
    overlap = TopicOverlap(*mini, documents[0])
    a, b = " ".join(documents[0][0][:2]), " ".join(documents[0][0][2:4])
    assert overlap(a, b) == overlap(b, a) == overlap(" ".join(reversed(a.split())), b)
    assert overlap(a, a) == pytest.approx(1) and overlap(a, "") == 0 and abs(overlap(a, b)) < 1


def test_the_threshold_is_the_best_there_is():
    rng = np.random.default_rng(0)
    follows, random = rng.normal(0.5, 1, 80), rng.normal(-0.5, 1, 50)
    bound = next_sentence.best_threshold(follows, random)
    false, true, _ = roc_curve([1] * 80 + [0] * 50, np.concatenate([follows, random]))
    assert (follows >= bound).mean() - (random >= bound).mean() == pytest.approx((true - false).max())
    assert 1 < next_sentence.best_threshold(np.array([3.0, 2]), np.array([1.0, 0])) < 2


@pytest.mark.parametrize("sentences", [1, 2, 3])
def test_each_kind_is_what_it_says(documents, sentences):
    texts, topics = documents
    owner = {line: (number, place) for number, lines in enumerate(texts) for place, line in enumerate(lines)}
    found = probes(texts, topics, sentences)
    true = {probe.window: probe for probe in found if probe.kind == NEXT}

    def where(text):
        parts = split_sentences(text)
        number, first = owner[parts[0]]
        assert [owner[part] for part in parts] == [(number, first + i) for i in range(sentences)]
        return number, first

    for probe in found:
        (a, start), (b, other) = where(probe.a), where(probe.b)
        assert a % 2 == b % 2
        match probe.kind:
            case "next":
                assert (a, other) == (b, start + sentences)
            case "swapped":
                assert (probe.a, probe.b) == (true[probe.window].b, true[probe.window].a)
            case "apart":
                assert a == b and abs(other - start) > sentences
            case "topic":
                assert a != b and topics[a] == topics[b]
            case "elsewhere":
                assert topics[a] != topics[b]
        if probe.kind != SWAPPED:
            assert probe.a == true[probe.window].a and probe.document == a
    counts = Counter(probe.kind for probe in found)
    assert counts[NEXT] == counts[ELSEWHERE] == counts[APART] == counts[SWAPPED] == len(true)
    assert counts[TOPIC] == len(true) * 24 / 52
    assert found == probes(texts, topics, sentences)


def test_ten_pairs_to_guess(documents):
    found = probes(*documents)
    dealt = [found[i] for i in deal(found, SWAPPED, 10, seed=3)]
    assert len({probe.document for probe in dealt}) == 10 and {probe.kind for probe in dealt} == {NEXT, SWAPPED}
    assert deal(found, SWAPPED, 10, seed=3) != deal(found, SWAPPED, 10, seed=4)
    many = [found[i].kind for seed in range(40) for i in deal(found, ELSEWHERE, 10, seed)]
    assert 0.4 < many.count(NEXT) / len(many) < 0.6


def test_the_bound_never_saw_the_documents_it_is_used_on(mini, documents):
    """What the even documents' pairs are called moves the bound of the odd ones, and not their own."""
    texts, topics = documents
    overlap = TopicOverlap(*mini, texts)
    found = probes(texts, topics)
    even = np.array([probe.document % 2 == 0 for probe in found])
    other = {NEXT: ELSEWHERE, ELSEWHERE: NEXT}
    kinds = [probe.kind if probe.document % 2 else other.get(probe.kind, probe.kind) for probe in found]
    renamed = [replace(probe, kind=kind) for probe, kind in zip(found, kinds, strict=True)]
    before, after = (next_sentence.TopicVerdicts.of(overlap, asked) for asked in (found, renamed))
    np.testing.assert_array_equal(before.follows[even], after.follows[even])
    assert (before.follows[~even] != after.follows[~even]).any()


def test_measured_numbers_are_counts(loaded, documents):
    texts, topics = documents
    result = next_sentence.measure(*loaded, texts[:12], topics[:12])
    for kind, rows in result.rows.items():
        head, topic, n = result.judged_next(kind)
        assert n == len(rows) == sum(probe.kind == kind for probe in result.probes)
        assert head == sum(result.probs[i] > 0.5 for i in rows) and 0 <= topic <= n
    assert TOPIC not in result.rows
    # The same words in the other order: topic alone cannot choose, and calls as many "next".
    _, topic, n = result.ranked_higher(SWAPPED)
    assert topic == n / 2 and result.accuracy(SWAPPED)[1] == 0.5
    assert result.judged_next(SWAPPED)[1] == result.judged_next(NEXT)[1]
    follows, other = result.probs[result.rows[NEXT]], result.probs[result.rows[ELSEWHERE]]
    assert result.ranked_higher(ELSEWHERE)[0] == (follows > other).sum() + 0.5 * (follows == other).sum()


def test_a_new_layer_learns_order_where_there_is_order(loaded):
    """B always begins with a letter that A never has: order shows. With the same text on both sides it cannot."""
    shown = {NEXT: ("a b c", "z z z"), SWAPPED: ("z z z", "a b c")}
    told = [next_sentence.Probe(kind, d, d, *pair) for d in range(30) for kind, pair in shown.items()]
    assert next_sentence.teach_order(*loaded, told) == {"pooled": (60, 60), "means": (60, 60)}
    same = [replace(probe, a="a b", b="a b") for probe in told]
    found = next_sentence.teach_order(*loaded, same)
    assert all(right <= 30 and n == 60 for right, n in found.values())
