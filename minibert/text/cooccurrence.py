"""Token vectors from co-occurrence counts, computed without gradients.

Positive pointwise mutual information, factorised (Levy & Goldberg 2014, "Neural word embedding as implicit matrix
factorization"; Levy, Goldberg & Dagan 2015, §3). They initialise BERT's token embeddings, which skips most of the
plateau of a small post-LN model before it learns to use context; the model remains an ordinary BERT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from minibert.model import Bert, MlmHead
from minibert.text.position_vectors import sinusoids
from minibert.text.store import TokenStore

if TYPE_CHECKING:
    from scipy import sparse

CHUNK = 4_000_000  # tokens counted at a time


def cooccurrence(store: TokenStore, vocab_size: int, window: int = 5) -> sparse.csr_matrix:
    """Symmetric counts (V, V): tokens at distance d ≤ window in the same sentence count 1/d."""
    from scipy import sparse

    counts = sparse.csr_matrix((vocab_size, vocab_size), dtype=np.float32)
    ends = np.asarray(store.sentences)
    first = 0
    while first < len(ends) - 1:  # whole sentences, about CHUNK tokens of them
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + CHUNK, side="right")) - 1)
        ids = store.plain(ends[first], ends[last])
        sentence = np.repeat(np.arange(last - first), np.diff(ends[first : last + 1]))
        for distance in range(1, window + 1):
            together = sentence[distance:] == sentence[:-distance]
            pairs = ids[:-distance][together] * vocab_size + ids[distance:][together]
            cells, number = np.unique(pairs, return_counts=True)
            rows, columns = np.divmod(cells, vocab_size)
            weights = (number / distance).astype(np.float32)
            counts += sparse.csr_matrix((weights, (rows, columns)), shape=counts.shape)
        first = last
    return (counts + counts.T).tocsr()


def frequencies(store: TokenStore, vocab_size: int) -> np.ndarray:
    """How often each token occurs. (V,) int64."""
    counts = np.zeros(vocab_size, dtype=np.int64)
    for start in range(0, len(store.ids), CHUNK):
        counts += np.bincount(store.plain(start, start + CHUNK), minlength=vocab_size)
    return counts


def positive_pmi(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """max(0, log p(a, b) / (p(a) p(b))) where the pair was seen. (V, V) → (V, V)."""
    from scipy import sparse

    total = counts.sum()
    row = np.asarray(counts.sum(axis=1)).ravel()
    pairs = counts.tocoo()
    pmi = np.log(pairs.data * total / (row[pairs.row] * row[pairs.col]))
    kept = pmi > 0
    return sparse.csr_matrix((pmi[kept], (pairs.row[kept], pairs.col[kept])), shape=counts.shape)


def token_vectors(store: TokenStore, size: int, width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """U·√Σ of the PPMI matrix, each row of length 1 → (size, width), and which tokens occur, (size,) bool; the others'
    rows are zero."""
    from sklearn.utils.extmath import randomized_svd  # imported late: it takes two seconds

    ppmi = positive_pmi(cooccurrence(store, size))
    u, sigma, _ = randomized_svd(ppmi, n_components=min(width, size - 1), random_state=seed)
    seen = np.diff(ppmi.indptr) > 0
    vectors = np.zeros((size, width), dtype=np.float32)
    vectors[:, : len(sigma)] = u * np.sqrt(sigma)
    vectors[seen] /= np.linalg.norm(vectors[seen], axis=1, keepdims=True)
    return vectors, seen


def start_token_embeddings(model: Bert, store: TokenStore, seed: int = 0) -> None:
    """Set the token embeddings to U·√Σ of the PPMI matrix, each row scaled to length 1.

    Length 1 (rms 1/√H) is three times the usual initialisation at H = 256: at the usual one the first updates, about as
    large as the weights, wash the counts out again. Tokens that never occur (special ones too) stay random.
    """
    weight = model.embeddings.get_parameter("token.weight")  # (V, H)
    vectors, seen = token_vectors(store, weight.size(0), weight.size(1), seed)
    with torch.no_grad():
        weight[torch.from_numpy(seen)] = torch.from_numpy(vectors[seen])


def start_output_bias(head: MlmHead, store: TokenStore) -> None:
    """Set the bias of the MLM decoder to the log of each token's share of the text (a count of one for unseen ones).

    A bias moves by about the learning rate per step and log frequencies span ten nats; until it gets there, the
    embeddings are distorted to encode frequency.
    """
    counts = frequencies(store, head.decoder.out_features) + 1.0
    with torch.no_grad():
        head.decoder.bias.copy_(torch.from_numpy(np.log(counts / counts.sum())))


def start_position_embeddings(table: nn.Embedding, std: float) -> None:
    """Set a model's position embeddings to the Transformer's sinusoids (Vaswani et al. 2017, §3.5), with the usual root
    mean square `std`; they remain trainable."""
    with torch.no_grad():
        waves = sinusoids(table.num_embeddings, table.embedding_dim)
        table.weight.copy_(waves * std / waves.square().mean().sqrt())
