"""Which places of a text a model has learned, told from its weights."""

import pytest
import torch

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.folders import ROOT
from minibert.inside.reach import trained_positions
from minibert.relatives.nezha import NezhaConfig
from tests.minibert.inside.random_models import random_model


def test_places_that_stayed_short_are_not_learned():
    model = random_model(BertConfig.preset("tiny", vocab_size=50, max_position_embeddings=64))
    assert trained_positions(model) == 64  # random weights: none stands out
    with torch.no_grad():
        model.bert.embeddings.position.weight[:40] *= 3
    assert trained_positions(model) == trained_positions(model.bert) == 40
    # Without embeddings of positions, all it can read.
    assert trained_positions(random_model(NezhaConfig(50, 32, 1, 2, 64))) == 512


@pytest.mark.parametrize(("name", "learned"), [("mini-en", 128), ("mini-zh", 128), ("minilm-en", 512)])
def test_those_that_ship(name, learned):
    assert trained_positions(checkpoint.load(ROOT / "checkpoints" / name)) == learned
