"""The service answers as the model does, many clients together, and says what is wrong with a request."""

import json
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import jsonschema
import pytest
import torch
import uvicorn
from starlette.testclient import TestClient

from minibert.__main__ import main
from minibert.folders import ROOT
from minibert.service import connections
from minibert.service.server import Limits, application, serve
from minibert.tasks import TASKS
from tests.waiting import until

OVERDUE = 300  # seconds: nothing waits for them, they only end what hangs


class Watched:
    """A Predictor whose batches are counted and may be held up."""

    def __init__(self, predictor):
        self.predictor, self.sizes, self.open = predictor, [], threading.Event()
        self.open.set()

    def __getattr__(self, name):
        return getattr(self.predictor, name)

    def answers(self, examples):
        assert self.open.wait(OVERDUE)
        self.sizes.append(len(examples))
        return self.predictor.answers(examples)


@pytest.fixture
def watched(answering):
    return Watched(answering("classification"))


def client_of(predictor, **limits) -> TestClient:
    return TestClient(application(predictor, Limits(**limits)), raise_server_exceptions=False)


def post(client, *inputs):
    return client.post("/predict", json={"inputs": inputs})


def waiting(client) -> int:
    return client.get("/health").json()["waiting"]


def close(expected):
    """Numbers may differ a little with what else is in a batch."""
    if isinstance(expected, dict):
        return {name: close(value) for name, value in expected.items()}
    if isinstance(expected, list):
        return [close(value) for value in expected]
    return pytest.approx(expected, abs=1e-2) if isinstance(expected, float) else expected


@pytest.mark.parametrize("task", TASKS)
def test_every_task_answers_as_the_predictor_does(answering, task):
    predictor = answering(task)
    with client_of(predictor) as client:
        said = client.get("/schema").json()
        assert said["task"] == task and said["labels"] == json.loads(json.dumps(predictor.labels))
        request = said["example"]["request"]
        assert request == {"inputs": [TASKS[task].example_input]}
        jsonschema.Draft202012Validator.check_schema(said["request"])
        jsonschema.validate(request, said["request"])
        response = client.post("/predict", json=request)
        assert response.status_code == 200
        assert response.json() == {"task": task, "answers": close(predictor.predict(request["inputs"]))}
        assert response.json() == close(said["example"]["response"])
        health = client.get("/health").json()
        assert health == {"status": "ok", "task": task, "waiting": 0, "answered": 1, "batches": 1}


def test_other_forms_of_an_input_and_metadata_as_a_field_of_it(answering):
    for task, given in [
        ("classification", "ab z"),
        ("intent", "ab z"),
        ("tagging", "ab z"),
        ("tagging", ["ab", "z"]),
        ("tagging", {"words": ["ab", "z"]}),
        ("choice", {"context": "ab", "choices": ["a", "b", "c"]}),
        ("span", {"id": "7", "question": "z", "context": "ab z " * 40}),  # several windows
    ]:
        predictor = answering(task)
        with client_of(predictor) as client:
            assert post(client, given).json()["answers"] == close(predictor.predict([given]))
    predictor = answering("classification", metadata=("kind",), metadata_values={"kind": ["x", "y"]})
    inputs = [{"text": "ab", "kind": "x"}, {"text": "ab", "kind": "y"}, {"text": "ab"}]
    with client_of(predictor) as client:
        answers = post(client, *inputs).json()["answers"]
    assert answers == close(predictor.predict(inputs))
    assert answers[0]["probabilities"] != close(answers[1]["probabilities"])
    assert [answer["metadata"]["kind"] for answer in answers] == ["x", "y", None]


# --- batches ----------------------------------------------------------------------------------------------------------


def test_what_waits_is_answered_together_and_to_whom_it_belongs(watched):
    texts = ["ab"[i % 2] * (i + 1) for i in range(9)]
    expected = watched.predict(texts)
    with client_of(watched, batch=4, window=0) as client, ThreadPoolExecutor(9) as pool:
        watched.open.clear()
        asked = [pool.submit(post, client, texts[0])]
        until(lambda: waiting(client) == 1)
        asked += [pool.submit(post, client, text) for text in texts[1:]]
        until(lambda: waiting(client) == 9)
        watched.open.set()
        answers = [future.result().json()["answers"] for future in asked]
        assert watched.sizes == [1, 4, 4]
        health = client.get("/health").json()
        assert (health["answered"], health["batches"], health["waiting"]) == (9, 3, 0)
    for (answer,), right, text in zip(answers, expected, texts, strict=True):
        assert answer["text"] == text and answer == close(right)


def test_a_large_request_takes_several_batches(watched):
    texts = [letter * 3 for letter in "abcdefg"]
    with client_of(watched, batch=3) as client:
        answers = post(client, *texts).json()["answers"]
    assert watched.sizes == [3, 3, 1] and [answer["text"] for answer in answers] == texts


def test_an_input_that_cannot_be_answered_does_not_take_with_it_those_that_waited_for_company(answering):
    predictor = Watched(answering("span"))
    good, bad = {"question": "z", "context": "ab z"}, {"question": "z" * 60, "context": "ab z"}
    with client_of(predictor, batch=3, window=30) as client, ThreadPoolExecutor(2) as pool:
        refused, answered = pool.submit(post, client, good, bad), pool.submit(post, client, good)
        assert answered.result().json()["answers"] == close(predictor.predict([good]))
        response = refused.result()
    assert predictor.sizes[0] == 3
    assert response.status_code == 422 and response.json()["error"].startswith("input 2: max_length 48 has no room")


def test_a_full_queue_refuses_and_recovers(watched):
    with client_of(watched, queue=3, inputs=2, window=0) as client, ThreadPoolExecutor(2) as pool:
        watched.open.clear()
        first = pool.submit(post, client, "a", "b")
        until(lambda: waiting(client) == 2)
        response = post(client, "c", "d")
        assert response.status_code == 503 and response.headers["retry-after"] == "1"
        assert "3 inputs may wait" in response.json()["error"]
        third = pool.submit(post, client, "c")  # for one there is room
        until(lambda: waiting(client) == 3)
        watched.open.set()
        assert first.result().status_code == third.result().status_code == 200
        assert post(client, "c", "d").status_code == 200


def test_a_failure_of_the_model_is_no_end(watched, monkeypatch):
    with client_of(watched) as client:
        monkeypatch.setattr(watched, "answers", lambda examples: 1 / 0)
        response = post(client, "a")
        assert response.status_code == 500 and "log" in response.json()["error"]
        monkeypatch.undo()
        assert post(client, "a").status_code == 200


# --- what is refused --------------------------------------------------------------------------------------------------

WRONG = [
    ("classification", {"inputs": "ab"}, 400, "inputs: must be of the type array"),
    ("classification", ["ab"], 400, "must be of the type object"),
    ("classification", {}, 400, "'inputs' is a required property"),
    ("classification", {"inputs": ["ab"], "top": 3}, 400, "'top' was unexpected"),
    ("classification", {"inputs": []}, 400, "inputs: must have at least 1 elements"),
    ("classification", {"inputs": ["ab", 5]}, 400, "input 2: must be of the type string or object"),
    ("classification", {"inputs": ["ab", {"text": None}]}, 400, "input 2, text: must be of the type string"),
    ("classification", {"inputs": [{"text": "a", "kind": "x"}]}, 400, "input 1: Additional properties"),
    ("classification", {"inputs": ["ab", {"txt": "a"}]}, 400, "input 2: 'text' is a required property"),
    ("pair", {"inputs": [{"text": "ab"}]}, 400, "input 1: 'pair' is a required property"),
    ("pair", {"inputs": ["ab"]}, 400, "input 1: must be of the type object"),
    ("choice", {"inputs": [{"context": "a", "choices": ["b"]}]}, 400, "input 1, choices: must have at least 2"),
    ("choice", {"inputs": [{"context": "a", "choices": list("bcdefghij")}]}, 400, "choices: must have at most 8"),
    ("choice", {"inputs": [{"context": "a", "choices": ["b", 1]}]}, 400, "input 1, choices, element 2: must be of"),
    ("tagging", {"inputs": [{"text": "a", "words": ["a"]}]}, 400, "input 1: must have text or words, one of them"),
    ("tagging", {"inputs": [{}]}, 400, "input 1: must have text or words, one of them"),
    ("tagging", {"inputs": [["a", 1]]}, 400, "input 1, element 2: must be of the type string"),
    ("classification", {"inputs": ["a"] * 5}, 413, "5 inputs; a request may have 4"),
    ("classification", {"inputs": ["ab", " \n"]}, 422, "input 2: it is blank"),
    ("classification", {"inputs": ["a" * 101]}, 422, "input 1: has 101 characters; at most 100 are read"),
    ("span", {"inputs": [{"question": "a", "context": "\u200b"}]}, 422, "input 1, context: has no character"),
    ("choice", {"inputs": [{"context": "a", "choices": ["b", "\x00"]}]}, 422, "choices, element 2: has no character"),
    ("span", {"inputs": [{"question": "a", "context": "b\ud800"}]}, 400, "half of a surrogate pair"),
]


@pytest.mark.parametrize(("task", "body", "status", "said"), WRONG)
def test_what_is_wrong_is_said_with_the_number_of_the_input(answering, task, body, status, said):
    with client_of(answering(task), inputs=4, characters=100) as client:
        response = client.post("/predict", content=json.dumps(body))
    assert response.status_code == status and said in response.json()["error"]


def test_a_body_that_cannot_be_read(watched):
    with client_of(watched, body=150_000) as client:
        for body, status, said in [
            (b"", 400, "not JSON"),
            (b"{'inputs': []}", 400, "not JSON"),
            (b'{"inputs": ["\xff"]}', 400, "not JSON"),
            (b"[" * 100_000, 400, "nested more than 100 deep"),
            (b'{"inputs": ["' + b"a" * 200_000 + b'"]}', 413, "larger than 150,000 bytes"),
        ]:
            response = client.post("/predict", content=body)
            assert response.status_code == status and said in response.json()["error"]
            parts = (body[i : i + 50_000] for i in range(0, len(body), 50_000))  # without a Content-Length
            assert client.post("/predict", content=parts).status_code == status


def test_other_addresses_and_methods(watched):
    with client_of(watched) as client:
        response = client.post("/elsewhere", json={})
        assert response.status_code == 404 and response.json() == {"error": "Not Found"}
        response = client.get("/predict")
        assert response.status_code == 405 and response.headers["allow"] == "POST" and "error" in response.json()


def test_limits_that_make_no_sense():
    for name, wrong in {"batch": {"batch": 0}, "queue": {"inputs": 9, "queue": 8}, "window": {"window": -1}}.items():
        with pytest.raises(ValueError, match=name):
            Limits(**wrong)


def test_a_model_without_room_for_the_example_still_serves(answering):
    with client_of(answering("span", max_length=8, doc_stride=4)) as client:
        assert "response" not in client.get("/schema").json()["example"]
        assert post(client, {"question": "z", "context": "ab z"}).status_code == 200


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_port_that_is_taken_is_said(answering, tmp_path, capsys):
    model = answering("classification").save(tmp_path / "model")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--model", str(model), "--port", str(port)]) == 2
    assert "in use" in capsys.readouterr().err


def test_a_body_does_not_wait_behind_its_headers(answering, monkeypatch):
    """For 40 ms, until the client has acknowledged them, unless the sockets say so."""

    def nodelay(server, sockets) -> None:
        """Of a connection to it, on the server's side."""
        with socket.create_connection(sockets[0].getsockname()), sockets[0].accept()[0] as accepted:
            asked.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0)

    asked = []
    monkeypatch.setattr(uvicorn.Server, "run", nodelay)
    serve(answering("classification"), port=0)
    assert asked == [True]


@pytest.fixture
def listening(answering, monkeypatch):
    """The port of a service that gives a client a quarter of a second to send its headers."""
    monkeypatch.setattr(connections, "SECONDS_TO_SEND", 0.25)
    servers, ports, begin = [], [], uvicorn.Server.__init__
    monkeypatch.setattr(uvicorn.Server, "__init__", lambda self, config: (begin(self, config), servers.append(self))[0])
    options = {"port": 0, "ready": ports.append}
    thread = threading.Thread(target=serve, args=[answering("classification")], kwargs=options)
    thread.start()
    until(lambda: servers and servers[0].started)
    yield int(ports[0].rpartition(":")[2])
    servers[0].should_exit = True
    thread.join(OVERDUE)


REQUEST = b'{"inputs": ["ab z"]}'
ASKED = b"POST /predict HTTP/1.1\r\nhost: a\r\ncontent-length: 20\r\n\r\n" + REQUEST


def said_to(port: int, sent: bytes, closes: bool = False) -> bytes:
    """All that the service says to a client that sends this and then only listens. closes: its side of the line."""
    with socket.create_connection(("127.0.0.1", port), timeout=OVERDUE) as client:
        client.sendall(sent)
        if closes:
            client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(2**16), b""))


def test_half_of_the_headers_is_not_waited_for_and_who_closes_their_side_is_answered(listening):
    for half in (b"POST /predict HT", ASKED[:40], ASKED[: ASKED.index(b"\r\n\r\n") + 2]):
        answer = said_to(listening, half)
        assert answer.startswith(b"HTTP/1.1 408 Request Timeout") and b"the headers did not arrive" in answer
    assert said_to(listening, b"") == b""  # who says nothing is let go
    # Who drips gains nothing.
    with socket.create_connection(("127.0.0.1", listening), timeout=OVERDUE) as client:
        client.settimeout(0.02)
        answer, sent = b"", 0
        while not answer:
            assert sent < 10_000
            client.sendall(b"P" if not sent else b"O")
            sent += 1
            with suppress(TimeoutError):
                answer = client.recv(2**16)
        assert b"408" in answer
    # Who closes their side is answered.
    answer = said_to(listening, ASKED, closes=True)
    assert answer.startswith(b"HTTP/1.1 200") and b'"text":"ab z"' in answer
    assert said_to(listening, ASKED * 3, closes=True).count(b'"text":"ab z"') == 3
    assert said_to(listening, ASKED[:-5], closes=True) == b""  # half of a body is no question
    assert said_to(listening, b"", closes=True) == b""


def test_weights_that_answer_with_no_number_are_not_served(answering, tmp_path, capsys):
    predictor = answering("classification")
    with torch.no_grad():
        for weights in predictor.model.parameters():
            weights.fill_(3e38)
    model = str(predictor.save(tmp_path / "model"))
    assert main(["serve", "--model", model, "--port", "0"]) == 2
    assert "what is no finite number" in capsys.readouterr().err
    assert main(["predict", "--model", model, "ab z"]) == 2
    told = capsys.readouterr()
    assert "what is no finite number" in told.err and not told.out


@pytest.mark.release
@pytest.mark.servers
def test_ctrl_c_lets_what_was_asked_be_answered(answering, tmp_path):
    model = answering("classification").save(tmp_path / "model")
    command = [sys.executable, "-m", "minibert", "serve", "--model", str(model), "--port", "0", "--json"]
    server = subprocess.Popen([*command, "--window", "1000"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        said = json.loads(server.stdout.readline())
        assert said["task"] == "classification"

        def ask(path: str, body: dict | None = None) -> dict:
            data = None if body is None else json.dumps(body).encode()
            with urllib.request.urlopen(said["url"] + path, data, timeout=OVERDUE) as response:
                return json.load(response)

        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(ask, "/predict", {"inputs": ["ab z"]})
            until(lambda: asked.done() or ask("/health")["waiting"] == 1)
            server.send_signal(signal.SIGINT)
            assert asked.result()["answers"][0]["text"] == "ab z"
        assert server.wait(OVERDUE) == 0
    finally:
        server.kill()
        server.communicate()
