"""Why a folder is no model that can be opened, said without torch."""

import json
import subprocess
import sys

import pytest

from minibert.checkpoint_files import changed, refusal
from minibert.folders import ROOT

MODEL = ROOT / "checkpoints" / "mini-en"


@pytest.fixture
def folder(tmp_path):
    """The files of a shipped model, as links."""
    for file in MODEL.iterdir():
        (tmp_path / file.name).symlink_to(file)
    return tmp_path


def test_a_whole_model_is_not_refused_and_changes_with_its_weights(folder):
    assert refusal(folder) is None
    assert changed(folder) == (MODEL / "model.safetensors").stat().st_mtime_ns
    assert changed(folder / "elsewhere") == 0


@pytest.mark.parametrize(
    ("gone", "instead", "said"),
    [
        (["model.safetensors"], {"pytorch_model.bin": "x"}, "pickled"),
        (["model.safetensors"], {"tf_model.h5": "x"}, "Keras"),
        (["model.safetensors"], {"model.safetensors": "version https://git-lfs.github.com"}, "Git LFS"),
        (["config.json"], {"config.json": json.dumps({"model_type": "gpt2"})}, "gpt2"),
        (["config.json"], {"config.json": "{"}, "config.json"),
        (["config.json"], {}, "config.json"),
        (["vocab.txt", "tokenizer.json"], {}, "vocab.txt"),
        (["vocab.txt", "tokenizer.json"], {"spiece.model": "x"}, "tokenizer.json"),
    ],
)
def test_what_is_wrong_is_named(folder, gone, instead, said):
    for name in gone:
        (folder / name).unlink(missing_ok=True)
    for name, content in instead.items():
        (folder / name).write_text(content)
    assert said in refusal(folder)


def test_it_needs_no_torch():
    code = "import pathlib, sys; from minibert.checkpoint_files import refusal; "
    code += f"print(refusal(pathlib.Path({str(MODEL)!r})), 'torch' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    assert said.split() == ["None", "False"]
