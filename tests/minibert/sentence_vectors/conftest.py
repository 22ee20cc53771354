"""The small model as an encoder of sentences, and sentences enough to learn a flow or a whitening from."""

import pytest

from minibert.sentence_vectors.encoder import SentenceVectors


@pytest.fixture
def vectors(small_checkpoint):
    return SentenceVectors.from_directory(small_checkpoint)


@pytest.fixture(scope="session")
def sentences():
    return [f"{a} {b}{c}" for a in "abcdef" for b in "uvwxyz" for c in "kl"]
