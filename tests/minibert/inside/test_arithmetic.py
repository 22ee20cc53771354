import math

import pytest
import torch
import torch.nn.functional as F

from minibert.config import BertConfig
from minibert.inside.block_arithmetic import inputs, kept_by_layer, take_block_apart
from minibert.inside.heads import arithmetic as head_arithmetic
from minibert.inside.heads.arithmetic import PROJECTIONS, SoftmaxRow, disagreement, record, take_apart
from minibert.model import Batch
from minibert.relatives.albert import AlbertConfig
from minibert.relatives.left_to_right import LeftToRightConfig
from minibert.relatives.nezha import NezhaConfig
from minibert.relatives.xlnet import XlnetConfig
from tests.minibert.inside.random_models import random_model

SIZES = {"max_position_embeddings": 16, "initializer_range": 0.3}
KINDS = {
    "BERT": BertConfig(60, 24, 3, 4, 48, **SIZES),
    "ALBERT": AlbertConfig(60, 24, 3, 4, 48, embedding_size=10, **SIZES),
    "NEZHA": NezhaConfig(60, 24, 3, 4, 48, max_relative_position=3, **SIZES),
    "XLNet": XlnetConfig(60, 24, 3, 4, 48, **SIZES),
}


@pytest.fixture(scope="module")
def batch():
    ids = torch.randint(5, 60, (1, 7), generator=torch.Generator().manual_seed(1))
    return Batch(ids, padding=torch.tensor([[True] * 5 + [False] * 2]))


def shown(sum_, terms: int, cell):
    assert len(sum_.terms) == terms and sum_.total == pytest.approx(cell.item(), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("layer", "head"), [(0, 0), (1, 3), (2, 2)])
def test_every_cell_is_the_sum_that_is_shown_for_it(kind, batch, layer, head):
    model = random_model(KINDS[kind], spread=1.0)
    one = take_apart(model, batch, record(model, batch), layer, head)
    root = math.sqrt(one.size)
    for i in range(7):
        for d in range(one.size):
            for which in PROJECTIONS:
                shown(one.projection_terms(which, i, d), 24, getattr(one, which)[i, d])
            shown(one.mix_terms(i, d), 7, one.mixed[i, d])
        for j in range(7):
            shown(one.score_terms(i, j), one.size, one.products[i, j])
            assert one.products[i, j] / root == pytest.approx(one.scores[i, j].item(), rel=1e-4, abs=1e-5)
        assert torch.allclose(one.softmax_row(i).probs.float(), one.probs[i], atol=1e-6)


def test_what_distances_add_is_part_of_every_sum(model, batch):
    bare = take_apart(model, batch, record(model, batch), 1, 2)
    assert bare.relative is None and bare.relative_scores is None
    model = random_model(KINDS["NEZHA"], spread=1.0)
    one = take_apart(model, batch, record(model, batch), 1, 2)
    table = model.bert.blocks[1].attn.sinusoids  # of distances −3 … 3
    for i, j, row in ((0, 0, 3), (0, 1, 4), (2, 1, 2), (0, 6, 6), (6, 0, 0)):
        assert torch.equal(one.relative[i, j], table[row])
        assert torch.equal(one.score_terms(i, j).right, one.key[j].double() + table[row].double())
    assert (one.relative_scores.abs() > 0.1).any()


def test_a_left_to_right_row_sees_itself_and_those_before_it(batch):
    model = random_model(LeftToRightConfig(60, 24, 3, 4, 48, **SIZES), spread=1.0)
    one = take_apart(model, batch, record(model, batch), 1, 2)
    assert torch.equal(one.allowed, torch.ones(7, 7).tril().bool())
    assert all(torch.allclose(one.softmax_row(i).probs.float(), one.probs[i], atol=1e-6) for i in range(7))


def test_the_mask_closes_columns_and_only_those(model, batch):
    seen = record(model, batch)
    assert torch.equal(head_arithmetic.all_probs(seen)[2], seen["blocks.2.attn.probs"])
    one = take_apart(model, batch, seen, 1, 0)
    assert torch.isneginf(one.masked[:, 5:]).all()
    assert torch.equal(one.masked[:, :5], one.scores[:, :5])
    assert (one.probs[:, 5:] == 0).all()
    open_ = Batch(batch.ids)
    assert not torch.isinf(take_apart(model, open_, record(model, open_), 1, 0).masked).any()
    bare = take_apart(model.bert, batch, record(model.bert, batch), 1, 0)
    assert torch.equal(bare.scores, one.scores)


@pytest.mark.parametrize("scores", [[1.0, 2.0, -math.inf], [900.0, 899.0, 0.0], [-900.0, -901.0, -math.inf]])
def test_softmax_survives_any_score(scores):
    row = SoftmaxRow(torch.tensor(scores, dtype=torch.float64))
    assert torch.allclose(row.probs, torch.softmax(row.scores, 0), atol=1e-15)
    assert row.shift == (0 if abs(scores[0]) < 300 else max(scores))


def test_entropy_crossing_and_disagreement_by_hand():
    rows = torch.tensor([[1.0, 0, 0, 0], [0.25] * 4, [0.5, 0.5, 0, 0]])
    assert head_arithmetic.entropy(rows).tolist() == pytest.approx([0, 2, 1])
    probs = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.6, 0.2, 0.2]])
    there_and_back = head_arithmetic.crossing(probs, torch.tensor([False, False, True]))
    assert there_and_back == pytest.approx((0.5, 0.8))
    a, b, half = torch.eye(2), torch.eye(2).flip(0), torch.full((2, 2), 0.5)
    assert (disagreement(torch.stack([a, a, a])), disagreement(torch.stack([a, b])), disagreement(a[None])) == (0, 1, 0)
    assert disagreement(torch.stack([a, b, half])) == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert disagreement(torch.stack([torch.stack([a, a]), torch.stack([a, b])])).tolist() == [0, 1]


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_each_half_of_a_block_ends_at_what_the_model_went_on_with(model, layer):
    seen = record(model.bert, Batch(torch.tensor([[2, 7, 9, 30, 3]])))
    block = take_block_apart(model, seen, layer)
    assert torch.equal(block.attention.out, block.feed_forward.x)
    for half in (block.attention, block.feed_forward):
        assert torch.allclose(half.normalized, half.out.double(), atol=1e-5)
        assert torch.allclose(half.standardized.mean(-1), torch.zeros(5).double(), atol=1e-12)
        assert torch.allclose(half.standardized.var(-1, correction=0), torch.ones(5).double(), atol=1e-6)
        expected = F.layer_norm(half.sum, (24,), half.norm.weight.double(), half.norm.bias.double(), half.norm.eps)
        assert torch.allclose(half.normalized, expected.detach(), atol=1e-12)
    assert block.hidden.shape == (5, 48)
    layers = inputs(seen)
    before, after = layers[layer], layers[layer + 1]
    assert len(layers) == 4
    assert torch.equal(block.attention.x, before) and torch.equal(block.feed_forward.out, after)
    cosine = F.cosine_similarity(before.double(), after.double(), dim=-1)
    assert torch.allclose(kept_by_layer(seen)[layer], cosine) and torch.allclose(block.kept, cosine)
