"""Distributions at a blank, held against the full forward pass and against torch's own divergence."""

import pytest
import torch
import torch.nn.functional as F

from minibert.corruption import MaskVocabulary, mask_tokens
from minibert.inside.predictions.cloze import FATES, expectations, fates, kl_divergence, rank, shifts
from minibert.model import IGNORE, Batch

IDS = [2, 10, 44, 7, 56, 31, 3]


def test_expectations_are_the_softmax_of_the_whole_forward_pass(model):
    with torch.no_grad():
        logits = model(Batch(torch.tensor([IDS]))).mlm_logits[0]  # (T, V)
    wanted = F.log_softmax(logits, dim=-1).double()
    for positions in ([1, 2, 4], [4, 1], [3], [5, 5, 0]):
        got = expectations(model, IDS, positions)
        assert got.shape == (len(positions), 61)
        assert torch.allclose(got, wanted[positions], atol=1e-5)
        assert torch.allclose(got.exp().sum(dim=-1), torch.ones(len(positions), dtype=torch.float64), atol=1e-12)
    assert expectations(model, IDS, []).shape == (0, 61) and not got.requires_grad


def test_kl_divergence_is_torchs_shifts_share_out_both_and_ranks_count_from_the_likeliest(model):
    log_p, log_q = expectations(model, IDS, [1, 3])
    theirs = F.kl_div(log_q, log_p, reduction="sum", log_target=True).item()
    assert theirs > 1e-3
    assert kl_divergence(log_p, log_q) == pytest.approx(theirs, rel=1e-12)
    assert kl_divergence(log_p, log_p) == 0
    parts = shifts(log_p, log_q)
    assert (parts >= 0).all() and torch.equal(parts, shifts(log_q, log_p))
    assert parts.sum().item() == pytest.approx(kl_divergence(log_p, log_q) + kl_divergence(log_q, log_p), rel=1e-12)
    assert [rank(torch.tensor([0.1, 0.6, 0.25, 0.05]).log(), token) for token in range(4)] == [3, 1, 2, 4]
    assert rank(torch.full((4,), 0.25).log(), 2) == 1  # the equally likely share the better rank


def test_fates_of_one_row_and_of_what_masking_did():
    ids = torch.tensor([2, 10, 11, 12, 13, 3])
    corrupted = torch.tensor([2, 4, 50, 12, 13, 3])
    labels = torch.tensor([IGNORE, 10, 11, 12, IGNORE, IGNORE])
    said = fates(ids, corrupted, labels, mask_id=4)
    assert said == ["untouched", "masked", "random", "kept", "untouched", "untouched"]
    vocab = MaskVocabulary(97, 4, torch.zeros(97, dtype=torch.bool))
    ids = torch.randint(5, 97, (1, 500), generator=torch.Generator().manual_seed(1))
    special = torch.zeros_like(ids, dtype=torch.bool)
    for split, only in zip([(1, 0, 0), (0, 1, 0), (0, 0, 1)], FATES[1:], strict=True):
        corrupted, labels = mask_tokens(ids, special, vocab, torch.Generator().manual_seed(0), 0.2, split)
        told = fates(ids[0], corrupted[0], labels[0], vocab.mask_id)
        assert told.count("untouched") == 400
        assert told.count(only) >= (100 if only != "random" else 90)  # a random token can be the same one, or [MASK]
