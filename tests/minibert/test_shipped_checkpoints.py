"""The checkpoints that ship are what they say: `transformers` reads the same tokens and computes the same logits."""

import json
from pathlib import Path

import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from minibert import checkpoint
from minibert.model import Batch, BertForPreTraining
from tests.hostile import HOSTILE

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("mini-en", "mini-zh", "minilm-en")
SENTENCES = (
    ("The keys to the old cupboard [MASK] on the table.", "Nobody had seen them."),
    ("他把书放[MASK]桌子上。", "妈妈说她明天要去上海，2026年。"),
    ("I went to the bank. 🙂 café naïve ½", None),
)


@pytest.fixture(scope="module", params=NAMES)
def folder(request):
    return ROOT / "checkpoints" / request.param


@pytest.fixture(scope="module")
def tokenizers(folder):
    return checkpoint.load_tokenizer(folder), transformers.AutoTokenizer.from_pretrained(folder)


@torch.inference_mode()
def test_logits_are_those_of_transformers(folder, tokenizers):
    ours = checkpoint.load(folder, kind=BertForPreTraining)
    theirs = transformers.BertForPreTraining.from_pretrained(folder, dtype=torch.float32).eval()
    for texts in SENTENCES:
        encoding = tokenizers[0].encode(*texts)
        ids, segments = torch.tensor([encoding.ids]), torch.tensor([encoding.segments])
        here, there = ours(Batch(ids, segments)), theirs(input_ids=ids, token_type_ids=segments)
        torch.testing.assert_close(here.mlm_logits, there.prediction_logits, atol=1e-4, rtol=0)
        torch.testing.assert_close(here.nsp_logits, there.seq_relationship_logits, atol=1e-4, rtol=0)


@given(text=st.text(max_size=80) | st.sampled_from([text for text in HOSTILE.values() if len(text) < 2_000]))
def test_tokens_are_those_of_transformers(tokenizers, text):
    ours, theirs = tokenizers
    assert ours.encode(text, max_length=512).ids == theirs(text, truncation=True, max_length=512)["input_ids"]


def test_weights_are_half_precision_and_small(folder):
    assert json.loads((folder / "config.json").read_text())["dtype"] == "float16"
    assert (folder / "model.safetensors").stat().st_size < 50e6
    assert (folder / "README.md").stat().st_size > 2_000
