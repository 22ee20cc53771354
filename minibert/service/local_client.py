"""The service in this process, without a network: its responses, their timing, and many clients at once."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from minibert.finetune.predictor import Predictor
from minibert.service.server import Limits, Service, application, application_of
from minibert.text.json_values import json_value

Found = TypeVar("Found")


@dataclass(frozen=True)
class LocalRequest:
    """A request: method, path, body."""

    method: str = "POST"
    path: str = "/predict"
    body: bytes = b""


@dataclass(frozen=True)
class LocalResponse:
    """status, the JSON body, headers, and the seconds since `begun` (time.perf_counter)."""

    status: int
    body: Any
    headers: dict[str, str]
    seconds: float
    begun: float = 0.0


def ask(app, *requests: LocalRequest, warm_up: int = 0) -> list[LocalResponse]:
    """Start the application, send all requests at once, stop it; return the responses in order.

    warm_up: rounds of all requests sent before, uncounted: the first through a new thread pays for its start. Use an
    application only once: its lifespan ends with this call. Exceptions in it are raised.
    """
    return _run(_ask(app, requests, warm_up))


def _run(coroutine: Coroutine[Any, Any, Found]) -> Found:
    with ThreadPoolExecutor(1) as thread:  # the caller's thread may already run an event loop, as in a notebook
        return thread.submit(asyncio.run, coroutine).result()


async def _ask(app, requests: Sequence[LocalRequest], warm_up: int) -> list[LocalResponse]:
    async with app.router.lifespan_context(app):
        for _round in range(warm_up):
            await asyncio.gather(*(_one(app, request) for request in requests))
        return await asyncio.gather(*(_one(app, request) for request in requests))


async def _one(app, request: LocalRequest) -> LocalResponse:
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"content-length", str(len(request.body)).encode())],
        "client": None,
        "server": None,
    }
    status, headers, parts = 500, {}, []

    async def receive() -> dict:
        return {"type": "http.request", "body": request.body, "more_body": False}

    async def send(message: dict) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            headers.update((name.decode(), value.decode()) for name, value in message["headers"])
        else:
            parts.append(message.get("body", b""))

    begun = time.perf_counter()
    await app(scope, receive, send)
    content = b"".join(parts).decode()
    body = json_value(content) if headers.get("content-type", "").startswith("application/json") else content
    return LocalResponse(status, body, headers, time.perf_counter() - begun, begun)


# --- one request, part by part ----------------------------------------------------------------------------------------

STAGES = ("check", "wait", "tokens", "model", "answer")


@dataclass(frozen=True)
class TimedResponse:
    """stages: name → (seconds after the request was sent, duration in seconds), in the order of STAGES. A refused
    request has not passed all of them."""

    response: LocalResponse
    stages: dict[str, tuple[float, float]]


class _MarkingPredictor:
    """A Predictor that records when each stage ends. at: stage → that time."""

    def __init__(self, predictor: Predictor):
        self.predictor, self.at = predictor, {}

    def __getattr__(self, name: str):
        return getattr(self.predictor, name)

    def answers(self, examples: Sequence) -> tuple[list[dict], float]:
        self.at["wait"] = time.perf_counter()
        features = self.predictor.features(examples)
        self.at["tokens"] = time.perf_counter()
        outputs, loss = self.predictor.outputs(features)
        self.at["model"] = time.perf_counter()
        return self.predictor.decoded(outputs, features, examples), loss


class _MarkingService(Service):
    def examples(self, body: bytes) -> list:
        try:
            return super().examples(body)
        finally:
            self.predictor.at["check"] = time.perf_counter()


def timed(
    predictor: Predictor, body: bytes, limits: Limits | None = None, *, warm_up: int = 3, rounds: int = 9
) -> TimedResponse:
    """Time one request stage by stage: the fastest of `rounds` sequential requests, after `warm_up` uncounted ones. The
    fastest, because other load on the machine can only add time."""
    marking = _MarkingPredictor(predictor)
    return _run(_timed(_MarkingService(marking, limits or Limits()), marking, LocalRequest(body=body), warm_up, rounds))


async def _timed(service: Service, marking: _MarkingPredictor, request: LocalRequest, warm_up: int, rounds: int):
    app, found = application_of(service), []
    async with app.router.lifespan_context(app):
        for number in range(warm_up + rounds):
            marking.at.clear()
            response = await _one(app, request)
            if number >= warm_up:
                found.append(TimedResponse(response, _stages(response, marking.at)))
    return min(found, key=lambda one: one.response.seconds)


def _stages(response: LocalResponse, at: dict[str, float]) -> dict[str, tuple[float, float]]:
    ends = {**at, "answer": response.begun + response.seconds}
    stages, begun = {}, response.begun
    for name in STAGES:
        if name in ends:
            stages[name] = (begun - response.begun, ends[name] - begun)
            begun = ends[name]
    return stages


# --- many clients -----------------------------------------------------------------------------------------------------


class CountingPredictor:
    """A Predictor that records for each batch when it began and its number of inputs."""

    def __init__(self, predictor: Predictor):
        self.predictor, self.batches = predictor, []

    def __getattr__(self, name: str):
        return getattr(self.predictor, name)

    def answers(self, examples: Sequence) -> tuple[list[dict], float]:
        self.batches.append((time.perf_counter(), len(examples)))
        return self.predictor.answers(examples)


@dataclass(frozen=True)
class LoadResult:
    """One input from each of many clients at once. seconds: until the last response · sizes: of the batches, in order ·
    waits: seconds per client."""

    seconds: float
    sizes: tuple[int, ...]
    waits: tuple[float, ...]

    @property
    def per_second(self) -> float:
        return len(self.waits) / self.seconds


def load(predictor: Predictor, inputs: Sequence[Any], limits: Limits) -> LoadResult:
    """Measure that on a warm service: every client has sent its input once before. Raises RuntimeError unless every
    status is 200."""
    counting = CountingPredictor(predictor)
    app = application(counting, limits)
    asked = [LocalRequest(body=json.dumps({"inputs": [given]}).encode()) for given in inputs]
    answers = ask(app, *asked, warm_up=1)
    begun = min(answer.begun for answer in answers)
    seconds = max(answer.begun + answer.seconds for answer in answers) - begun
    bad = next((answer for answer in answers if answer.status != 200), None)
    if bad is not None:
        raise RuntimeError(f"the service answered {bad.status}: {bad.body}")
    sizes = tuple(size for when, size in counting.batches if when >= begun)
    return LoadResult(seconds, sizes, tuple(answer.seconds for answer in answers))
