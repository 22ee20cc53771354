"""prune from the command line."""

import json
import re

import pytest

from minibert.__main__ import main
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from tests.minibert.tasks.toys import toy


@pytest.fixture(scope="module")
def files(small_checkpoint, tmp_path_factory):
    """A classifier, and the same data as a file for training and one to measure on."""
    folder = tmp_path_factory.mktemp("prune")
    data = [toy("classification", count, seed) for seed, count in enumerate((32, 16))]
    for name, part in zip(("train", "dev"), data, strict=True):
        lines = [f"{example.text}\t{example.label}" for example in part.examples]
        (folder / f"{name}.tsv").write_text("\n".join(["text\tlabel", *lines]) + "\n")
    list(finetune(small_checkpoint, "classification", *data, FinetuneSettings(epochs=1), out=folder / "model"))
    return folder


def call(files, *arguments, model="model") -> int:
    parts = ("--train", files / "train.tsv", "--dev", files / "dev.tsv", "--out", files / "out", "--threads", 1)
    return main(["prune", "--model", *map(str, (files / model, *arguments, *parts))])


def test_what_is_left_is_smaller_and_answers(files, capsys):
    assert call(files, "--what", "neurons", "--share", 0.75, "--seed", 3, "--json") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    cut = next(event for event in events if event["event"] == "cut")
    assert cut["after"]["parameters"] < cut["before"]["parameters"] and sum(cut["neurons"]) == 32  # of 128
    assert events[-1]["event"] == "done"
    left = Predictor.from_directory(files / "out")
    assert list(left.model.config.neurons) == cut["neurons"]
    assert set(left.predict([{"text": "a b c"}])[0]["probabilities"]) == set(left.labels)


def test_what_people_read(files, capsys):
    assert call(files, "--share", 0.5) == 0
    out, err = capsys.readouterr()
    assert not out and "neurons left, layer by layer: 64 64" in err and "{" not in err
    (heads,) = re.findall(r"heads left, layer by layer: (.*)", err)
    assert sum(map(int, heads.split())) == 2  # of 4
    assert re.search(r"parameters ([\d,]+) → [\d,]+", err) and "accuracy" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--share", "1.5"), "a share is from 0 to 1, not 1.5"),
        (("--what", "layers", "--share", "1"), "without any layer"),
        (("--what", "legs"), "invalid choice"),
    ],
)
def test_what_cannot_be_cut_is_said_in_a_sentence(files, capsys, arguments, said):
    try:
        assert call(files, *arguments) != 0
    except SystemExit as error:
        assert error.code != 0
    err = capsys.readouterr().err
    assert said in err and "Traceback" not in err
