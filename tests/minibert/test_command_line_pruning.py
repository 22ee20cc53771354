"""prune from the command line."""

import re

import pytest

from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from tests.minibert.commands import call
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


def cut(files, *arguments, plain: bool = False) -> tuple:
    data = ("--train", files / "train.tsv", "--dev", files / "dev.tsv", "--out", files / "out", "--threads", 1)
    return call("prune", "--model", files / "model", *arguments, *data, plain=plain)


def test_what_is_left_is_smaller_and_answers(files):
    code, events, _ = cut(files, "--what", "neurons", "--share", 0.75, "--seed", 3)
    assert code == 0 and events[-1]["event"] == "done"
    told = next(event for event in events if event["event"] == "cut")
    assert told["after"]["parameters"] < told["before"]["parameters"] and sum(told["neurons"]) == 32  # of 128
    left = Predictor.from_directory(files / "out")
    assert list(left.model.config.neurons) == told["neurons"]
    assert set(left.predict([{"text": "a b c"}])[0]["probabilities"]) == set(left.labels)


def test_what_people_read(files):
    code, out, err = cut(files, "--share", 0.5, plain=True)
    assert code == 0 and not out and "neurons left, layer by layer: 64 64" in err and "{" not in err
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
def test_what_cannot_be_cut_is_said_in_a_sentence(files, arguments, said):
    code, _, err = cut(files, *arguments)
    assert code == 2 and said in err
