"""Counts, PPMI and its factorisation against their definitions, written out."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch

from minibert.config import BertConfig
from minibert.model import Bert, BertForPreTraining
from minibert.text import cooccurrence as counting
from minibert.text.cooccurrence import cooccurrence, positive_pmi, start_token_embeddings
from minibert.text.store import TokenStore

SENTENCES = [[1, 2, 3, 1], [2, 3], [5, 5, 1], [4]]


@pytest.fixture
def store():
    flat = np.array([token for sentence in SENTENCES for token in sentence], dtype=np.uint16)
    ends = np.concatenate([[0], np.cumsum([len(sentence) for sentence in SENTENCES])])
    return TokenStore(flat, ends, np.array([0, 2, 4]))


def test_counts_are_the_definition(store):
    window, expected = 2, Counter()
    for sentence in SENTENCES:
        for i, a in enumerate(sentence):
            for j, b in enumerate(sentence):
                if i != j and abs(i - j) <= window:
                    expected[a, b] += 1 / abs(i - j)
    counts = cooccurrence(store, 7, window).toarray()
    for pair in product(range(7), repeat=2):
        assert counts[pair] == pytest.approx(expected[pair])


def test_ppmi_is_the_definition(store):
    counts = cooccurrence(store, 7)
    dense, ppmi = counts.toarray(), positive_pmi(counts).toarray()
    total = dense.sum()
    for a, b in product(range(7), repeat=2):
        pmi = math.log(dense[a, b] * total / (dense[a].sum() * dense[b].sum())) if dense[a, b] else 0.0
        assert ppmi[a, b] == pytest.approx(max(0.0, pmi), abs=1e-5)


def test_start_has_rows_of_length_one_and_leaves_unseen_tokens(store):
    torch.manual_seed(0)
    model = Bert(BertConfig(7, 4, 1, 1, 8))
    before = model.embeddings.token.weight.detach().clone()
    start_token_embeddings(model, store)
    after = model.embeddings.token.weight.detach()
    for token in (1, 2, 3, 5):
        assert after[token].norm().item() == pytest.approx(1.0, rel=1e-4)
    for token in (0, 4, 6):  # 4 stands alone in its sentence: it co-occurs with nothing
        assert torch.equal(after[token], before[token])


def test_words_in_like_company_get_like_vectors():
    rng = np.random.default_rng(0)
    sentences = [rng.integers(4, size=6) + 4 * (i % 2) for i in range(400)]  # of 0 to 3, or of 4 to 7
    store = TokenStore(np.concatenate(sentences), np.arange(0, 6 * 401, 6), np.array([0, 400]))
    model = Bert(BertConfig(8, 4, 1, 1, 8))
    start_token_embeddings(model, store)
    vectors = torch.nn.functional.normalize(model.embeddings.token.weight.detach(), dim=-1)
    alike = vectors @ vectors.T
    assert alike[:4, :4].min() > alike[:4, 4:].max()


def test_output_bias_is_the_log_of_frequencies(store):
    model = BertForPreTraining(BertConfig(7, 4, 1, 1, 8))
    counting.start_output_bias(model.mlm, store)
    shares = model.mlm.decoder.bias.detach().exp()
    assert shares.sum().item() == pytest.approx(1.0)
    # 17 = 10 tokens and one more for each of 7 entries
    assert shares.tolist() == pytest.approx([1 / 17, 4 / 17, 3 / 17, 3 / 17, 2 / 17, 3 / 17, 1 / 17])


def test_positions_start_at_the_usual_scale():
    model = Bert(BertConfig.preset("tiny", vocab_size=100))
    counting.start_position_embeddings(model.embeddings.position, 0.02)
    weight = model.embeddings.position.weight
    assert weight.square().mean().sqrt().item() == pytest.approx(0.02, rel=1e-4)
    assert weight.requires_grad
