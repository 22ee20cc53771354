"""Answers beside those of transformers, in float32, whatever training computes in."""

import random
import shutil

import numpy as np
import pytest
import torch
import transformers

from minibert.finetune.predictor import Predictor
from minibert.folders import CHECKPOINTS
from minibert.text.batches import length_batches
from minibert.training.precision import ready_to_answer

ENGLISH = "a dull minute ! the actors were not bad , but nobody laughed Grüße 1984 unbelievably 👍🏽 …"
CHINESE = "这 部 电影 很 好看 ， 但是 太 长 了 。 不 推荐 OK 😀 2 次"


def forty_texts() -> list[str]:
    """Texts of 1 to 60 words in two languages, with emoji, in no order of length."""
    rng = random.Random(0)
    words = [rng.choice((ENGLISH, CHINESE, f"{ENGLISH} {CHINESE}")).split() for _ in range(40)]
    return [" ".join(rng.choices(some, k=rng.randint(1, 60))) for some in words]


@pytest.fixture(scope="module", params=["mini-en", "mini-zh"])
def saved(request, tmp_path_factory):
    """A classifier that transformers saved, whose probabilities differ widely from text to text."""
    folder = tmp_path_factory.mktemp("saved")
    torch.manual_seed(0)
    model = transformers.BertForSequenceClassification.from_pretrained(
        CHECKPOINTS / request.param, num_labels=3, dtype=torch.float32
    )
    torch.nn.init.normal_(model.classifier.weight, std=0.5)
    model.save_pretrained(folder)
    for name in ("vocab.txt", "tokenizer_config.json", "tokenizer.json", "special_tokens_map.json"):
        shutil.copy(CHECKPOINTS / request.param / name, folder)
    return folder


def probabilities(predictor: Predictor, texts: list[str]) -> np.ndarray:
    return np.array([list(answer["probabilities"].values()) for answer in predictor.predict(texts)])


def test_probabilities_are_those_of_transformers_alone_and_in_a_batch(saved, monkeypatch):
    monkeypatch.setattr("minibert.training.precision.has_bfloat16", lambda device: True)
    texts, predictor = forty_texts(), Predictor.from_directory(saved)
    model = transformers.BertForSequenceClassification.from_pretrained(saved).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(saved)
    with torch.no_grad():
        rows = (
            tokenizer(text, truncation=True, max_length=model.config.max_position_embeddings, return_tensors="pt")
            for text in texts
        )
        theirs = np.concatenate([model(**row).logits.softmax(-1).numpy() for row in rows])
    assert np.ptp(theirs, axis=0).max() > 0.3
    together = probabilities(predictor, texts)
    alone = np.concatenate([probabilities(predictor, [text]) for text in texts])
    np.testing.assert_allclose(together, theirs, atol=1e-5)
    np.testing.assert_allclose(alone, theirs, atol=1e-5)
    ready_to_answer(predictor.model, "bfloat16")
    difference = np.abs(probabilities(predictor, texts[:4]) - theirs[:4]).max()
    assert 1e-5 < difference < 0.1


def test_batches_by_length_hold_every_text_once_and_few_tokens():
    lengths = [3, 500, 1, 7, 128, 130, 0, 2]
    batches = list(length_batches(lengths, rows=3, tokens=300))
    assert sorted(i for batch in batches for i in batch) == list(range(8))
    assert batches[0] == [1] and all(len(batch) <= 3 for batch in batches)
    assert all(len(batch) * max(lengths[i] for i in batch) <= 300 for batch in batches[1:])
    assert list(length_batches([])) == []
