"""A model whose heads and answers differ, for tests that ask what a model does inside."""

import pytest

from minibert.config import BertConfig
from tests.minibert.inside.random_models import random_model


@pytest.fixture(scope="session")
def model(letters):
    """Over the alphabet, of random weights, for tests that change nothing of it."""
    return random_model(BertConfig(letters.vocab_size, 24, 3, 4, 48, 64, initializer_range=0.4), spread=0.2)
