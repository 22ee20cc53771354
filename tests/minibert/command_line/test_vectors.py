"""train-vectors, whiten, embed, search and serve from the command line."""

import numpy as np
import pytest
from starlette.testclient import TestClient

from minibert.sentence_vectors.answering import VectorPredictor, is_encoder
from minibert.sentence_vectors.encoder import SentenceVectors
from minibert.service.server import application
from tests.minibert.commands import call

LINES = ["a b c", "x y z", "", "你好", "<b>a</b>"]


@pytest.fixture
def file(tmp_path):
    (tmp_path / "lines.txt").write_text("\n".join(LINES) + "\n")
    return tmp_path / "lines.txt"


def test_texts_become_vectors_and_find_their_line(small_checkpoint, file, tmp_path):
    expected = SentenceVectors.from_directory(small_checkpoint).embed([line for line in LINES if line])
    given = ("--model", small_checkpoint, "--file", file)
    code, out, err = call("embed", *given, "--out", tmp_path / "v.npy")
    assert (code, err, out[0]["texts"], out[0]["numbers"]) == (0, "", 4, 32)
    assert np.allclose(np.load(tmp_path / "v.npy"), expected, atol=1e-5)
    code, out, _ = call("embed", "--model", small_checkpoint, stdin="a b c\n\n你好\n")
    assert [one["text"] for one in out] == ["a b c", "你好"]
    assert np.allclose(out[0]["vector"], expected[0], atol=1e-5)
    code, out, _ = call("search", *given, "--top", 2, "x y z")
    assert code == 0 and out[0]["nearest"][0] == {"line": "x y z", "cosine": 1.0} and len(out[0]["nearest"]) == 2
    code, out, _ = call("search", *given, stdin="a b c\n", plain=True)
    assert out.splitlines()[0] == " 1.0000  a b c"


def test_from_sentences_to_an_encoder_that_is_served(small_checkpoint, tmp_path):
    (tmp_path / "text.txt").write_text("\n".join(f"{a} {b}." for a in "abcdefgh" for b in "xyz"))
    arguments = ("--train", tmp_path / "text.txt", "--model", small_checkpoint, "--steps", 4, "--batch-size", 8)
    code, events, err = call("train-vectors", *arguments, "--out", tmp_path / "out")
    assert code == 0 and events[-1]["event"] == "done", err
    assert is_encoder(tmp_path / "out") and not is_encoder(small_checkpoint)
    vectors = SentenceVectors.from_directory(tmp_path / "out")
    with TestClient(application(VectorPredictor(vectors))) as client:
        answer = client.post("/predict", json={"inputs": ["a b", {"text": "c"}]}).json()
        assert answer["task"] == "sentence-vectors"
        assert np.allclose([one["vector"] for one in answer["answers"]], vectors.embed(["a b", "c"]), atol=1e-5)
        assert client.get("/schema").json()["example"]["response"]["answers"]
        assert client.post("/predict", json={"inputs": [" "]}).status_code == 422
        assert client.post("/predict", json={"inputs": [{"words": "a"}]}).status_code == 400


def test_whitened_vectors_are_embedded_and_searched(small_checkpoint, file, tmp_path):
    (tmp_path / "text.txt").write_text("\n".join(f"{a} {b}{c}" for a in "abcdefgh" for b in "vwxyz" for c in "kl"))
    arguments = ("--model", small_checkpoint, "--data", tmp_path / "text.txt", "--dimensions", 6)
    code, out, err = call("whiten", *arguments, "--layers", "first-last", "--out", tmp_path / "white")
    assert code == 0 and (out[0]["texts"], out[0]["numbers"], out[0]["of"]) == (80, 6, 32), err
    assert abs(out[0]["mean_cosine"][1]) < 0.1 < out[0]["mean_cosine"][0]
    code, out, _ = call("embed", "--model", tmp_path / "white", "a b")
    assert code == 0 and len(out[0]["vector"]) == 6
    code, out, _ = call("search", "--model", tmp_path / "white", "--file", file, "x y z")
    assert out[0]["nearest"][0] == {"line": "x y z", "cosine": 1.0}


@pytest.mark.parametrize("objective", ["simcse-supervised", "softmax"])
def test_labelled_pairs_teach_vectors(small_checkpoint, tmp_path, objective):
    file, out = tmp_path / "rte.tsv", tmp_path / "out"
    rows = [f"{a} {b}\t{b}\t{label}" for a in "abcd" for b in "xy" for label in ("entailment", "not_entailment")]
    file.write_text("\n".join(["sentence1\tsentence2\tlabel", *rows]) + "\n")
    arguments = ("--train", file, "--model", small_checkpoint, "--steps", 2, "--batch-size", 4, "--out", out)
    code, events, err = call("train-vectors", "--objective", objective, *arguments)
    assert code == 0 and events[-1]["event"] == "done" and is_encoder(out), err
    file.write_text(file.read_text() + "a\tb\n")
    code, _, err = call("train-vectors", "--objective", objective, *arguments)
    assert code == 2 and "line 18" in err


def test_what_cannot_be_used_is_said(small_checkpoint, file, tmp_path):
    blank = tmp_path / "blank.txt"
    blank.write_text("\n\n")
    places = {"none": tmp_path / "none", "file": file, "blank": blank, "folder": tmp_path, "model": small_checkpoint}
    for arguments, why in (
        ("embed x --model {none}", "is not a directory"),
        ("embed x --file {file} --model {model}", "give one text, or --file"),
        ("embed --file {blank} --out {blank}.npy --model {model}", "there is no text"),
        ("embed x --out {folder} --model {model}", "is a directory: --out names a file"),
        ("search x --file {blank} --model {model}", "holds no text"),
        ("whiten --data {blank} --model {model} --out {folder}", "holds 0 sentences"),
        ("whiten --data {file} --dimensions 9 --model {model} --out {folder}/o", "differ in 3"),
    ):
        code, _, err = call(*(one.format(**places) for one in arguments.split()), plain=True)
        assert code == 2 and why in err and len(err.splitlines()) == 1
