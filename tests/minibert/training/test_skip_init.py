"""Models that are made without drawing their weights: nothing is left undrawn, and sizes import no compiler."""

import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.model import SKIP_INIT, Bert, BertForPreTraining
from minibert.training.skip_init import sizes_only, skip_init

CONFIG = BertConfig(50, 24, 2, 2, 48, max_position_embeddings=16)


def drawn(weight: torch.Tensor) -> bool:
    """Whether it looks like a draw from the paper's truncated normal, within ±2σ."""
    std = CONFIG.initializer_range
    return bool(weight.abs().max() <= 2 * std and 0.5 * std < weight.std() < 1.2 * std)


def test_what_the_file_lacks_is_drawn_and_the_rest_is_the_files(tmp_path):
    encoder = Bert(CONFIG)
    file = checkpoint.save(tmp_path / "encoder", encoder) / "model.safetensors"
    save_file({name: x for name, x in load_file(file).items() if "pooler" not in name}, file)
    loaded = checkpoint.load(tmp_path / "encoder", kind=BertForPreTraining, new_heads=True)
    pooler = loaded.bert.pooler.dense
    for name, weight in encoder.state_dict().items():
        assert torch.equal(loaded.bert.state_dict()[name], weight) == ("pooler.dense.weight" not in name), name
    assert drawn(loaded.mlm.dense.weight) and drawn(loaded.nsp.weight) and drawn(pooler.weight)
    assert not any(bias.any() for bias in (loaded.mlm.dense.bias, loaded.mlm.decoder.bias, pooler.bias))
    assert torch.equal(loaded.mlm.norm.weight, torch.ones(24))
    assert loaded.mlm.decoder.weight is loaded.bert.embeddings.token.weight


def test_of_a_whole_file_only_small_heads_are_drawn(tmp_path, monkeypatch):
    checkpoint.save(tmp_path / "model", BertForPreTraining(CONFIG))
    shapes = []
    monkeypatch.setattr(nn.init, "trunc_normal_", lambda weight, **_: shapes.append((weight.is_meta, *weight.shape)))
    checkpoint.load(tmp_path / "model")
    assert [shape for meta, *shape in shapes if not meta] == [[2, 24]]  # the next-sentence head


def test_later_is_within_the_block_only():
    with pytest.raises(RuntimeError), skip_init():
        assert SKIP_INIT.get()
        raise RuntimeError
    assert not SKIP_INIT.get() and drawn(Bert(CONFIG).embeddings.token.weight)


def test_sizes_take_no_memory_and_no_compiler():
    program = (
        "import sys\n"
        "from minibert.config import BertConfig\n"
        "from minibert.model import BertForPreTraining\n"
        "from minibert.training.skip_init import sizes_only\n"
        "with sizes_only():\n"
        "    model = BertForPreTraining(BertConfig(16_000_000, 12_000))\n"
        "assert model.bert.embeddings.token.weight.shape == (16_000_000, 12_000)\n"
        "from minibert import checkpoint\n"
        "from minibert.diet.predictor import DietPredictor\n"
        "from minibert.folders import CHECKPOINTS\n"
        "checkpoint.load(CHECKPOINTS / 'nezha-toy' / 'nezha')\n"  # with a table of sinusoids
        "DietPredictor.from_directory(CHECKPOINTS / 'diet-intents')\n"
        "assert 'torch._dynamo' not in sys.modules, 'imported'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    with sizes_only():
        assert BertForPreTraining(CONFIG).nsp.weight.is_meta
    assert not BertForPreTraining(CONFIG).nsp.weight.is_meta
