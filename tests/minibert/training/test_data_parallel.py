"""Parts of a batch, one after the other or in several processes, make the step of the whole batch."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from minibert import checkpoint
from minibert.pretrain import PretrainSettings, pretrain
from minibert.train import Step

ROOT = Path(__file__).resolve().parents[3]
SETTINGS = PretrainSettings(preset="tiny", vocab_size=120, steps=6, batch_size=9, max_length=48, report_every=2)


@pytest.fixture(scope="module", autouse=True)
def float32():
    """bfloat16 rounds a part otherwise than the whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("minibert.training.precision.has_bfloat16", lambda device: False)
        yield


@pytest.fixture(scope="module")
def alone(text, tmp_path_factory):
    """(the steps of a run of whole batches, where it is saved)"""
    return run(SETTINGS, text, tmp_path_factory.mktemp("alone") / "model")


def run(settings, text, out):
    return [event for event in pretrain(settings, [text], out) if isinstance(event, Step)], out


def test_accumulated_parts_make_the_whole(text, alone, tmp_path):
    (steps, whole), (parts, out) = alone, run(replace(SETTINGS, accumulate=4), text, tmp_path / "m")
    for ours, theirs in zip(parts, steps, strict=True):
        assert ours.loss == pytest.approx(theirs.loss, rel=1e-4)
        assert ours.parts == pytest.approx(theirs.parts, rel=1e-3)
    mine, other = (checkpoint.load(folder).bert.blocks[0].mlp.expand.weight for folder in (out, whole))
    assert torch.allclose(mine, other, atol=2e-3)


PROGRAM = """
import sys, json, os, torch
import minibert.training.precision
from tests.minibert.training.test_data_parallel import SETTINGS
from minibert.pretrain import pretrain

torch.set_num_threads(1)
minibert.training.precision.has_bfloat16 = lambda device: False
for event in pretrain(SETTINGS, [sys.argv[1]], sys.argv[2], cache=sys.argv[3]):
    event = event.as_dict()
    if event["event"] == "step" and os.environ["RANK"] == "0":
        print(json.dumps(event), flush=True)
"""


@pytest.mark.release
@pytest.mark.servers
def test_two_processes_reach_the_loss_of_one(text, alone, tmp_path):
    script, out = tmp_path / "run.py", tmp_path / "out"
    script.write_text(PROGRAM)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", str(script)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command += [str(text), str(out), str(tmp_path / "cache")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [line["loss"] for line in lines] == pytest.approx([step.loss for step in alone[0]], rel=1e-4)
    assert checkpoint.load(out).config.vocab_size <= 120
