"""The command line as a user calls it: its output, its exit code; where that is the point, in a new process."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from minibert import heads, pretrain
from minibert.__main__ import parser
from minibert.finetune.predictor import Predictor
from minibert.text import batches as data
from minibert.text import store
from minibert.training import resume
from tests.minibert.commands import ENVIRONMENT, lines, run

ROOT = Path(__file__).resolve().parents[3]
OVERDUE = 600  # seconds: nothing waits for them, they only end what hangs


def test_tokenize_a_text_and_lines(small_checkpoint):
    vocab = small_checkpoint / "vocab.txt"
    command = [sys.executable, "-m", "minibert", "tokenize", "Ab, ç", "--vocab", vocab]
    (one,) = lines(subprocess.run(command, capture_output=True, cwd=ROOT, timeout=OVERDUE, check=True, env=ENVIRONMENT))
    assert one["tokens"] == ["[CLS]", "a", "##b", ",", "c", "[SEP]"]
    assert one["offsets"] == [[0, 0], [0, 1], [1, 2], [2, 3], [4, 5], [0, 0]]
    assert len(one["ids"]) == 6
    many = lines(run("tokenize", "--vocab", vocab, "--cased", stdin="ab\n\n北A\n"))
    assert [line["tokens"][1:-1] for line in many] == [["a", "##b"], [], ["[UNK]", "[UNK]"]]
    said = run("tokenize", "--vocab", vocab, stdin=b"caf\xe9\n", expect=2).stderr.decode()
    assert "utf-8" in said.lower()


def test_count_gives_the_papers_numbers():
    (base,) = lines(run("count", "--preset", "base", "--json"))
    assert base == {"encoder": 108891648, "with_pooler": 109482240, "masked_lm": 109514298, "pretraining": 110106428}


def test_fill(small_checkpoint):
    answers = lines(run("fill", "a [MASK] b [MASK]", "--model", small_checkpoint, "--top", 3, "--json"))
    assert [(line["blank"], len(line["answers"])) for line in answers] == [(0, 3), (1, 3)]
    error = run("fill", "no blank", "--model", small_checkpoint, expect=2).stderr.decode()
    assert "[MASK]" in error and error.count("\n") == 1


@pytest.fixture
def text(tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("the cat sat on the mat. a dog ran home.\nthen it slept. nobody knew why.\n\n" * 60)
    return file


@pytest.mark.release
@pytest.mark.trains
def test_pretrain_fill_evaluate(tmp_path, text, monkeypatch):
    monkeypatch.setattr("minibert.toy.pretrain.HELD_OUT", 6)
    out, sizes = tmp_path / "model", ("--sizes", "hidden_size=32", "num_hidden_layers=1", "intermediate_size=32")
    small = ("--preset", "tiny", *sizes, "--vocab-size", 80, "--batch-size", 8, "--max-length", 32, "--out", out)
    events = lines(run("pretrain", "--data", text, *small, "--steps", 12, "--json"))
    kinds = [event["event"] for event in events]
    assert kinds == ["preparing", "preparing", "preparing", "started", "saved", "step", "step", "done", "saved"]
    assert events[5]["parts"].keys() >= {"mlm_loss", "nsp_loss"}
    log = [json.loads(line) for line in (out / "training.jsonl").read_text().splitlines()]
    assert [event["event"] for event in log] == ["started", "step", "step", "done"]
    assert lines(run("fill", "the [MASK]", "--model", out, "--json"))
    (metrics,) = lines(run("evaluate", "--model", out, "--data", text, "--max-length", 32, "--json"))
    assert metrics.keys() >= {"mlm_loss", "mlm_accuracy", "nsp_accuracy"}
    toy = lines(run("pretrain", "--toy", *sizes, "--out", tmp_path / "toy", "--steps", 1, "--json"))
    assert toy[-1]["event"] == "saved" and 0 <= toy[-2]["metrics"]["determined"] < 0.2
    with_muon = lines(run("pretrain", "--data", text, *small, "--optimizer", "muon", "--steps", 1, "--json"))
    started = [log[0], *(event for event in (*toy, *with_muon) if event["event"] == "started")]
    assert [one["settings"]["optimization"]["optimizer"] for one in started] == ["adamw", "muon", "muon"]
    by_clock = lines(run("pretrain", "--data", text, *small, "--minutes", 0.01, "--json"))
    assert by_clock[-1]["event"] == "saved"


def test_what_cannot_be_used_is_said_in_a_line_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments, message in (
        ("tokenize x --vocab nowhere.txt", "nowhere.txt"),
        ("count --preset=", "''"),
        ("fill [MASK] --model nowhere", "nowhere"),
        ("pretrain --data nowhere --out x --steps 1", "nowhere"),
        ("pretrain --toy --resume --out x --steps 1", "resume"),
        ("pretrain --toy --dropout 0.5 --out x --steps 1", "--dropout"),
        ("serve --model nowhere --port 99999", "99999"),
        ("finetune --train no.tsv --dev no.tsv --out x", "no.tsv"),
        ("pretrain --data x --out x", "--minutes --steps"),
        ("pretrain --data x --out x --steps 1 --sizes hidden_size=1000000", "GB"),
        ("pretrain --toy --out x --steps 1 --sizes hidden_size=1000000", "GB"),
        ("pretrain --data x --out x --steps -3", "-3"),
    ):
        done = run(*arguments.split(), expect=2)
        assert message in done.stderr.decode() and not done.stdout and not list(tmp_path.iterdir())


def test_a_goal_that_cannot_be_written_is_refused_before_the_work(tmp_path, text, small_checkpoint, monkeypatch):
    """Not after an evening of training."""
    places = {"text": text, "train": tmp_path / "train.tsv", "model": small_checkpoint, "file": tmp_path / "file"}
    places["file"].write_text("mine")
    places["train"].write_text("sentence\tlabel\n" + "abc\tno\nabz\tyes\n" * 10)
    worked = []
    for name in ("minibert.finetune.run.build_learner", "minibert.pretrain.train", "minibert.checkpoint.load"):
        monkeypatch.setattr(name, lambda *arguments, **options: worked.append(arguments))
    for command in (
        "pretrain --toy --steps 1",
        "pretrain --data {text} --preset tiny --steps 1",
        "finetune --train {train} --model {model}",
        "average {model} {model}",
        "export --model {model}",
        "experiment features",
    ):
        line = f"{command} --out {{file}}/model".format(**places)
        assert str(places["file"]) in run(*line.split(), expect=2).stderr.decode()
        assert not worked and places["file"].read_text() == "mine"


def test_what_is_many_megabytes_long_is_one_line_of_error(tmp_path, answering):
    model = answering("classification").save(tmp_path / "model")
    file = tmp_path / "long.tsv"
    for content in (b"sentence\tlabel\n" + b"a" * 99_000_000 + b"\tno\n", b"a" * 99_000_000, b"{" + b"a" * 2_000_000):
        file.write_bytes(content)
        for option in ("--data", "--file"):
            done = run("predict", "--model", model, option, file, expect=2)
            said = done.stderr.decode()
            assert said.count("\n") == 1 and len(said) <= 401, said[:1000]
            assert not done.stdout
    done = run("predict", "--model", model, stdin=b"a" * 3_000_000, expect=2)
    assert "line 1: more than 1,048,576" in done.stderr.decode()
    done = run("tokenize", "--vocab", model / "vocab.txt", stdin=b"ab\n" + b"a" * 3_000_000, expect=2)
    assert "line 2: more than 1,048,576" in done.stderr.decode() and done.stdout.count(b"\n") == 1
    file, asked = tmp_path / "long.json", {"id": "1", "question": "a", "answers": []}
    file.write_text(json.dumps({"data": [{"paragraphs": [{"context": "a b " * 1_000_000, "qas": [asked]}]}]}))
    done = run("predict", "--model", answering("span").save(tmp_path / "span"), "--data", file, expect=2)
    assert {"4,000,000", "1,048,576"} <= set(done.stderr.decode().split())


@pytest.mark.parametrize("long", ["x" * 100_000, "\x1b[2J" * 30_000, "a\nb" * 30_000], ids=["long", "cursor", "lines"])
def test_an_error_is_a_line_of_a_few_hundred_characters(long, tmp_path, small_checkpoint):
    (tmp_path / "bad.tsv").write_text(f"sentence\tlabel\nabc\t{long}\nabz\t{long}".replace("\n", " "))
    for arguments in (
        ["fill", long, "--model", small_checkpoint],
        ["count", "--preset", long],
        ["count", "--config", long],
        ["tokenize", "a", "--vocab", long],
        ["pretrain", "--data", long, "--out", tmp_path / "x", "--steps", "1"],
        ["finetune", "--train", tmp_path / "bad.tsv", "--out", tmp_path / "x", "--labels", "a"],
        ["serve", "--model", "x", "--port", long],
        ["evaluate", "--data", "x", "--columns", long],
        [long],
    ):
        *usage, error = run(*arguments, expect=2).stderr.decode().splitlines()
        assert len(error) <= 400 and error.isprintable(), (arguments[0][:20], error[:500])
        assert all(len(line) < 400 for line in usage)


@pytest.mark.release
@pytest.mark.servers
def test_ctrl_c_saves_what_was_learned(tmp_path, text):
    out = tmp_path / "model"
    small = ("--preset", "tiny", "--vocab-size", "80", "--batch-size", "8", "--max-length", "32")
    command = ["-m", "minibert", "pretrain", "--data", text, *small, "--minutes", "60", "--json", "--out", out]
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    overdue = threading.Timer(OVERDUE, process.kill)
    overdue.start()
    first = next(event for event in map(json.loads, process.stdout) if event["event"] == "step")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    overdue.cancel()
    assert process.returncode == 130 and "Traceback" not in said
    assert resume.latest(out).values["step"] >= first["step"]
    assert lines(run("fill", "the [MASK] sat", "--model", out, "--json"))


def test_the_choices_offered_are_those_that_are_known():
    """They are written out in the parser, which must not import torch."""
    commands = next(action for action in parser()._actions if isinstance(action.choices, dict)).choices
    for command, option, known in (
        ("pretrain", "--input-format", data.FORMATS),
        ("pretrain", "--words", store.WORD_SEGMENTERS),
        ("pretrain", "--start", pretrain.STARTS),
        ("finetune", "--pooling", heads.POOLINGS),
    ):
        offered = next(action for action in commands[command]._actions if option in action.option_strings)
        assert set(offered.choices) == set(known) and offered.default in known


def test_help_does_not_wait_for_torch():
    program = "import sys\nfrom minibert.__main__ import parser\nparser()\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_labels_that_the_model_does_not_have_are_named(answering, tmp_path):
    model, file = answering("classification").save(tmp_path / "model"), tmp_path / "dev.tsv"
    file.write_text("label\ttext\nperhaps\ta b\nyes\tb\n")
    warned = run("evaluate", "--model", model, "--data", file).stderr.decode()
    assert str(file) in warned and "perhaps" in warned and warned.count("\n") == 1
    file.write_text("label\ttext\n1\ta b\n0\tb\n")
    refused = run("evaluate", "--model", model, "--data", file, expect=2).stderr.decode()
    assert "dev.tsv" in refused and "0, 1" in refused and "no, maybe, yes" in refused


def test_a_file_without_answers_is_not_measured_on(answering, small_checkpoint, tmp_path):
    story = "s{}\t\tA z b.\t" + "\t".join(["one: Who?\ta\tb\tc\td"] * 4) + "\n"
    train, dev = tmp_path / "train.tsv", tmp_path / "dev.tsv"
    train.write_text(story.format(1) * 4)
    (tmp_path / "train.ans").write_text("A\tB\tC\tD\n" * 4)
    dev.write_text(story.format(2))
    chosen = ("--task", "choice", "--train", train, "--dev", dev, "--max-length", 24, "--out", tmp_path / "m")
    for command in (
        ("evaluate", "--model", answering("choice").save(tmp_path / "model"), "--data", dev),
        ("finetune", "--model", small_checkpoint, *chosen),
    ):
        assert "dev.tsv: 4 of 4 " in run(*command, expect=2).stderr.decode()


def test_it_is_computed_on_the_best_device(answering, tmp_path, monkeypatch):
    used, answers = [], Predictor.answers

    def seen(self, *given, **options):
        used.append(next(self.model.parameters()).dtype)
        return answers(self, *given, **options)

    monkeypatch.setattr("minibert.training.precision.best_device", lambda: torch.float64)  # .to() takes it as well
    monkeypatch.setattr(Predictor, "answers", seen)
    model, file = answering("classification").save(tmp_path / "model"), tmp_path / "dev.tsv"
    file.write_text("label\ttext\nyes\ta b\nno\tb\n")
    run("evaluate", "--model", model, "--data", file)
    run("predict", "--model", model, "a b")
    assert used == [torch.float64] * 2


def test_a_program_that_waits_for_its_answer_gets_it(answering, tmp_path):
    model = answering("classification").save(tmp_path / "model")
    command = [sys.executable, "-m", "minibert", "predict", "--model", model]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=ENVIRONMENT) as process:
        overdue = threading.Timer(OVERDUE, process.kill)
        overdue.start()
        for text in (b"a b", b"b"):
            process.stdin.write(text + b"\n")
            process.stdin.flush()
            assert process.stdout.readline().endswith(text + b"\n")
        process.stdin.close()
        assert process.wait() == 0
        overdue.cancel()


def test_an_experiment_says_that_there_is_nothing_to_do_only_where_nothing_was_done(tmp_path, monkeypatch):
    """Arms need not have training steps."""
    from minibert.experiments import relatives
    from minibert.experiments.events import Finished
    from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
    from minibert.train import Done

    name = next(name for name, each in RELATIVE_EXPERIMENTS.items() if not each.needs)
    record = {"arm": "bert", "seed": 0, "metrics": {"accuracy": 1.0}}
    for finished in ([Finished(record, 1.0)], []):
        events = [*finished, Done(0, 0, 0.0)]
        monkeypatch.setattr(relatives, "run_relative", lambda *arguments, events=events, **options: iter(events))
        done = run("experiment", name, "--out", tmp_path / "results.jsonl")
        assert ("nothing to do" in done.stderr.decode()) == (not finished)
    listed = {line["experiment"]: line["tasks"] for line in lines(run("experiment", "--list", "--json"))}
    assert all(listed[name] == list(each.needs) for name, each in RELATIVE_EXPERIMENTS.items())
