"""Requests per second and latency of `minibert serve`, beside a plain server.

    python -m bench.serving --model DIR [--clients 1 8 32] [--seconds 10] [--rounds 3] [--record NAME]

One text per request, from the dev sets in lessons/data (the task's example if there is none). Each client sends its
next request as soon as it has its response, over one connection while the server keeps it open. Three servers of the
same model, each a process of its own, are measured in turn, round after round; the clients are another process.

batching: `minibert serve` as it is · one by one: the same with batches of one input and no window · plain: Python's
http.server, one request at a time, without validation.
Reported: the median round's requests per second, and p50 and p95 of the latency over all rounds, in milliseconds.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import statistics
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np

from bench.machine import arguments, record
from minibert.folders import LESSONS

DATA = LESSONS / "data"
SETS = {
    "classification": "reviews/dev.tsv",
    "pair": "pairs/dev.tsv",
    "similarity": "similarity/dev.tsv",
    "multilabel": "emotions/dev.tsv",
    "intent": "intents/dev.md",
    "span": "questions/dev.json",
    "span-or-none": "questions-or-none/dev.json",
    "choice": "choices/dev.csv",
}
FIELDS = ("text", "pair", "question", "context", "choices")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a fine-tuned model")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, help="processor threads of a server (default: as torch has it)")
    options = parser.parse_args()

    context = multiprocessing.get_context("spawn")
    seconds = {name: {count: [] for count in options.clients} for name in SERVERS}
    rates = {name: {count: [] for count in options.clients} for name in SERVERS}
    for _ in range(options.rounds):
        for name, run in SERVERS.items():
            ours, theirs = context.Pipe()
            server = context.Process(target=run, args=(options.model, options.threads, theirs), daemon=True)
            server.start()
            theirs.close()
            try:
                port, inputs = ours.recv()
                load(port, inputs, 1, 1.0)  # warm
                for count in options.clients:
                    waited, elapsed = load(port, inputs, count, options.seconds)
                    seconds[name][count] += waited
                    rates[name][count].append(len(waited) / elapsed)
            finally:
                server.terminate()
                server.join()
    results: dict = {"model": options.model.name, "seconds": options.seconds, "rounds": options.rounds}
    results["texts"] = len(inputs)
    for count in options.clients:
        for name in SERVERS:
            p50, p95 = (1000 * np.percentile(seconds[name][count], [50, 95])).round(1).tolist()
            rate = round(statistics.median(rates[name][count]), 1)
            row = {"requests_per_second": rate, "p50_ms": p50, "p95_ms": p95, "requests": len(seconds[name][count])}
            results.setdefault(name, {})[f"{count} clients"] = row
            print(f"{count:3} clients  {name:10}  {rate:8.1f} requests/s  p50 {p50:7.1f} ms  p95 {p95:7.1f} ms")
    record(options.record, results)


# --- servers ----------------------------------------------------------------------------------------------------------


def loaded(model: Path, threads: int | None):
    """(the Predictor, inputs for its task)"""
    import torch

    from minibert.finetune.predictor import Predictor
    from minibert.tasks import task_named
    from minibert.training.precision import best_device

    if threads:
        torch.set_num_threads(threads)
    predictor = Predictor.from_directory(model)
    predictor.model.to(best_device())
    name = predictor.task.name
    if name not in SETS:
        return predictor, [predictor.task.example_input]
    examples = task_named(name).read(DATA / SETS[name]).examples
    return predictor, [{field: getattr(one, field) for field in FIELDS if hasattr(one, field)} for one in examples]


def batching(model: Path, threads: int | None, pipe, **limits) -> None:
    from minibert.service.server import Limits, serve

    predictor, inputs = loaded(model, threads)
    serve(predictor, port=0, limits=Limits(**limits), ready=lambda url: pipe.send((int(url.split(":")[-1]), inputs)))


def one_by_one(model: Path, threads: int | None, pipe) -> None:
    batching(model, threads, pipe, batch=1, window=0)


def plain(model: Path, threads: int | None, pipe) -> None:
    predictor, inputs = loaded(model, threads)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps({"answers": predictor.predict(request["inputs"])}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *about):
            pass

    class Server(HTTPServer):
        request_queue_size = 1024

    server = Server(("127.0.0.1", 0), Handler)
    pipe.send((server.server_port, inputs))
    server.serve_forever()


SERVERS = {"batching": batching, "one by one": one_by_one, "plain": plain}


# --- clients ----------------------------------------------------------------------------------------------------------


def load(port: int, inputs: list, clients: int, seconds: float) -> tuple[list[float], float]:
    """(the latency of each request, the total time). Raises RuntimeError if a request fails."""
    bodies = [json.dumps({"inputs": [given]}) for given in inputs]
    waited: list[list[float]] = [[] for _ in range(clients)]
    errors: list[str] = []
    start = time.perf_counter()

    def client(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        turn = number * len(bodies) // clients
        try:
            while time.perf_counter() < start + seconds:
                before = time.perf_counter()
                connection.request("POST", "/predict", bodies[turn % len(bodies)])
                response = connection.getresponse()
                answers = json.loads(response.read()).get("answers", ())
                if response.status != 200 or len(answers) != 1:
                    raise RuntimeError(f"a server answered {response.status}")
                waited[number].append(time.perf_counter() - before)
                turn += 1
        except Exception as error:
            errors.append(repr(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise RuntimeError(f"{len(errors)} of {clients} clients failed: {errors[0]}")
    return [each for one in waited for each in one], time.perf_counter() - start


if __name__ == "__main__":
    main()
