"""finetune, evaluate and predict from the command line, for tasks of every form of input."""

import io
import json

import pytest

from minibert.__main__ import main
from minibert.finetune.predictor import Predictor


@pytest.fixture
def call(capsys, monkeypatch):
    """Run a command in this process: (exit code, JSON lines or text, stderr)."""

    def run(*arguments, stdin: str = "", plain: bool = False):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        code = main([*map(str, arguments), *([] if plain else ["--json"])])
        out, err = capsys.readouterr()
        return code, out if plain else [json.loads(line) for line in out.splitlines()], err

    return run


CONLL = "\n".join("a O\nzb B-Z\n\nc O\n" for _ in range(12))
SQUAD = {
    "data": [
        {
            "paragraphs": [
                {
                    "context": f"a b z {c}",
                    "qas": [{"id": c, "question": "z", "answers": [{"text": "z", "answer_start": 4}]}],
                }
                for c in "abcdefghijkl"
            ]
        }
    ]
}
RASA = "## intent:yes\n" + "- [z](letter) a\n" * 8 + "## intent:no\n" + "- b c\n" * 8
SMALL = ("--epochs", 1, "--batch-size", 8, "--max-length", 24)


@pytest.mark.parametrize(
    ("task", "content", "stdin", "keys"),
    [
        (
            "pair",
            "".join(f"{c}\tb\tyes\n{c}\tz\tno\n" for c in "acdefghi"),
            'a\tb\n{"text": "a", "pair": "z"}\n',
            {"label", "probabilities"},
        ),
        ("tagging", CONLL, 'a zb, c\n["a", "zb"]\n', {"tags", "entities", "words"}),
        ("span", json.dumps(SQUAD), 'z\ta z\n{"question": "z", "context": "a b z"}\n', {"answer", "n_best", "offsets"}),
        ("intent", RASA, "z a\nb\n", {"intent", "entities"}),
        ("multilabel", "text\tlabels\na z\tz\na y\ty\n" * 10, "a\nb\n", {"labels", "probabilities"}),
    ],
)
def test_from_a_file_to_answers(call, tmp_path, small_checkpoint, task, content, stdin, keys):
    file, out = tmp_path / "train.txt", tmp_path / "model"
    file.write_text(content)
    code, events, err = call(
        "finetune", "--task", task, "--train", file, "--model", small_checkpoint, "--out", out, *SMALL
    )  # fmt: skip
    assert code == 0 and events[0]["details"]["task"] == task, err
    assert events[0]["details"]["dev"] > 0  # set aside from the training file
    code, (metrics,), _ = call("evaluate", "--model", out, "--data", file)
    assert code == 0 and Predictor.from_directory(out).task.metric in metrics and metrics["file"] == str(file)
    code, answers, _ = call("predict", "--model", out, stdin=stdin)
    assert code == 0 and len(answers) == 2 and all(answer.keys() >= keys for answer in answers)
    (tmp_path / "inputs").write_text(stdin)
    assert (
        call("predict", "--model", out, "--file", tmp_path / "inputs", "--batch-size", 1)[1][0].keys()
        == answers[0].keys()
    )
    code, text, _ = call("predict", "--model", out, stdin=stdin, plain=True)
    assert code == 0 and len(text.splitlines()) == 2


def test_every_option_reaches_the_settings(call, tmp_path, small_checkpoint):
    file = tmp_path / "train.tsv"
    file.write_text("text\tlabel\tkind\tnote\tmark\n" + "a z\tyes\tx\tc d\tm\nb\tno\ty\te\tn\n" * 10)
    code, events, err = call(
        "finetune", "--train", file, "--dev", file, "--model", small_checkpoint, "--out", tmp_path / "m", *SMALL,
        "--labels", "yes,no", "--examples", 18,
        "--pooling", "mean", "--layers", "weighted", "--truncation", "head_tail",
        "--freeze", 1, "--layer-decay", 0.9, "--no-bias-correction", "--mlm-weight", 0.1, "--metadata", "kind",
        "--metadata-as", "token", "--augment", "mask", "--augment-rate", 0.5, "--augment-copies", 2, "--dropout", 0.2,
        "--dropout-samples", 2, "--warmup", 0.3, "--learning-rate", 1e-3, "--doc-stride", 7, "--max-seconds", 60,
        "--averaging", 0.25, "--loss", "focal", "--focal-gamma", 1.5, "--classifier-depth", 2,
        "--classifier-activation", "gelu", "--classifier-norm", "batch", "--texts-beside", "note",
        "--auxiliary", "mark", "--auxiliary-weight", 0.2,
    )  # fmt: skip
    assert code == 0, err
    settings, details = events[0]["settings"], events[0]["details"]
    assert details["labels"] == ["yes", "no"] and details["train"] == 18 and details["augmented"] == 36
    assert settings["augmentation"] == {"method": "mask", "rate": 0.5, "copies": 2}
    assert settings["optimization"]["warmup"] == 0.3 and settings["optimization"]["learning_rate"] == 1e-3
    expected = {
        "pooling": "mean", "layers": "weighted", "truncation": "head_tail", "freeze": 1, "layer_decay": 0.9,
        "bias_correction": False, "mlm_weight": 0.1, "metadata": ["kind"], "metadata_as": "token", "dropout": 0.2,
        "dropout_samples": 2, "doc_stride": 7, "max_seconds": 60, "averaging": 0.25, "loss": "focal",
        "focal_gamma": 1.5, "classifier_depth": 2, "classifier_activation": "gelu", "classifier_norm": "batch",
        "texts_beside": ["note"], "auxiliary": ["mark"], "auxiliary_weight": 0.2,
    }  # fmt: skip
    assert {name: settings[name] for name in expected} == expected


def test_what_is_wrong_is_said_and_where(call, tmp_path, small_checkpoint):
    file = tmp_path / "train.tsv"
    file.write_text("text\tlabel\n" + "a z\tyes\nb\tno\n" * 5 + "lonely\n")
    options = ("--model", small_checkpoint, "--out", tmp_path / "m", *SMALL)
    code, _, err = call("finetune", "--train", file, *options)
    assert code == 0 and f"{file}, line 12, column 2: 1 columns where 2 are expected" in err
    code, _, err = call("finetune", "--train", file, *options, "--strict")
    assert code == 2 and "train.tsv, line 12, column 2" in err
    code, _, err = call("finetune", "--train", file, *options, "--format", "swag")
    assert code == 2 and "no format 'swag' for classification; it can be header" in err
    code, answers, err = call("predict", "--model", tmp_path / "m", '{"sentence": "a"}')
    assert code == 2 and not answers and "input 1: the input has no 'text'; it needs text" in err


def test_columns_of_other_names_are_told(call, tmp_path, small_checkpoint):
    file = tmp_path / "train.csv"
    file.write_text("id,stars,opinion\n" + "1,yes,a z\n2,no,b\n" * 5)
    options = ("--model", small_checkpoint, "--out", tmp_path / "m", *SMALL)
    code, _, err = call("finetune", "--train", file, *options, "--columns", "text=Opinion", "label=2")
    assert code == 0, err
    code, _, err = call("evaluate", "--model", tmp_path / "m", "--data", file, "--columns", "text=3", "label=2")
    assert code == 0 and "line 1, column 2: no other line has 'stars'" in err
    columns = ("--data", file, "--columns", "text=opinion", "label=stars")
    code, answers, err = call("predict", "--model", tmp_path / "m", *columns, "--batch-size", "3")
    assert code == 0 and [answer["text"] for answer in answers] == ["a z", "b"] * 5
    code, _, err = call("predict", "a text", "--model", tmp_path / "m", *columns)
    assert code == 2 and "give one input, or --file, or --data" in err
    code, _, err = call("finetune", "--train", file, *options, "--columns", "text=opinion", "first-text=2")
    assert code == 2 and "no column 'first text' for classification; it can be text, label" in err
    with pytest.raises(SystemExit):
        call("finetune", "--train", file, *options, "--columns", "opinion")


def test_answers_stream_before_the_input_ends(tmp_path, small_checkpoint, call):
    file = tmp_path / "train.tsv"
    file.write_text("text\tlabel\n" + "a z\tyes\nb\tno\n" * 5)
    call("finetune", "--train", file, "--model", small_checkpoint, "--out", tmp_path / "m", *SMALL)
    asked = []

    def inputs():
        for i in range(10):
            asked.append(i)
            yield "a b"

    answers = Predictor.from_directory(tmp_path / "m").stream(inputs(), 3)
    next(answers)
    assert len(asked) == 3
    assert len(list(answers)) == 9 and len(asked) == 10
