"""Small models over an alphabet vocabulary, for tests that need a model but not what it knows."""

from pathlib import Path

import pytest
import torch

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.finetune.predictor import Predictor
from minibert.model import BertForPreTraining
from minibert.tasks import Options, task_named
from tests.spelling import spelling_tokenizer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def letters():
    """A tokenizer that spells: one piece a letter."""
    return spelling_tokenizer()


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


LABELS = {
    "similarity": ["score"],
    "span": ["start", "end"],
    "span-or-none": ["start", "end"],
    "choice": ["score"],
    "next-utterance": ["score"],
    "tagging": ["O", "B-X", "I-X"],
    "intent": {"intents": ["go", "stay"], "tags": ["O", "B-X", "I-X"]},
}


@pytest.fixture(scope="session")
def answering(letters):
    """A function: a task's name and options → a Predictor of random weights, large enough that its answers differ."""

    def predictor(name: str, **options) -> Predictor:
        config = BertConfig(
            vocab_size=letters.vocab_size,
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            initializer_range=0.5,
        )
        torch.manual_seed(0)
        task, options = task_named(name), Options(**{"max_length": 48, "doc_stride": 16, **options})
        model = task.head(config, LABELS.get(name, ["no", "maybe", "yes"]), options).eval()
        return Predictor(model, letters, task, options)

    return predictor


@pytest.fixture(scope="session")
def loaded(small_checkpoint):
    """(the small model, its tokenizer), for tests that change nothing of it."""
    return checkpoint.load(small_checkpoint), checkpoint.load_tokenizer(small_checkpoint)


@pytest.fixture(scope="session")
def mini():
    """(the smallest English model that ships, its tokenizer), for tests that change nothing of it."""
    folder = ROOT / "checkpoints" / "mini-en"
    return checkpoint.load(folder), checkpoint.load_tokenizer(folder)
