"""Features against scikit-learn's, dense ones against transformers' vectors, batches by counting."""

import random
from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import CountVectorizer
from transformers import BertModel

from minibert.diet.dense import DenseFeatures
from minibert.diet.rows import BalancedBatches, balanced, batch_sizes, diet_batch, diet_rows, num_batches
from minibert.diet.sparse import LETTERS, WORD, SparseFeatures, n_grams
from minibert.tasks.intents import IntentExample
from tests.hostile import HOSTILE

ROOT = Path(__file__).resolve().parents[3]
LABELS = {"intents": ["a", "b"], "tags": ["O", "B-x", "I-x"]}


@pytest.mark.parametrize("word", ["a", "seven", "don", "七", "éé", "aaaa"])
def test_n_grams_are_scikit_learns(word):
    counted = CountVectorizer(analyzer="char_wb", ngram_range=(1, 5)).build_analyzer()(word)
    assert set(n_grams(word)) == {gram for gram in counted if gram != " "}
    assert len(n_grams(word)) == len(set(n_grams(word)))


def test_features_of_seen_and_unseen_words():
    sparse = SparseFeatures.fit([["Wake", "me"], ["wake", "early"]], at_least=1)
    named = [sparse.names[index] for index in sparse.of_word("WAKE")]
    assert named[0] == (WORD, "wake") and {(LETTERS, gram) for gram in n_grams("wake")} == set(named[1:])
    assert all(kind == LETTERS for kind, _ in (sparse.names[i] for i in sparse.of_word("woke")))
    assert sparse.of_word("ßß") == [] and len(sparse) == len(sparse.words) + len(sparse.grams)
    rows = sparse.of_text(["wake", "zzz"])
    assert rows[-1] == [*rows[0], *rows[1]] and sparse.of_text([]) == [[]]
    for text in HOSTILE.values():
        assert all(0 <= number < len(sparse) for number in sparse.of_word(text))
    often = SparseFeatures.fit([["aa"], ["aa"], ["ab"]])  # counted in words, not in texts
    assert "aa" in often.words and "aa" not in often.grams and "a" in often.grams


@torch.no_grad()
def test_dense_features_are_the_mean_of_the_pieces():
    dense = DenseFeatures.from_directory(ROOT / "checkpoints" / "mini-en")
    texts = ["Wake me at seventyish", "no", "…"]
    found = dense.of_texts([IntentExample(text) for text in texts])
    theirs = BertModel.from_pretrained(ROOT / "checkpoints" / "mini-en", add_pooling_layer=False).float().eval()
    for text, ours in zip(texts, found, strict=True):
        pieces = dense.tokenizer.encode_bulk(list(IntentExample(text).words))
        ids = [dense.tokenizer.cls_id, *chain(*pieces), dense.tokenizer.sep_id]
        hidden = theirs(torch.tensor([ids])).last_hidden_state[0]
        of_words = hidden[1:-1].split([len(word) for word in pieces])
        assert torch.allclose(ours, torch.stack([*(word.mean(0) for word in of_words), hidden[0]]), atol=1e-4)


def test_a_batch_is_its_rows():
    sparse = SparseFeatures.fit([["a", "b"], ["c"]], at_least=1)
    known = IntentExample("a b", "b"), IntentExample("c", "a")
    rows = diet_rows(known, LABELS, sparse, None)
    batch = diet_batch(rows)
    assert batch.padding.tolist() == [[True, True, True], [True, True, False]] and batch.tokens == 5
    assert batch.words.tolist() == [[True, True], [True, False]]
    assert batch.intents.tolist() == [1, 0] and batch.tags.tolist() == [[0, 0], [0, -100]]
    ends = [*batch.starts.tolist()[1:], len(batch.features)]
    places = [batch.features[a:b].tolist() for a, b in zip(batch.starts.tolist(), ends, strict=True)]
    assert places == [*rows[0].sparse, *rows[1].sparse, []]
    assert diet_batch(diet_rows([IntentExample("")], LABELS, sparse, None)).words.shape == (1, 0)
    assert diet_rows([IntentExample("a", "else")], LABELS, sparse, None)[0].intent == -100


def test_batches_are_balanced_and_grow():
    intents = [0] * 80 + [1] * 20
    order = balanced(intents, random.Random(0))
    assert sorted(order) == list(range(100))
    shares = [Counter(intents[i] for i in order[at : at + 25])[1] for at in range(0, 100, 25)]
    assert max(shares) - min(shares) <= 2
    assert batch_sizes(64, 256, 4) == [64, 128, 192, 256] and batch_sizes(64, 256, 1) == [64]
    sparse = SparseFeatures.fit([["a"]])
    rows = diet_rows([IntentExample("a " * (1 + i % 7), "ab"[i % 2]) for i in range(50)], LABELS, sparse, None)
    sizes = [16, 32]
    made = list(BalancedBatches(rows, sizes))
    assert sum(len(batch.intents) for batch in made) == 100 and len(made) == num_batches(50, sizes) == 6
    again = list(BalancedBatches(rows, sizes))
    assert all(np.array_equal(a.features, b.features) for a, b in zip(made, again, strict=True))
    with pytest.raises(ValueError, match="nothing to learn"):
        BalancedBatches([], sizes)
