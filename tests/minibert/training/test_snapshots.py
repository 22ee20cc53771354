"""Snapshots: small, in order, and close enough to the model they were taken of."""

import pytest
import torch

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.model import Batch, BertForPreTraining
from minibert.training import snapshots


@pytest.fixture
def model():
    torch.manual_seed(0)
    return BertForPreTraining(BertConfig.preset("tiny", vocab_size=500)).eval()


def test_a_snapshot_is_nearly_the_model(tmp_path, model):
    assert snapshots.listed(tmp_path) == []
    checkpoint.save(tmp_path, BertForPreTraining(model.config))
    snapshots.save(tmp_path / "steps", model, 20, 1000)
    snapshots.save(tmp_path / "steps", model, 3, 150)
    found = snapshots.listed(tmp_path)
    assert [(one.step, one.tokens) for one in found] == [(3, 150), (20, 1000)]
    again = snapshots.load(tmp_path, found[1])
    ids = torch.randint(500, (3, 12))
    with torch.no_grad():
        expected, got = (m(Batch(ids)).mlm_logits.softmax(-1) for m in (model, again))
    assert torch.allclose(got, expected, atol=1e-4)
    for name, value in model.state_dict().items():
        step = value.abs().amax(-1, keepdim=True) / 127 if value.dim() > 1 else torch.tensor(1e-3)
        assert ((again.state_dict()[name] - value).abs() <= step / 2 + 1e-3 * value.abs()).all(), name
    size = found[0].path.stat().st_size
    assert size < 0.3 * 4 * sum(p.numel() for p in model.parameters())


def test_entries_that_came_later_are_never_answered_then(tmp_path, model):
    checkpoint.save(tmp_path, BertForPreTraining(BertConfig.preset("tiny", vocab_size=520)))
    snapshots.save(tmp_path / "steps", model, 3, 150)
    again = snapshots.load(tmp_path, snapshots.listed(tmp_path)[0])
    ids = torch.randint(500, (3, 12))
    with torch.no_grad():
        expected, got = (m(Batch(ids)).mlm_logits.softmax(-1) for m in (model, again))
        with_new = again(Batch(torch.full((1, 4), 510))).mlm_logits
    assert torch.allclose(got[..., :500], expected, atol=1e-4) and got[..., 500:].max() == 0
    assert with_new.isfinite().all()
