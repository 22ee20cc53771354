"""Parts of a batch, one after the other or in several processes, make the step of the whole batch."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from minibert import checkpoint
from minibert.pretrain import PretrainSettings, pretrain
from minibert.toy.world import documents
from minibert.train import Step

ROOT = Path(__file__).resolve().parents[3]
SETTINGS = PretrainSettings(preset="tiny", vocab_size=120, steps=6, batch_size=9, max_length=48, report_every=2)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    file = tmp_path_factory.mktemp("text") / "stories.txt"
    file.write_text("\n\n".join("\n".join(lines) for lines in documents(40, seed=0)))
    return file


@pytest.fixture(scope="module", autouse=True)
def float32():
    """bfloat16 rounds a part otherwise than the whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("minibert.training.precision.has_bfloat16", lambda device: False)
        yield


@pytest.fixture(scope="module")
def alone(text, tmp_path_factory):
    out = tmp_path_factory.mktemp("alone") / "model"
    return [event for event in pretrain(SETTINGS, [text], out) if isinstance(event, Step)], out


def test_accumulated_parts_make_the_whole(text, alone, tmp_path):
    steps, out = alone
    parts = replace(SETTINGS, accumulate=4)
    for ours, theirs in zip(
        [e for e in pretrain(parts, [text], tmp_path / "m") if isinstance(e, Step)], steps, strict=True
    ):
        assert ours.loss == pytest.approx(theirs.loss, rel=1e-4)
        assert ours.parts == pytest.approx(theirs.parts, rel=1e-3)
    mine, other = (checkpoint.load(directory) for directory in (tmp_path / "m", out))
    assert torch.allclose(mine.bert.blocks[0].mlp.expand.weight, other.bert.blocks[0].mlp.expand.weight, atol=2e-3)


@pytest.mark.release
@pytest.mark.servers
def test_two_processes_reach_the_loss_of_one(text, alone, tmp_path):
    steps, _ = alone
    code = (
        "import sys, json, os, torch; torch.set_num_threads(1)\n"
        "import minibert.training.precision; minibert.training.precision.has_bfloat16 = lambda device: False\n"
        "from tests.minibert.training.test_data_parallel import SETTINGS; from minibert.pretrain import pretrain\n"
        "for event in pretrain(SETTINGS, [sys.argv[1]], sys.argv[2], cache=sys.argv[3]):\n"
        "    event = event.as_dict()\n"
        "    if event['event'] == 'step' and os.environ['RANK'] == '0': print(json.dumps(event), flush=True)\n"
    )
    script = tmp_path / "run.py"
    script.write_text(code)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", str(script)]
    done = subprocess.run(
        [*command, str(text), str(tmp_path / "out"), str(tmp_path / "cache")],
        cwd=ROOT,
        env={**__import__("os").environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [line["loss"] for line in lines] == pytest.approx([step.loss for step in steps], rel=1e-4)
    assert checkpoint.load(tmp_path / "out").config.vocab_size <= 120
