"""The command line as a user calls it: a new process, its output, its exit code."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from minibert import data, heads, pretrain, store
from minibert.__main__ import parser

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = os.environ | {"XDG_CACHE_HOME": tempfile.mkdtemp(prefix="minibert-cache-")}


def run(*arguments, stdin: str | bytes = "", expect: int = 0) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "minibert", *map(str, arguments)]
    stdin = stdin if isinstance(stdin, bytes) else stdin.encode()
    done = subprocess.run(command, input=stdin, capture_output=True, cwd=ROOT, timeout=120, env=ENVIRONMENT)
    assert done.returncode == expect, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    return done


def lines(done) -> list[dict]:
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def test_tokenize_a_text_and_lines(small_checkpoint):
    vocab = small_checkpoint / "vocab.txt"
    (one,) = lines(run("tokenize", "Ab, ç", "--vocab", vocab))
    assert one["tokens"] == ["[CLS]", "a", "##b", ",", "c", "[SEP]"]
    assert one["offsets"] == [[0, 0], [0, 1], [1, 2], [2, 3], [4, 5], [0, 0]]
    assert len(one["ids"]) == 6
    many = lines(run("tokenize", "--vocab", vocab, "--cased", stdin="ab\n\n北A\n"))
    assert [line["tokens"][1:-1] for line in many] == [["a", "##b"], [], ["[UNK]", "[UNK]"]]


def test_count_gives_the_papers_numbers():
    (base,) = lines(run("count", "--preset", "base", "--json"))
    assert base == {
        "encoder": 108891648,
        "with_pooler": 109482240,
        "masked_lm": 109514298,
        "pretraining": 110106428,
    }
    assert "109,482,240" in run("count", "--preset", "base").stdout.decode()


def test_fill(small_checkpoint):
    answers = lines(run("fill", "a [MASK] b [MASK]", "--model", small_checkpoint, "--top", 3, "--json"))
    assert [line["blank"] for line in answers] == [0, 1]
    assert all(len(line["answers"]) == 3 for line in answers)
    error = run("fill", "no blank", "--model", small_checkpoint, expect=2).stderr.decode()
    assert error == "minibert fill: there is no [MASK] in the text to fill\n"


@pytest.fixture
def text(tmp_path):
    file = tmp_path / "text.txt"
    sentence = "the cat sat on the mat. a dog ran home.\nthen it slept. nobody knew why.\n\n"
    file.write_text(sentence * 60)
    return file


@pytest.mark.slow
def test_pretrain_fill_evaluate(tmp_path, text):
    out = tmp_path / "model"
    small = ("--preset", "tiny", "--vocab-size", 80, "--batch-size", 8, "--max-length", 32)
    events = lines(run("pretrain", "--data", text, *small, "--out", out, "--steps", 12, "--json"))
    kinds = [event["event"] for event in events]
    assert kinds == ["preparing", "preparing", "preparing", "started", "step", "step", "done", "saved"]
    assert events[4]["parts"].keys() >= {"mlm_loss", "nsp_loss"}
    log = [json.loads(line) for line in (out / "training.jsonl").read_text().splitlines()]
    assert [event["event"] for event in log] == ["started", "step", "step", "done"]
    assert lines(run("fill", "the [MASK]", "--model", out, "--json"))
    (metrics,) = lines(run("evaluate", "--model", out, "--data", text, "--max-length", 32, "--json"))
    assert metrics.keys() >= {"mlm_loss", "mlm_accuracy", "nsp_accuracy"}
    toy = lines(run("pretrain", "--toy", "--out", tmp_path / "toy", "--steps", 3, "--json"))
    assert toy[-1]["event"] == "saved" and 0 <= toy[-2]["metrics"]["determined"] < 0.2
    by_clock = lines(run("pretrain", "--data", text, *small, "--out", out, "--minutes", 0.01, "--json"))
    assert by_clock[-1]["event"] == "saved"


@pytest.mark.slow
def test_finetune_then_predict(tmp_path, small_checkpoint):
    rows = "".join(f"{'abcde'[i % 5]}bc{'z' if i % 2 else ''}\t{'yes' if i % 2 else 'no'}\n" for i in range(80))
    (tmp_path / "train.tsv").write_text("sentence\tlabel\n" + rows + "only one column\n")
    (tmp_path / "dev.csv").write_text("text,label\nabz,yes\nabc,no\n")
    out = tmp_path / "model"
    data = ("--train", tmp_path / "train.tsv", "--dev", tmp_path / "dev.csv", "--out", out, "--json")
    done = run("finetune", "--task", "classification", "--model", small_checkpoint, "--epochs", 1, *data)
    assert lines(done)[-1].keys() >= {"accuracy", "macro_f1"}
    assert "train.tsv, line 82, column 2: 1 columns where 2 are expected" in done.stderr.decode()
    scratch = run("finetune", "--scratch", "--model", small_checkpoint, "--epochs", 1, *data)
    assert lines(scratch)[-1].keys() >= {"accuracy", "macro_f1"}
    (answer,) = lines(run("predict", "--model", out, "abz", "--json"))
    assert answer["label"] in {"yes", "no"} and set(answer["probabilities"]) == {"yes", "no"}
    assert len(lines(run("predict", "--model", out, "--json", stdin="a\nb\n\n"))) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tokenize", "x", "--vocab", "nowhere.txt"], "nowhere.txt"),
        (["fill", "a [MASK]", "--model", "nowhere"], "nowhere is not a directory"),
        (["pretrain", "--data", "nowhere", "--out", "x", "--steps", "1"], "nowhere does not exist"),
        (["pretrain", "--toy", "--resume", "--out", "x", "--steps", "1"], "is not resumed: begin it again"),
        (["predict", "x", "--model", "nowhere"], "nowhere is not a directory"),
        (["serve", "--model", "nowhere", "--port", "99999"], "must be a number from 0 to 65535, not 99999"),
        (["finetune", "--train", "no.tsv", "--dev", "no.tsv", "--out", "x"], "no.tsv does not exist"),
        (["pretrain", "--data", "x", "--out", "x"], "one of the arguments --minutes --steps is required"),
        (["pretrain", "--data", "x", "--out", "x", "--steps", "-3"], "must be greater than 0, not -3"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_line(arguments, message):
    done = run(*arguments, expect=2)
    assert message in done.stderr.decode() and not done.stdout


def test_text_that_is_not_utf8_is_refused(small_checkpoint):
    done = run("tokenize", "--vocab", small_checkpoint / "vocab.txt", stdin=b"caf\xe9\n", expect=2)
    assert "utf-8" in done.stderr.decode().lower()


@pytest.mark.parametrize(
    ("command", "option", "known"),
    [
        ("pretrain", "--input-format", data.FORMATS),
        ("pretrain", "--words", store.WORD_SEGMENTERS),
        ("pretrain", "--start", pretrain.STARTS),
        ("finetune", "--pooling", heads.POOLINGS),
    ],
)
def test_the_choices_offered_are_those_that_are_known(command, option, known):
    """They are written out in the parser, which must not import torch."""
    commands = next(action for action in parser()._actions if isinstance(action.choices, dict)).choices
    offered = next(action for action in commands[command]._actions if option in action.option_strings)
    assert set(offered.choices) == set(known) and offered.default in known


def test_help_does_not_wait_for_torch():
    program = "import sys\nfrom minibert.__main__ import parser\nparser()\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)
