"""A fine-tuned model over HTTP: POST /predict, GET /schema, GET /health.

Inputs of simultaneous requests are answered together, in batches, by the one thread that runs the model.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from minibert.config import check_positive
from minibert.finetune.predictor import NotNumbersError
from minibert.service.connections import SECONDS_TO_SEND, PatientProtocol
from minibert.tasks.given import any_text
from minibert.text.json_values import JsonError, json_value
from minibert.text.shortened import shortened

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

SECONDS_TO_STOP = 10  # seconds at shutdown to finish responses in progress


@dataclass(frozen=True, kw_only=True)
class Limits:
    """inputs: per request · characters: per text · body: bytes per request · queue: inputs accepted and not yet
    answered, over all requests · batch: inputs computed together · window: seconds a batch waits for more inputs while
    it has room."""

    inputs: int = 64
    characters: int = 20_000
    body: int = 2**20
    queue: int = 256
    batch: int = 32
    window: float = 0.002

    def __post_init__(self) -> None:
        check_positive(self, "inputs", "characters", "body", "batch")
        if self.queue < self.inputs:
            raise ValueError(f"a queue of {self.queue} inputs would refuse every request of {self.inputs}")
        if self.window < 0:
            raise ValueError(f"the window cannot be negative: {self.window}")


# --- requests and refusals --------------------------------------------------------------------------------------------


def request_schema(predictor: Any, limits: Limits) -> dict:
    """JSON Schema of the body of POST /predict."""
    task, options = predictor.task, predictor.options
    each = task.input_schema(limits.characters, [*options.metadata, *options.texts_beside])
    for form in each.get("anyOf", [each]):
        form.get("properties", {}).update(dict.fromkeys(options.texts_beside, any_text(limits.characters)))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"inputs of the task {task.name}",
        "type": "object",
        "properties": {"inputs": {"type": "array", "items": each, "minItems": 1, "maxItems": limits.inputs}},
        "required": ["inputs"],
        "additionalProperties": False,
        "examples": [{"inputs": [task.example_input]}],
    }


def validator_of(schema: dict) -> Draft202012Validator:
    # Where installed, jsonschema imports a grammar of addresses: two seconds, for a format that no schema here has.
    unasked = "rfc3987_syntax"
    hidden = unasked not in sys.modules
    if hidden:
        sys.modules[unasked] = None  # type: ignore[assignment]  # None: not to be imported
    try:
        from jsonschema import Draft202012Validator
    finally:
        if hidden:
            del sys.modules[unasked]  # whoever else wants it finds it

    return Draft202012Validator(schema)


def refusal(error: ValidationError) -> HTTPException:
    """The HTTP error for a schema violation: what is wrong and where, without repeating the input. 413: too many
    inputs; 422: a blank or too long text; 400: any other violation."""
    while error.context:  # among alternative forms, the one with the JSON type that was sent
        deeper = [one for one in error.context if one.validator != "type" or one.relative_path]
        if not deeper or error.validator == "oneOf":
            break
        error = deeper[0]
    limit: Any = error.validator_value
    path = list(error.absolute_path)
    status = 422 if error.validator in ("pattern", "maxLength") else 400
    match error.validator:
        case "required" | "additionalProperties":
            why = error.message[:200]  # it contains names from the request
        case "type":
            why = f"must be of the type {' or '.join([limit] if isinstance(limit, str) else limit)}"
        case "anyOf":
            why = f"must be of the type {' or '.join(form['type'] for form in limit)}"
        case "oneOf":
            why = f"must have {' or '.join(form['required'][0] for form in limit)}, one of them"
        case "pattern":
            why = "it is blank"
        case "maxLength":
            why = f"has {len(error.instance):,} characters; at most {limit:,} are read"
        case "maxItems" if path == ["inputs"]:
            status, why = 413, f"{len(error.instance)} inputs; a request may have {limit}"
        case "minItems":
            why = f"must have at least {limit} elements"
        case _:
            why = f"must have at most {limit} elements"
    return refused(status, why, path)


def refused(status: int, why: str, path: Sequence[str | int] = ()) -> HTTPException:
    """path: place in the body, such as ["inputs", 1, "text"]: `input 2, text: …`"""
    parts = [part if isinstance(part, str) else f"element {part + 1}" for part in path]
    if len(path) > 1:
        parts[:2] = [f"input {int(path[1]) + 1}"]
    where = ", ".join(parts)
    return HTTPException(status, f"{where}: {why}" if where else why)


# --- answering --------------------------------------------------------------------------------------------------------


class QueueIsFull(Exception):
    """The queue has no room for the inputs of this request."""


class Batcher:
    """One thread that runs the model, and its queue. waiting: inputs accepted and not yet answered · answered, batches:
    totals since the start."""

    def __init__(self, predictor: Any, limits: Limits):
        self.predictor, self.limits = predictor, limits
        self.queue: asyncio.Queue[tuple[Any, asyncio.Future]] = asyncio.Queue()
        self.thread = ThreadPoolExecutor(1, "model")
        self.waiting = self.answered = self.batches = 0

    async def answers(self, examples: Sequence) -> list[Any]:
        """For each example the answer, or the exception it raised. Raises QueueIsFull."""
        if self.waiting + len(examples) > self.limits.queue:
            raise QueueIsFull
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in examples]
        for each in zip(examples, futures, strict=True):
            self.queue.put_nowait(each)
        self.waiting += len(examples)
        try:
            return await asyncio.gather(*futures, return_exceptions=True)
        finally:
            self.waiting -= len(examples)

    async def run(self) -> None:
        """Answer batch after batch, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            batch = [each for each in await self.next_batch() if not each[1].done()]  # done: its client has left
            if not batch:
                continue
            results = await loop.run_in_executor(self.thread, self.compute, [example for example, _ in batch])
            self.batches += 1
            self.answered += len(batch)
            for (_, future), result in zip(batch, results, strict=True):
                if not future.done() and isinstance(result, Exception):
                    future.set_exception(result)
                elif not future.done():
                    future.set_result(result)

    async def next_batch(self) -> list[tuple[Any, asyncio.Future]]:
        """At least one input: those queued, and those that arrive within the window, while there is room."""
        batch = [await self.queue.get()]
        with suppress(TimeoutError):
            async with asyncio.timeout(self.limits.window):
                while len(batch) < self.limits.batch:
                    batch.append(await self.queue.get())
        return batch

    def compute(self, examples: Sequence) -> list[Any]:
        """Runs in the thread. An example that raises ValueError does not fail the others."""
        try:
            return self.predictor.answers(examples)[0]
        except ValueError as error:
            if len(examples) == 1:
                return [error]
            return [self.compute([example])[0] for example in examples]
        except Exception as error:
            return [error for _ in examples]

    def close(self) -> None:
        self.thread.shutdown(wait=True)


# --- HTTP -------------------------------------------------------------------------------------------------------------


async def body_of(request: Request, most: int) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(SECONDS_TO_SEND):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise refused(413, f"the request is larger than {most:,} bytes")
    except TimeoutError:
        raise refused(408, f"the request did not arrive within {SECONDS_TO_SEND} seconds") from None
    except ClientDisconnect:
        raise refused(400, "the request broke off") from None
    return bytes(body)


class Service:
    """The three routes around a predictor: a `Predictor`, a `VectorPredictor`, or one that records what happens."""

    def __init__(self, predictor: Any, limits: Limits):
        self.predictor, self.limits = predictor, limits
        self.schema_of_requests = request_schema(predictor, limits)
        self.validator = validator_of(self.schema_of_requests)
        example = self.schema_of_requests["examples"][0]
        try:  # this also warms the model up
            self.example = {"request": example, "response": self.response(predictor.predict(example["inputs"]))}
        except NotNumbersError:
            raise
        except ValueError:  # the example is too long for a model of very short inputs
            self.example = {"request": example}
        self.batcher = Batcher(predictor, limits)

    def response(self, answers: Sequence[dict]) -> dict:
        return {"task": self.predictor.task.name, "answers": list(answers)}

    def examples(self, body: bytes) -> list:
        """Parse the examples in the body of a request. Raises HTTPException: which input is wrong, and why."""
        try:
            values = json_value(body)
        except JsonError as error:
            raise refused(400, str(error)) from None
        for violation in self.validator.iter_errors(values):
            raise refusal(violation)
        examples, tokenizer = [], self.predictor.tokenizer
        for number, value in enumerate(values["inputs"]):
            path: list[str | int] = ["inputs", number]
            texts = self.predictor.task.texts_in(value)
            for (place, _), ids in zip(texts, tokenizer.encode_bulk([text for _, text in texts]), strict=True):
                if not ids:
                    raise refused(422, "has no character that the model reads", path + place)
            try:
                examples.append(self.predictor.task.example(value))
            except ValueError as error:
                raise refused(400, str(error), path) from None
        return examples

    async def predict(self, request: Request) -> JSONResponse:
        examples = self.examples(await body_of(request, self.limits.body))
        try:
            answers = await self.batcher.answers(examples)
        except QueueIsFull:
            why = f"{self.limits.queue} inputs may wait for the model, and would be more: ask again in a second"
            raise HTTPException(503, why, {"Retry-After": "1"}) from None
        for number, answer in enumerate(answers):
            if isinstance(answer, ValueError):
                raise refused(422, str(answer), ["inputs", number])
            if isinstance(answer, BaseException):
                raise answer
        return JSONResponse(self.response(answers))

    async def schema(self, request: Request) -> JSONResponse:
        return JSONResponse(
            {
                "task": self.predictor.task.name,
                "labels": self.predictor.labels,
                "request": self.schema_of_requests,
                "example": self.example,
                "limits": asdict(self.limits),
            }
        )

    async def health(self, request: Request) -> JSONResponse:
        batcher = self.batcher
        counts = {"waiting": batcher.waiting, "answered": batcher.answered, "batches": batcher.batches}
        return JSONResponse({"status": "ok", "task": self.predictor.task.name, **counts})

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """The batcher runs as long as the server does."""
        running = asyncio.create_task(self.batcher.run())
        try:
            yield
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            self.batcher.close()


async def error_of(request: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": shortened(error.detail)}, error.status_code, error.headers)


async def error_of_ours(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": "the model failed on this request; the server's log says how"}, 500)


def application(predictor: Any, limits: Limits | None = None) -> Starlette:
    """The service as an ASGI application, for `serve` or for any ASGI server."""
    return application_of(Service(predictor, limits or Limits()))


def application_of(service: Service) -> Starlette:
    routes = [
        Route("/predict", service.predict, methods=["POST"]),
        Route("/schema", service.schema),
        Route("/health", service.health),
    ]
    handlers: dict[Any, Callable] = {HTTPException: error_of, Exception: error_of_ours}
    return Starlette(routes=routes, exception_handlers=handlers, lifespan=service.lifespan)


def serve(
    predictor: Any,
    host: str = "127.0.0.1",
    port: int = 8080,
    limits: Limits | None = None,
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until Ctrl-C or SIGTERM; responses in progress are completed. port 0: any free one.

    ready: called with the URL once the service accepts requests. Raises OSError if the port is taken.
    """
    app = application(predictor, limits)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=1024) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else the body waits 40 ms behind the headers
        name = f"[{host}]" if ":" in host else host
        ready(f"http://{name}:{sock.getsockname()[1]}")
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=SECONDS_TO_STOP,
            http=PatientProtocol,
        )
        with suppress(KeyboardInterrupt):  # raised again once the server has stopped
            uvicorn.Server(config).run(sockets=[sock])
