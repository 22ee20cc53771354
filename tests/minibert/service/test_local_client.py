"""The service asked in this process answers as over HTTP, and clients who ask together share batches."""

import json

import pytest
from starlette.testclient import TestClient

from minibert.service.local_client import LocalRequest, ask, load
from minibert.service.server import Limits, application

BODY = json.dumps({"inputs": ["a b c"]}).encode()


@pytest.mark.parametrize(
    ("body", "status"),
    [(BODY, 200), (b"{", 400), (b'{"inputs": []}', 400), (b'{"inputs": ["  "]}', 422), (b"x" * (2**20 + 1), 413)],
)
def test_answers_are_those_of_a_client(answering, body, status):
    predictor = answering("classification")
    found = ask(application(predictor), LocalRequest(body=body))[0]
    with TestClient(application(predictor)) as client:
        theirs = client.post("/predict", content=body)
    assert found.status == theirs.status_code == status
    if status == 200:
        assert found.body["answers"][0]["label"] == theirs.json()["answers"][0]["label"]
    else:
        assert found.body == theirs.json()


def test_other_routes_and_a_full_queue(answering):
    predictor = answering("classification")
    health, schema, missing = ask(
        application(predictor),
        LocalRequest("GET", "/health"),
        LocalRequest("GET", "/schema"),
        LocalRequest("GET", "/x"),
    )
    assert health.body["status"] == "ok" and schema.body["labels"] == predictor.labels and missing.status == 404
    app = application(predictor, Limits(queue=2, inputs=2, window=0.2))
    answers = ask(app, *[LocalRequest(body=BODY)] * 4)
    assert sorted(answer.status for answer in answers) == [200, 200, 503, 503]
    assert next(answer for answer in answers if answer.status == 503).headers["retry-after"] == "1"


def test_clients_who_ask_together_share_batches(answering):
    predictor, inputs = answering("classification"), [f"a b {chr(97 + i)}" for i in range(8)]
    together = load(predictor, inputs, Limits(window=0.2))
    alone = load(predictor, inputs, Limits(batch=1, window=0.0))
    assert alone.sizes == (1,) * 8
    assert sum(together.sizes) == 8 and together.sizes[0] > 1
    assert len(together.waits) == 8 and together.per_second == 8 / together.seconds


def test_an_answer_that_is_none_is_an_error(answering):
    with pytest.raises(RuntimeError, match="422"):
        load(answering("classification"), [" "], Limits())
