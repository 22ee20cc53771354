"""A small checkpoint over an alphabet vocabulary, for tests that need a model but not what it knows."""

import pytest
import torch

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.model import BertForPreTraining
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer

LETTERS = [chr(97 + i) for i in range(26)]


@pytest.fixture(scope="session")
def letters():
    """A tokenizer that spells: one piece a letter."""
    return Tokenizer([*SPECIAL_TOKENS, *LETTERS, *("##" + letter for letter in LETTERS), *".,!?"])


@pytest.fixture(scope="session")
def small_checkpoint(tmp_path_factory, letters):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=letters.vocab_size,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    return checkpoint.save(tmp_path_factory.mktemp("checkpoints") / "small", BertForPreTraining(config), letters)
