"""The service asked in this process answers as over HTTP, and clients who ask together share batches."""

import dataclasses
import json

import pytest
from starlette.testclient import TestClient

from minibert.service import local_client
from minibert.service.local_client import STAGES, LocalRequest, ask, load, timed
from minibert.service.server import Limits, Service, application, application_of

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
    service = Service(answering("classification"), Limits())
    service.batcher.waiting = service.limits.queue
    asked = [LocalRequest("GET", path) for path in ("/health", "/schema", "/x")]
    health, schema, missing, full = ask(application_of(service), *asked, LocalRequest(body=BODY))
    assert health.body["status"] == "ok" and schema.body["labels"] == service.predictor.labels
    assert missing.status == 404 and full.status == 503 and full.headers["retry-after"] == "1"


def test_clients_who_ask_together_share_batches(answering):
    predictor, inputs = answering("classification"), [f"a b {chr(97 + i)}" for i in range(8)]
    together = load(predictor, inputs, Limits(batch=4, window=300))  # it is full before
    alone = load(predictor, inputs, Limits(batch=1, window=0.0))
    assert alone.sizes == (1,) * 8 and together.sizes == (4, 4)
    assert len(together.waits) == 8 and together.per_second == 8 / together.seconds
    with pytest.raises(RuntimeError, match="422"):  # an answer that is none
        load(predictor, [" "], Limits())


class SlowAtFirst:
    """A Predictor whose first answer takes long, as in a thread that has just begun, by a clock of its own."""

    SECONDS = 1e6

    def __init__(self, predictor):
        self.predictor, self.now, self.delay = predictor, 0.0, self.SECONDS

    def __getattr__(self, name):
        return getattr(self.predictor, name)

    def answers(self, examples):
        self.now, self.delay = self.now + self.delay, 0.0
        return self.predictor.answers(examples)

    def perf_counter(self):
        self.now += 1  # whenever it is looked at
        return self.now


def test_what_is_measured_is_warmed_up(answering, monkeypatch):
    def slow():
        predictor = SlowAtFirst(answering("classification"))
        monkeypatch.setattr(local_client, "time", predictor)
        return predictor

    cold, warm = (ask(application(slow()), LocalRequest(body=BODY), warm_up=n)[0] for n in (0, 1))
    assert warm.seconds < SlowAtFirst.SECONDS <= cold.seconds
    for limits in (Limits(), Limits(batch=1, window=0.0)):
        found = load(slow(), ["a b", "c d"], limits)
        assert max(found.waits) < SlowAtFirst.SECONDS and found.seconds < SlowAtFirst.SECONDS and sum(found.sizes) == 2


def test_the_quickest_request_is_told_of_those_after_the_warm_up(answering, monkeypatch):
    one, seconds = timed(answering("classification"), BODY).response, iter([1.0, 5.0, 3.0, 4.0, 8.0])

    async def asked(_app, _request):
        return dataclasses.replace(one, seconds=next(seconds))

    monkeypatch.setattr(local_client, "_one", asked)
    assert timed(answering("classification"), BODY, warm_up=1, rounds=4).response.seconds == 3.0


def test_the_parts_of_a_request_are_its_whole_time(answering):
    found = timed(answering("classification"), BODY, Limits(window=0.05), warm_up=0, rounds=1)
    assert tuple(found.stages) == STAGES and found.response.status == 200
    begun = 0.0
    for at, seconds in found.stages.values():
        assert at == pytest.approx(begun, abs=1e-9) and seconds >= 0
        begun = at + seconds
    assert begun == pytest.approx(found.response.seconds, abs=1e-9)
    assert 0.04 <= found.stages["wait"][1] < found.response.seconds  # for company, as long as the window says
    refused = timed(answering("classification"), b'{"inputs": ["  "]}')
    assert refused.response.status == 422 and tuple(refused.stages) == ("check", "answer")
