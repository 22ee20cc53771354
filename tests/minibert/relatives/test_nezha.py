"""NEZHA's attention, by hand from the formulas of Wei et al. 2019, §2.2."""

import itertools
import math

import pytest
import torch

from minibert.model import Batch, BertForPreTraining
from minibert.relatives import build
from minibert.relatives.nezha import NezhaConfig, RelativeAttention

CONFIG = NezhaConfig(
    vocab_size=31,
    hidden_size=12,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=24,
    max_relative_position=3,
    max_position_embeddings=40,
    initializer_range=0.3,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)


@torch.no_grad()
def test_every_number_of_a_head_by_hand():
    """a_ij, added to keys and values, is the place of j − i, clipped, in the table of 2k + 1 sinusoids."""
    torch.manual_seed(0)
    attention = RelativeAttention(CONFIG).double().eval()
    attention.sinusoids = attention.sinusoids.double()
    q, k, v = torch.randn(3, 1, 2, 7, 6, dtype=torch.float64)  # (B, A, T, D) each
    real = torch.tensor([True] * 5 + [False] * 2)
    mixed = attention.attend(q, k, v, real[None, None, None])
    place = torch.tensor([[max(-3, min(3, j - i)) + 3 for j in range(5)] for i in range(7)])
    waves = place[..., None] / 10_000 ** (torch.arange(6, dtype=torch.float64) // 2 * 2 / 6)
    a = torch.where(torch.arange(6) % 2 == 1, waves.cos(), waves.sin())  # (T, real, D)
    for head, i in itertools.product(range(2), range(7)):
        scores = (k[0, head, :5] + a[i]) @ q[0, head, i] / math.sqrt(6)
        probs = scores.exp() / scores.exp().sum()
        by_hand = probs @ (v[0, head, :5] + a[i])
        assert torch.allclose(mixed[0, head, i], by_hand, atol=1e-6)  # the table is float32


def test_taps_are_the_parts_of_the_score():
    torch.manual_seed(0)
    seen = {}
    build(CONFIG).eval()(Batch(torch.randint(31, (2, 9))), lambda name, x: seen.setdefault(name, x))
    q, k = seen["blocks.1.attn.query"], seen["blocks.1.attn.key"]
    by_place = seen["blocks.1.attn.relative_scores"]
    assert torch.allclose(seen["blocks.1.attn.scores"], (q @ k.mT + by_place) / math.sqrt(6), atol=1e-6)
    assert seen["blocks.1.attn.relative"].shape == (9, 9, 6)
    assert "embeddings.position" not in seen


@torch.no_grad()
def test_it_reads_further_than_it_has_positions_and_takes_none():
    assert build(CONFIG, BertForPreTraining).eval()(Batch(torch.randint(31, (1, 100)))).mlm_logits.shape == (1, 100, 31)
    with pytest.raises(ValueError, match="no positions to give a token"):
        build(CONFIG)(Batch(torch.zeros(1, 3, dtype=torch.long), positions=torch.arange(3)[None]))


def test_the_papers_waves_and_the_codes_are_one_model():
    """The paper has sin((j − i)·ω), its authors' code sin((j − i + k)·ω): query, key, value and output matrix turned by
    k·ω, pair by pair, make the same of it."""
    torch.manual_seed(0)
    ours, papers = RelativeAttention(CONFIG).double().eval(), RelativeAttention(CONFIG).double().eval()
    papers.load_state_dict(ours.state_dict())
    places = torch.arange(-3, 4, dtype=torch.float64)[:, None]
    angle = 10_000 ** (-torch.arange(0, 6, 2, dtype=torch.float64) / 6)
    papers.sinusoids = torch.stack([(places * angle).sin(), (places * angle).cos()], -1).flatten(1)
    ours.sinusoids = ours.sinusoids.double()
    c, s = (3 * angle).cos(), (3 * angle).sin()
    turn = torch.block_diag(*torch.stack([c, s, -s, c], 1).view(3, 2, 2))  # ours = turn · the paper's
    assert torch.allclose(papers.sinusoids @ turn.T, ours.sinusoids, atol=1e-6)
    x = torch.randn(2, 9, 12, dtype=torch.float64)
    assert not torch.allclose(ours(x), papers(x), atol=1e-3)
    with torch.no_grad():
        for part in (papers.query, papers.key, papers.value):
            part.weight.copy_((turn.T @ part.weight.view(2, 6, 12)).reshape(12, 12))
            part.bias.copy_((part.bias.view(2, 6) @ turn).flatten())
        papers.output.weight.copy_((papers.output.weight.view(12, 2, 6) @ turn).reshape(12, 12))
    assert torch.allclose(ours(x), papers(x), atol=1e-6)
