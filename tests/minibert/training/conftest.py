"""A text to pre-train on, and models to move."""

import pytest
import torch

from minibert.config import BertConfig
from minibert.model import BertForPreTraining
from minibert.toy.world import documents


@pytest.fixture(scope="session")
def text(tmp_path_factory):
    file = tmp_path_factory.mktemp("text") / "stories.txt"
    file.write_text("\n\n".join("\n".join(lines) for lines in documents(60, seed=0)))
    return file


@pytest.fixture
def twins():
    """Two models of two blocks with the same weights."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=50, max_position_embeddings=16, **sizes)
    model, twin = BertForPreTraining(config), BertForPreTraining(config)
    twin.load_state_dict(model.state_dict())
    return model, twin
