"""What is exported answers as the model does: in transformers, in onnxruntime, and in minibert again."""

import json
import shutil
from dataclasses import replace

import onnxruntime
import pytest
import torch
import transformers

import minibert.service.export as exporting
from minibert import checkpoint
from minibert.__main__ import main
from minibert.finetune.predictor import Predictor
from minibert.relatives.albert import AlbertConfig
from minibert.relatives.nezha import NezhaConfig
from minibert.service.export import ExportError, TensorModel, batches, export, transformers_notes
from minibert.tasks import TASKS
from minibert.tasks.options import Options


@pytest.fixture
def saved(answering, tmp_path):
    """A function: a task's name and options → (its Predictor, where it is saved)."""

    def save(name: str, **options):
        predictor = answering(name, **options)
        return predictor, predictor.save(tmp_path / "model")

    return save


@pytest.mark.parametrize("task", ["classification", "multilabel", "similarity", "tagging", "span", "choice"])
def test_what_transformers_reads_is_what_was_saved(saved, tmp_path, capsys, task):
    """Its logits are compared where saving is tested."""
    (predictor, source), out = saved(task), tmp_path / "out"
    assert main(["export", "--model", str(source), "--out", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["format"], said["difference"], said["rows"], said["notes"]) == ("huggingface", 0, 7, [])
    for name in (checkpoint.WEIGHTS, "config.json", "vocab.txt"):
        assert (out / name).read_bytes() == (source / name).read_bytes()
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    assert tokenizer("ab z").input_ids == predictor.tokenizer.encode("ab z").ids


def test_half_precision_is_half_the_size_and_measured(saved, tmp_path):
    predictor, source = saved("classification")
    done = export(source, tmp_path / "out", dtype="float16")
    before, after = ((folder / checkpoint.WEIGHTS).stat().st_size for folder in (source, done.path))
    assert after < 0.7 * before and 0 < done.difference < 0.1
    assert checkpoint.config_values(done.path)["dtype"] == "float16"
    again = Predictor.from_directory(done.path).predict(["ab z"])[0]["probabilities"]
    assert again == pytest.approx(predictor.predict(["ab z"])[0]["probabilities"], abs=0.05)


def test_what_transformers_cannot_read_is_said(saved, tmp_path):
    for task, options, said in [
        ("intent", {}, "no head for an intent"),
        ("classification", {"pooling": "mean"}, "pooling 'mean'"),
        ("tagging", {"layers": "weighted", "bilstm": True}, "layers 'weighted', BiLSTM"),
        ("classification", {"classifier_depth": 2}, "depth 2"),
    ]:
        (note,) = export(saved(task, **options)[1], tmp_path / "out").notes
        assert said in note
    sizes = {"vocab_size": 40, "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1}
    known, unknown = (
        TASKS["classification"].head(kind(**sizes), ["no", "yes"], Options()) for kind in (AlbertConfig, NezhaConfig)
    )
    assert transformers_notes(known) == ()
    assert "no NEZHA model" in transformers_notes(unknown)[0]


HEADS = [
    ("classification", {"pooling": "max", "layers": "last_four_concat"}),
    ("tagging", {"layers": "weighted", "metadata": ("kind",), "metadata_values": {"kind": ["x", "y"]}}),
    ("pair", {"classifier_depth": 3, "classifier_norm": "batch", "layers": "last_four_weighted"}),
    ("span", {}),
    ("choice", {"metadata": ("kind",), "metadata_values": {"kind": ["x", "y"]}}),
    ("similarity", {"metadata": ("kind",), "metadata_values": {"kind": ["x"]}, "metadata_as": "concatenated"}),
    ("intent", {}),
]


@pytest.fixture(scope="module")
def onnx_classifier(answering, tmp_path_factory):
    """(a Predictor, its ONNX file and what else was written)"""
    predictor, folder = answering(HEADS[0][0], **HEADS[0][1]), tmp_path_factory.mktemp("onnx")
    return predictor, export(predictor.save(folder / "model"), folder / "out", "onnx")


def answers_alike_in_onnxruntime(predictor, done) -> None:
    assert done.difference < 1e-4 and done.rows == 7
    written = sorted(file.name for file in done.path.iterdir())
    assert [name for name in written if "token" not in name] == ["config.json", "model.onnx", "vocab.txt"]
    session = onnxruntime.InferenceSession(done.path / "model.onnx", providers=["CPUExecutionProvider"])
    choices = ["choices"] if predictor.task.name == "choice" else []
    assert session.get_inputs()[0].shape == ["batch", *choices, "tokens"]
    graph = TensorModel(predictor.model)
    for inputs in batches(graph, seed=1):
        found = session.run(graph.output_names, {name: x.numpy() for name, x in inputs.items()})
        with torch.no_grad():
            expected = graph(*inputs.values())
        for x, y in zip(expected, found, strict=True):
            torch.testing.assert_close(torch.from_numpy(y), x, atol=1e-4, rtol=0)


def test_onnxruntime_gives_the_same_outputs(onnx_classifier):
    answers_alike_in_onnxruntime(*onnx_classifier)


@pytest.mark.release
@pytest.mark.parametrize(("task", "options"), HEADS[1:])
def test_onnxruntime_gives_the_same_outputs_of_every_other_head(saved, tmp_path, task, options):
    predictor, source = saved(task, **options)
    answers_alike_in_onnxruntime(predictor, export(source, tmp_path / "out", "onnx"))


def test_every_task_has_a_head_that_is_compared(answering):
    kinds = {type(answering(task).model) for task, _ in HEADS}
    assert {type(answering(task).model) for task in TASKS} == kinds


@pytest.mark.release
def test_the_onnx_directory_is_all_that_is_needed(onnx_classifier):
    """Its tokenizer makes the inputs, its config.json names the outputs."""
    predictor, done = onnx_classifier
    session = onnxruntime.InferenceSession(done.path / "model.onnx", providers=["CPUExecutionProvider"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(done.path)
    encoded = tokenizer(["ab z", "c"], padding=True, return_tensors="np")
    names = {"ids": "input_ids", "segments": "token_type_ids", "padding": "attention_mask"}
    inputs = {ours: encoded[theirs] for ours, theirs in names.items()}
    (logits,) = session.run(None, {**inputs, "padding": inputs["padding"].astype(bool)})
    labels = json.loads((done.path / "config.json").read_text())["id2label"]
    expected = [answer["label"] for answer in predictor.predict(["ab z", "c"])]
    assert [labels[str(row.argmax())] for row in logits] == expected


def changed(source):
    """The model in this directory, but for one of its weights, which differs by 0.001."""
    model = checkpoint.load(source)
    with torch.no_grad():
        model.classifier.bias[0] += 1e-3
    return model


def test_a_wrong_file_is_noticed_and_not_left_behind(onnx_classifier, tmp_path, monkeypatch):
    predictor, done = onnx_classifier
    source = predictor.save(tmp_path / "model")
    replace(predictor, model=changed(source)).save(source)
    monkeypatch.setattr(exporting, "write_onnx", lambda graph, file: shutil.copy(done.path / "model.onnx", file))
    with pytest.raises(ExportError, match=r"differs from the model by 0\.001"):
        export(source, tmp_path / "out", "onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_wrong_copy_is_noticed_and_weights_too_large_for_half_precision(saved, tmp_path, monkeypatch):
    predictor, source = saved("classification")
    with monkeypatch.context() as patch, pytest.raises(ExportError, match="differs"):
        model = changed(source)
        patch.setattr(exporting.Predictor, "from_directory", lambda directory: predictor)
        patch.setattr(exporting.checkpoint, "load", lambda directory: model)
        export(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with torch.no_grad():
        predictor.model.classifier.bias[0] = 1e6
    predictor.save(source)
    with pytest.raises(ExportError, match="no number"):
        export(source, tmp_path / "out", dtype="float16")


def test_what_cannot_be_is_said_in_one_line(saved, small_checkpoint, tmp_path, monkeypatch, capsys):
    _, source = saved("tagging", bilstm=True)

    def fails(model, *options) -> str:
        assert main(["export", "--model", str(model), "--out", str(tmp_path / "out"), *options]) == 2
        assert not (tmp_path / "out").exists()
        return capsys.readouterr().err

    assert "BiLSTM" in fails(source, "--format", "onnx")
    assert "float32" in fails(source, "--format", "onnx", "--dtype", "float16")
    assert "fine-tune it first" in fails(small_checkpoint)
    with pytest.raises(ExportError, match="another directory"):
        export(source, source)
    with pytest.raises(ExportError, match="no format"):
        export(source, tmp_path / "out", "pickle")
    monkeypatch.setattr(exporting, "ONNX_PACKAGES", ("onnx", "surely_not_installed"))
    said = fails(source, "--format", "onnx")
    assert "pip install surely_not_installed" in said or "pip install onnx surely_not_installed" in said
