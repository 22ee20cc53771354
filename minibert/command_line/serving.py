"""export, serve: a fine-tuned model for other programs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from minibert.command_line.arguments import add_command, add_precision, positive
from minibert.command_line.printing import print_result
from minibert.folders import input_path


def add_commands(commands) -> None:
    sub = add_command(
        commands, "export", export, "Write a fine-tuned model for other programs, and compare what was written."
    )
    sub.add_argument("--model", required=True, type=input_path)
    sub.add_argument("--out", required=True, type=Path, help="directory")
    sub.add_argument(
        "--format", choices=("huggingface", "onnx"), default="huggingface", help="onnx needs requirements-export.txt"
    )
    sub.add_argument("--dtype", choices=("float32", "float16"), default="float32", help="of the weights (huggingface)")

    sub = add_command(
        commands,
        "serve",
        serve,
        "Answer over HTTP with a fine-tuned model or an encoder of sentences: POST /predict, GET /schema, GET /health.",
    )
    sub.add_argument("--model", required=True, type=input_path)
    sub.add_argument("--host", default="127.0.0.1", help="default: %(default)s, this machine alone")
    sub.add_argument("--port", type=port, default=8080, help="default: %(default)s; 0 takes a free one")
    sub.add_argument("--batch-size", type=positive(int), default=32, help="inputs answered at once (default: 32)")
    sub.add_argument("--window", type=float, default=2.0, help="milliseconds a batch waits for more (default: 2)")
    sub.add_argument("--max-inputs", type=positive(int), default=64, help="of a request (default: 64)")
    sub.add_argument("--max-characters", type=positive(int), default=20_000, help="of a text (default: 20,000)")
    sub.add_argument("--max-body", type=positive(int), default=2**20, help="bytes of a request (default: 1 MiB)")
    sub.add_argument("--queue", type=positive(int), default=256, help="inputs that may wait (default: 256)")
    sub.add_argument("--threads", type=positive(int), help="processor threads")
    add_precision(sub)


def port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 65535, not {text}")
    return int(text)


def export(options) -> None:
    from minibert.service.export import export as write

    done = write(options.model, options.out, options.format, options.dtype)
    for note in done.notes:
        print(note, file=sys.stderr)
    plain = f"{done.path}: {done.format}, {done.dtype}; on {done.rows} random inputs no logit differs from the model's"
    values = {**vars(done), "path": str(done.path)}
    print_result(options, values, f"{plain} by more than {done.difference:.1e}")


def serve(options) -> None:
    from minibert.diet.predictor import load_predictor
    from minibert.sentence_vectors.answering import VectorPredictor, is_encoder
    from minibert.sentence_vectors.encoder import SentenceVectors
    from minibert.service.server import Limits
    from minibert.service.server import serve as run
    from minibert.training.precision import ready_to_answer

    limits = Limits(
        inputs=options.max_inputs,
        characters=options.max_characters,
        body=options.max_body,
        queue=options.queue,
        batch=options.batch_size,
        window=options.window / 1000,
    )
    predictor: Any = (
        VectorPredictor(SentenceVectors.from_directory(options.model))
        if is_encoder(options.model)
        else load_predictor(options.model)
    )
    ready_to_answer(predictor.model, options.precision)
    task = predictor.task.name

    def ready(url: str) -> None:
        print_result(
            options, {"url": url, "task": task}, f"{task}: POST {url}/predict, or see {url}/schema; Ctrl-C stops"
        )

    run(predictor, options.host, options.port, limits, ready)
