"""Loaded weights are pages of a file, which processes share and none can change."""

import os
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.model import BertForPreTraining
from minibert.training import mapped_weights

CONFIG = BertConfig(vocab_size=40, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)


@pytest.fixture
def copies(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(mapped_weights, "WORTH_A_COPY", 0)
    monkeypatch.setattr(mapped_weights, "COPIES", tmp_path / "copies")
    return tmp_path / "copies"


@pytest.fixture
def half(tmp_path) -> Path:
    """A checkpoint in float16."""
    return checkpoint.save(tmp_path / "half", BertForPreTraining(CONFIG), dtype=torch.float16)


def mapped_file(address: int) -> str:
    """The file whose pages lie at this address of the process; "" if none."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        where, _, _, _, _, *file = line.split(maxsplit=5)
        first, last = (int(part, 16) for part in where.split("-"))
        if first <= address < last:
            return "".join(file)
    return ""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux lists what a process has mapped")
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_weights_are_pages_of_a_file(dtype, copies, tmp_path):
    folder = checkpoint.save(tmp_path / "model", BertForPreTraining(CONFIG), dtype=dtype)
    model = checkpoint.load(folder)
    files = {mapped_file(weight.data_ptr()) for weight in model.parameters()}
    assert files == {str(next(copies.iterdir())) if dtype == torch.float16 else str(folder / checkpoint.WEIGHTS)}
    assert model.mlm.decoder.weight is model.bert.embeddings.token.weight  # as before, not a second one


def test_what_one_user_writes_nobody_else_reads(half, copies):
    stored = {name: weight.float() for name, weight in load_file(half / checkpoint.WEIGHTS).items()}
    first, second = checkpoint.load(half), checkpoint.load(half)
    with torch.no_grad():
        for weight in first.parameters():
            weight.fill_(7)
    third = checkpoint.load(half)
    names = checkpoint.stored_names(third)
    for model in (second, third):
        for name, weight in model.state_dict().items():
            assert names[name] is None or torch.equal(weight, stored[names[name]])


def test_what_cannot_be_kept_is_loaded(half, copies):
    copies.write_text("a file where the folder should be")
    kept_nowhere = checkpoint.load(half).state_dict()
    copies.unlink()
    kept = checkpoint.load(half).state_dict()
    assert [*copies.iterdir()] and all(torch.equal(kept[name], weight) for name, weight in kept_nowhere.items())


def test_a_damaged_copy_is_made_again(half, copies):
    whole = checkpoint.load(half).state_dict()
    (copy,) = copies.iterdir()
    start = copy.read_bytes()[:100]
    copy.unlink()  # `whole` has it mapped
    copy.write_bytes(start)
    again = checkpoint.load(half).state_dict()
    assert all(torch.equal(again[name], weight) for name, weight in whole.items())


def test_copies_unused_for_longest_are_removed(half, copies, tmp_path, monkeypatch):
    checkpoint.load(half)
    (old,) = copies.iterdir()
    os.utime(old, (0, 0))
    leftover = copies / "of-a-killed-process.safetensors.1"
    leftover.write_bytes(bytes(100))
    os.utime(leftover, (0, 0))
    monkeypatch.setattr(mapped_weights, "MOST", old.stat().st_size + 50)
    checkpoint.load(checkpoint.save(tmp_path / "other", BertForPreTraining(CONFIG), dtype=torch.float16))
    (new,) = copies.iterdir()
    assert new != old


def test_a_weight_of_another_shape_is_refused():
    model = BertForPreTraining(CONFIG)
    with pytest.raises(checkpoint.CheckpointError, match=r"nsp\.weight.*\(3, 8\).*\(2, 8\)"):
        checkpoint.assign(model, {"nsp.weight": torch.zeros(3, 8)})
