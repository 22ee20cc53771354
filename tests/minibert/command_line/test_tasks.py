"""finetune, evaluate, predict and prune from the command line, for tasks of every form of input."""

import json
import re

import pytest

from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from tests.minibert.commands import call, run
from tests.minibert.tasks.toys import toy

PAIRS = "".join(f"{c}\tb\tyes\n{c}\tz\tno\n" for c in "acdefghi")
CONLL = "\n".join("a O\nzb B-Z\n\nc O\n" for _ in range(12))
ANSWERS = [{"text": "z", "answer_start": 4}]
PASSAGES = [{"context": f"a b z {c}", "qas": [{"id": c, "question": "z", "answers": ANSWERS}]} for c in "abcdefghijkl"]
SQUAD = json.dumps({"data": [{"paragraphs": PASSAGES}]})
RASA = "## intent:yes\n" + "- [z](letter) a\n" * 8 + "## intent:no\n" + "- b c\n" * 8
SMALL = ("--epochs", 1, "--batch-size", 8, "--max-length", 24)


@pytest.mark.parametrize(
    ("task", "content", "stdin", "keys"),
    [
        ("pair", PAIRS, 'a\tb\n{"text": "a", "pair": "z"}\n', {"label", "probabilities"}),
        ("tagging", CONLL, 'a zb, c\n["a", "zb"]\n', {"tags", "entities", "words"}),
        ("span", SQUAD, 'z\ta z\n{"question": "z", "context": "a b z"}\n', {"answer", "n_best", "offsets"}),
        ("intent", RASA, "z a\nb\n", {"intent", "entities"}),
        ("multilabel", "text\tlabels\na z\tz\na y\ty\n" * 10, "a\nb\n", {"labels", "probabilities"}),
    ],
)
def test_from_a_file_to_answers(tmp_path, small_checkpoint, task, content, stdin, keys):
    file, inputs, out = tmp_path / "train.txt", tmp_path / "inputs", tmp_path / "model"
    file.write_text(content)
    inputs.write_text(stdin)
    data = ("--task", task, "--train", file, "--model", small_checkpoint)
    code, events, err = call("finetune", *data, "--out", out, *SMALL)
    assert code == 0 and events[0]["details"]["task"] == task, err
    assert events[0]["details"]["dev"] > 0  # set aside from the training file
    code, (metrics,), _ = call("evaluate", "--model", out, "--data", file)
    assert code == 0 and Predictor.from_directory(out).task.metric in metrics and metrics["file"] == str(file)
    code, answers, _ = call("predict", "--model", out, stdin=stdin)
    assert code == 0 and len(answers) == 2 and all(answer.keys() >= keys for answer in answers)
    _, of_the_file, _ = call("predict", "--model", out, "--file", inputs, "--batch-size", 1)
    assert of_the_file[0].keys() == answers[0].keys()
    code, text, _ = call("predict", "--model", out, stdin=stdin, plain=True)
    assert code == 0 and len(text.splitlines()) == 2


def test_every_option_reaches_the_settings(tmp_path, small_checkpoint):
    file = tmp_path / "train.tsv"
    file.write_text("text\tlabel\tkind\tnote\tmark\n" + "a z\tyes\tx\tc d\tm\nb\tno\ty\te\tn\n" * 10)
    named = {
        "pooling": "mean",
        "layers": "weighted",
        "truncation": "head_tail",
        "freeze": 1,
        "layer_decay": 0.9,
        "mlm_weight": 0.1,
        "metadata_as": "token",
        "dropout": 0.2,
        "dropout_samples": 2,
        "doc_stride": 7,
        "max_seconds": 60,
        "averaging": 0.25,
        "loss": "focal",
        "focal_gamma": 1.5,
        "classifier_depth": 2,
        "classifier_activation": "gelu",
        "classifier_norm": "batch",
        "auxiliary_weight": 0.2,
    }
    code, events, err = call(
        "finetune", "--train", file, "--dev", file, "--model", small_checkpoint, "--out", tmp_path / "m", *SMALL,
        *(part for name, value in named.items() for part in (f"--{name.replace('_', '-')}", value)),
        "--labels", "yes,no", "--examples", 18, "--scratch", "--no-bias-correction", "--metadata", "kind",
        "--augment", "mask", "--augment-rate", 0.5, "--augment-copies", 2, "--warmup", 0.3, "--learning-rate", 1e-3,
        "--texts-beside", "note", "--auxiliary", "mark",
    )  # fmt: skip
    assert code == 0, err
    settings, details = events[0]["settings"], events[0]["details"]
    assert details["labels"] == ["yes", "no"] and details["train"] == 18 and details["augmented"] == 36
    assert settings["augmentation"] == {"method": "mask", "rate": 0.5, "copies": 2}
    assert settings["optimization"]["warmup"] == 0.3 and settings["optimization"]["learning_rate"] == 1e-3
    named |= {"bias_correction": False, "metadata": ["kind"], "texts_beside": ["note"], "auxiliary": ["mark"]}
    assert settings["from_scratch"] and {name: settings[name] for name in named} == named


def test_what_is_wrong_is_said_and_where(tmp_path, small_checkpoint):
    file = tmp_path / "train.tsv"
    file.write_text("text\tlabel\n" + "a z\tyes\nb\tno\n" * 5 + "lonely\n")
    asked = ("finetune", "--train", file, "--model", small_checkpoint, "--out", tmp_path / "m", *SMALL)
    code, _, err = call(*asked)
    assert code == 0 and f"{file}, line 12, column 2: 1 column where 2 are expected" in err
    code, _, err = call(*asked, "--strict")
    assert code == 2 and "train.tsv, line 12, column 2" in err
    code, _, err = call(*asked, "--format", "swag")
    assert code == 2 and "no format 'swag' for classification; it can be header" in err
    code, answers, err = call("predict", "--model", tmp_path / "m", '{"sentence": "a"}')
    assert code == 2 and not answers and "input 1: the input has no 'text'; it needs text" in err
    assert len(call("predict", "--model", tmp_path / "m", stdin="a\nb\n\n")[1]) == 3  # nothing is also a text


def test_columns_of_other_names_are_told(tmp_path, small_checkpoint):
    file = tmp_path / "train.csv"
    file.write_text("id,stars,opinion\n" + "1,yes,a z\n2,no,b\n" * 5)
    asked = ("finetune", "--train", file, "--model", small_checkpoint, "--out", tmp_path / "m", *SMALL, "--columns")
    code, _, err = call(*asked, "text=Opinion", "label=2")
    assert code == 0, err
    code, _, err = call("evaluate", "--model", tmp_path / "m", "--data", file, "--columns", "text=3", "label=2")
    assert code == 0 and "line 1, column 2: no other line has 'stars'" in err
    columns = ("--data", file, "--columns", "text=opinion", "label=stars")
    code, answers, err = call("predict", "--model", tmp_path / "m", *columns, "--batch-size", "3")
    assert code == 0 and [answer["text"] for answer in answers] == ["a z", "b"] * 5
    code, _, err = call("predict", "a text", "--model", tmp_path / "m", *columns)
    assert code == 2 and "give one input, or --file, or --data" in err
    code, _, err = call(*asked, "text=opinion", "first-text=2")
    assert code == 2 and "no column 'first text' for classification; it can be text, label" in err
    assert call(*asked, "opinion")[0] == 2


def test_answers_stream_before_the_input_ends(answering):
    asked = []

    def inputs():
        for i in range(10):
            asked.append(i)
            yield "a b"

    answers = answering("classification").stream(inputs(), 3)
    next(answers)
    assert len(asked) == 3
    assert len(list(answers)) == 9 and len(asked) == 10


@pytest.fixture(scope="module")
def to_prune(small_checkpoint, tmp_path_factory):
    """A classifier, and the same data as a file for training and one to measure on."""
    folder = tmp_path_factory.mktemp("prune")
    data = [toy("classification", count, seed) for seed, count in enumerate((32, 16))]
    for name, part in zip(("train", "dev"), data, strict=True):
        lines = [f"{example.text}\t{example.label}" for example in part.examples]
        (folder / f"{name}.tsv").write_text("\n".join(["text\tlabel", *lines]) + "\n")
    list(finetune(small_checkpoint, "classification", *data, FinetuneSettings(epochs=1), out=folder / "model"))
    return folder


def cut(to_prune, *arguments, plain: bool = False) -> tuple:
    data = ("--train", to_prune / "train.tsv", "--dev", to_prune / "dev.tsv", "--out", to_prune / "out", "--threads", 1)
    return call("prune", "--model", to_prune / "model", *arguments, *data, plain=plain)


def test_what_pruning_leaves_is_smaller_and_answers(to_prune):
    code, events, _ = cut(to_prune, "--what", "neurons", "--share", 0.75, "--seed", 3)
    assert code == 0 and events[-1]["event"] == "done"
    told = next(event for event in events if event["event"] == "cut")
    assert told["after"]["parameters"] < told["before"]["parameters"] and sum(told["neurons"]) == 32  # of 128
    left = Predictor.from_directory(to_prune / "out")
    assert list(left.model.config.neurons) == told["neurons"]
    assert set(left.predict([{"text": "a b c"}])[0]["probabilities"]) == set(left.labels)


def test_what_people_read_of_pruning(to_prune):
    code, out, err = cut(to_prune, "--share", 0.5, plain=True)
    assert code == 0 and not out and "neurons left, layer by layer: 64 64" in err and "{" not in err
    (heads,) = re.findall(r"heads left, layer by layer: (.*)", err)
    assert sum(map(int, heads.split())) == 2  # of 4
    assert re.search(r"parameters ([\d,]+) → [\d,]+", err) and "accuracy" in err


def test_what_cannot_be_cut_is_said_in_a_sentence(to_prune):
    for arguments, said in (
        (("--share", "1.5"), "a share is from 0 to 1, not 1.5"),
        (("--what", "layers", "--share", "1"), "without any layer"),
        (("--what", "legs"), "invalid choice"),
    ):
        code, _, err = cut(to_prune, *arguments)
        assert code == 2 and said in err


def test_a_line_that_looks_like_json_is_a_text_and_one_that_is_no_utf_8_is_named(tmp_path, answering):
    model = answering("classification").save(tmp_path / "model")
    code, answers, _ = call("predict", "--model", model, stdin='[1]\n{"text": "a"}\n[a\n')
    assert code == 0 and [answer["text"] for answer in answers] == ["[1]", "a", "[a"]
    file = tmp_path / "inputs.txt"
    for content, line in (("a\nb\n".encode("utf-16"), 1), (b"a\nb\n\xe9\n", 3)):
        file.write_bytes(content)
        for command in ("predict", "embed"):
            code, _, err = call(command, "--model", model, "--file", file)
            assert code == 2 and f"{file}, line {line}: not UTF-8" in err
        done = run("predict", "--model", model, stdin=content, expect=2)
        assert f"line {line}: not UTF-8" in done.stderr.decode()


def test_tags_without_any_entity_are_refused(tmp_path, small_checkpoint):
    file = tmp_path / "train.txt"
    file.write_text("a O\nb O\n\n" * 10)
    code, _, err = call(
        "finetune", "--task", "tagging", "--train", file, "--model", small_checkpoint, "--out", tmp_path / "out", *SMALL
    )
    assert code == 2 and "nothing to learn" in err and not (tmp_path / "out").exists()
