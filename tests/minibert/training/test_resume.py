"""Going on exactly: killed at any step, resumed, the final weights are those of a run nobody disturbed."""

import json
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from itertools import takewhile
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from minibert.pretrain import PretrainSettings, pretrain
from minibert.train import Preparing, Saved, Step
from minibert.training import resume, snapshots

ROOT = Path(__file__).resolve().parents[3]
SIZES = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
INPUT = {"vocab_size": 120, "batch_size": 8, "max_length": 48}
SETTINGS = PretrainSettings(preset="tiny", sizes=SIZES, **INPUT, steps=12, dropout=0.1, report_every=3, save_every=3)


@pytest.fixture(scope="module")
def undisturbed(text, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "model"
    list(pretrain(SETTINGS, [text], out))
    return out


@pytest.fixture(scope="module")
def cut_off(text, tmp_path_factory):
    out = tmp_path_factory.mktemp("cut") / "model"
    stopped_at(6, SETTINGS, text, out)
    return out


@pytest.fixture
def out(cut_off, tmp_path):
    """A run of one's own that was stopped after step 6: states of two steps."""
    return Path(shutil.copytree(cut_off, tmp_path / "model"))


def stopped_at(step, settings, text, out):
    events = pretrain(settings, [text], out)
    next(event for event in events if isinstance(event, Saved) and event.step >= step)
    events.close()


def states(out):
    return sorted((out / resume.FOLDER).iterdir())


def same_weights(one: Path, other: Path) -> bool:
    return (one / "model.safetensors").read_bytes() == (other / "model.safetensors").read_bytes()


def resumed(text, out, settings=SETTINGS) -> list:
    return list(pretrain(settings, [text], out, resuming=True))


@pytest.mark.trains
@pytest.mark.parametrize("optimizer", ["muon", "lamb"])
def test_a_stopped_run_with_another_optimizer_goes_on_to_the_same_weights(text, tmp_path, optimizer):
    settings = replace(SETTINGS, steps=6, optimization=replace(SETTINGS.optimization, optimizer=optimizer))
    list(pretrain(settings, [text], tmp_path / "whole"))
    stopped_at(3, settings, text, tmp_path / "cut")
    resumed(text, tmp_path / "cut", settings)
    assert same_weights(tmp_path / "cut", tmp_path / "whole")


def of_before_there_were_optimizers(out):
    """To choose from: adamw was the only one."""
    for state in states(out):
        values = json.loads((state / "state.json").read_text())
        del values["settings"]["optimization"]["optimizer"]
        (state / "state.json").write_text(json.dumps(values))
        (state / resume.SUMS).unlink()  # there were none then either


def without_tokenizer(out):
    """Older ones had it beside the model only."""
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", resume.SUMS):
        (states(out)[-1] / name).unlink()


def alone(out):
    """Killed before anything else was written."""
    for file in filter(Path.is_file, out.iterdir()):
        file.unlink()


@pytest.mark.parametrize("make", [of_before_there_were_optimizers, without_tokenizer, alone])
def test_an_older_or_lonely_state_is_gone_on_from(text, undisturbed, out, make):
    make(out)
    resumed(text, out)
    assert same_weights(out, undisturbed)


@pytest.mark.parametrize("stop_after", [0, 3, 9])
def test_a_stopped_run_goes_on_to_the_same_weights(text, undisturbed, tmp_path, stop_after):
    out = tmp_path / "model"
    stopped_at(stop_after, SETTINGS, text, out)
    assert len(list((out / resume.FOLDER).iterdir())) <= resume.KEPT
    assert next(event.step for event in resumed(text, out) if isinstance(event, Step)) == stop_after + 3
    assert same_weights(out, undisturbed)
    assert not (out / resume.FOLDER).exists()
    steps = [json.loads(line) for line in (out / "training.jsonl").read_text().splitlines()]
    assert [e["step"] for e in steps if e["event"] == "step"] == [3, 6, 9, 12]
    assert [e["event"] for e in steps].count("started") == 1


@pytest.mark.release
@pytest.mark.servers
def test_kill_9_then_resume(text, undisturbed, tmp_path):
    out = tmp_path / "model"
    code = """
import os, signal, sys
from torch.optim.optimizer import register_optimizer_step_pre_hook
from minibert.pretrain import pretrain
from tests.minibert.training.test_resume import SETTINGS

steps = []

def kill(*_):  # inside the eighth step
    steps.append(1)
    if len(steps) == 8:
        os.kill(os.getpid(), signal.SIGKILL)

register_optimizer_step_pre_hook(kill)
list(pretrain(SETTINGS, [sys.argv[1]], sys.argv[2]))
"""
    done = subprocess.run([sys.executable, "-c", code, str(text), str(out)], cwd=ROOT)
    assert done.returncode == -signal.SIGKILL and resume.latest(out).values["step"] == 6
    resumed(text, out)
    assert same_weights(out, undisturbed)


def test_another_run_is_refused_and_a_longer_one_is_the_same(text, out, tmp_path):
    with pytest.raises(ValueError, match="holds no interrupted run"):
        resumed(text, tmp_path / "none")
    with pytest.raises(ValueError, match="batch_size 8, not 16"):
        resumed(text, out, replace(SETTINGS, batch_size=16))
    muon = replace(SETTINGS.optimization, optimizer="muon")
    with pytest.raises(ValueError, match=r"has optimization .*adamw.*, not .*muon"):
        resumed(text, out, replace(SETTINGS, optimization=muon))
    grown = tmp_path / text.name
    grown.write_text(text.read_text() + "\n\none more .\n")
    with pytest.raises(ValueError, match=r"begun on other text \(tokens: "):
        resumed(grown, out)
    with pytest.raises(ValueError, match="cut off at step 6: go on with it"):
        next(pretrain(SETTINGS, [text], out))
    assert resume.latest(out).values["step"] == 6
    resumed(text, out, replace(SETTINGS, steps=15))


def test_a_new_run_does_not_mix_with_the_copies_of_an_earlier_one(text, tmp_path):
    out = tmp_path / "model"
    short = replace(SETTINGS, steps=6, snapshots=(0.0, 0.5))
    list(pretrain(short, [text], out))
    assert [one.step for one in snapshots.listed(out)] == [0, 3]
    list(pretrain(replace(short, snapshots=(0.9,)), [text], out))
    assert [one.step for one in snapshots.listed(out)] == [6]


def test_states_are_kept_as_often_as_asked(text, tmp_path):
    often = replace(SETTINGS, steps=11, report_every=10, save_every=4)
    events = list(pretrain(often, [text], tmp_path / "model"))
    assert [event.step for event in events if isinstance(event, Saved)] == [0, 4, 8, 11]
    assert [event.step for event in events if isinstance(event, Step)] == [4, 8, 10, 11]


def overwrite(file, at=-1):
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda state: overwrite(state / "optimizer.safetensors"), "optimizer.safetensors is not as it was saved"),
        (lambda state: overwrite(state / "model.safetensors"), "model.safetensors is not as it was saved"),
        (lambda state: overwrite(state / "state.json"), "state.json is not as it was saved"),
        (lambda state: (state / "vocab.txt").unlink(), r"vocab.txt cannot be read \(No such file"),
        (lambda state: overwrite(state / resume.SUMS, 0), "is not as it was saved"),
        (lambda state: (state / resume.SUMS).write_text("["), "not enough values|SHA256SUMS"),
    ],
)
def test_a_damaged_newest_state_falls_back_to_the_one_before_and_says_so(out, damage, why):
    (before, newest), damaged = states(out), []
    damage(newest)
    assert resume.latest(out, damaged).directory == before
    assert len(damaged) == 1 and re.match(rf"{newest.name}, which is damaged: .*({why})", damaged[0]), damaged


def test_the_sums_are_those_of_the_usual_program(out):
    _, newest = states(out)
    done = subprocess.run(["sha256sum", "--check", "--quiet", resume.SUMS], cwd=newest, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    named = {line.split()[1] for line in (newest / resume.SUMS).read_text().splitlines()}
    assert named == {file.name for file in newest.iterdir()} - {resume.SUMS}
    assert {Path(name).suffix for name in named} <= {".safetensors", ".json", ".txt"}  # nothing pickled


def test_damaged_states_only_are_no_run_to_go_on_with(text, out):
    for state in states(out):
        overwrite(state / "state.json")
    with pytest.raises(ValueError, match=r"no interrupted run to resume but step-\d+, which is damaged: .*; step-\d+"):
        resumed(text, out)


def test_a_state_of_another_shape_is_passed_over(out):
    kept = {state: json.loads((state / "state.json").read_text()) for state in states(out)}
    for content, why in [
        ("[]", "not a JSON object"),
        ("[" * 100_000, "nested more than 100 deep"),
        ("{}", "lacks events"),
        ({"step": "3"}, "step must be a whole number"),
        ({"events": [1]}, "events must be a list"),
        ({"events": [{"details": {}}]}, "event must be a text"),
        ({"events": [{"event": "started", "details": []}]}, "details must be an object"),
        ({"position": {"epoch": 0, "hour": 3}}, "another position"),
        ({"position": {"epoch": -1}}, "before the first"),
        ({"settings": {}}, "other settings"),
        ({"settings": {"optimization": 5}}, "other settings"),
        ({"settings": {"optimization": {"learning_rate": "fast"}}}, "learning_rate must be a number"),
    ]:
        for state, values in kept.items():
            (state / resume.SUMS).unlink(missing_ok=True)
            said = content if isinstance(content, str) else json.dumps({**values, **content})
            (state / "state.json").write_text(said)
        damaged = []
        assert resume.latest(out, damaged) is None and len(damaged) == 2
        assert re.search(why, damaged[0]), damaged


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda moments: moments.update({"0.exp_avg": moments["0.exp_avg"][:1]}), r"0\.exp_avg .*another shape"),
        (lambda moments: moments.pop("0.step"), "lacks some"),
    ],
)
def test_other_moments_are_refused(text, out, change, why):
    for state in states(out):
        (state / resume.SUMS).unlink()
        moments = load_file(state / "optimizer.safetensors")
        change(moments)
        save_file(moments, state / "optimizer.safetensors")
    with pytest.raises(ValueError, match=why):
        resumed(text, out)


@pytest.mark.skipif(torch.cuda.is_available(), reason="asks what happens without a GPU")
def test_a_state_saved_beside_a_gpu_is_resumed_without_one(text, out):
    for state in states(out):
        (state / resume.SUMS).unlink()
        moments = load_file(state / "optimizer.safetensors")
        save_file(moments | {"rng.cuda": torch.zeros(16, dtype=torch.uint8)}, state / "optimizer.safetensors")
    resumed(text, out)


def test_settings_of_another_shape_are_refused():
    values = json.loads(json.dumps(asdict(SETTINGS)))
    assert PretrainSettings.from_dict(values) == SETTINGS
    wrong = {"hour": [3], "masking": [5, {"split": 1}], "optimization": [{"hour": 3}], "steps": ["many"], "sizes": [[]]}
    for name, value in ((name, value) for name, some in wrong.items() for value in some):
        with pytest.raises(ValueError, match=r"settings of a pre-training|must be"):
            PretrainSettings.from_dict({**values, name: value})


def test_what_a_killed_save_has_left_is_cleared_and_a_damaged_state_passed_over(text, undisturbed, out, tmp_path):
    left = [tmp_path / ".model-abcd1234.unfinished", out / resume.FOLDER / ".step-00000009-abcd1234.unfinished"]
    overwrite(states(out)[-1] / "model.safetensors")
    for folder in left:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"half")
    events = pretrain(SETTINGS, [text], out, resuming=True)
    before = list(takewhile(lambda event: not isinstance(event, Step), events))
    assert any("passing over step-00000006" in event.what for event in before if isinstance(event, Preparing))
    assert not any(folder.exists() for folder in left)
    list(events)
    assert same_weights(out, undisturbed)
