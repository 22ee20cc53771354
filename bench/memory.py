"""What a server holds, new and after a learner has opened every page. Does memory grow with the text? Peak memory of
all stages of pre-training, on 50 MB and on 1 GB.

python -m bench.memory [--data FILES] [--megabytes 50 1000] [--record]

server: what all its processes hold together (PSS), by itself and with one visitor (servers.visitor) who opens every
page. `--megabytes` without a number measures nothing else. bench.classroom measures a class.

Each stage of each size runs in a process of its own: learn a vocabulary from the files (repeated until the size is
reached), tokenize them with the vocabulary of `--model`, count co-occurring tokens (for the initial embeddings),
memory-map the result and train some steps. Peak resident memory is as counted by the system at the end, children
included; of a memory map only touched pages count, which the system may reclaim at any time. Repeated text brings no
new words: on other text, the vocabulary's word counts would grow.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bench.machine import arguments, record
from minibert import checkpoint
from minibert.command_line.arguments import DATA, in_data_folder
from minibert.config import BertConfig
from minibert.model import Bert, BertForPreTraining
from minibert.text.batches import PretrainingBatches
from minibert.text.cooccurrence import start_token_embeddings
from minibert.text.documents import read_documents
from minibert.text.store import TokenStore
from minibert.text.vocab import learn_fast
from minibert.train import Optimization, train

STAGES = ("vocabulary", "tokenize", "count", "train")
STEPS = 100
SERVER_LIMITS = {"just started": 160, "all pages opened": 600}  # MB


def documents(paths: list[Path], megabytes: float) -> Iterator[list[str]]:
    """Documents of the files, repeated until this many megabytes of text are yielded."""
    left = megabytes * 1e6
    while left > 0:
        for document in read_documents(paths):
            yield document
            left -= sum(len(line.encode()) for line in document)
            if left <= 0:
                return


def peak() -> float:
    """Peak megabytes of this process plus those of its largest child."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024


def anonymous() -> float:
    """Megabytes of this process's own memory, without pages of mapped files."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


def child(stage: str, store: Path, options) -> None:
    tokenizer = checkpoint.load_tokenizer(options.model)
    started = time.perf_counter()
    if stage == "vocabulary":
        lines = (line for document in documents(options.data, options.size) for line in document)
        facts = {"pieces": len(learn_fast(lines, tokenizer.vocab_size))}
    elif stage == "tokenize":
        built = TokenStore.build(documents(options.data, options.size), tokenizer, store, processes=options.processes)
        facts = {"tokens": len(built.ids), "documents": len(built)}
    elif stage == "count":
        opened = TokenStore.open(store)
        start_token_embeddings(Bert(BertConfig.preset("mini", vocab_size=tokenizer.vocab_size)), opened)
        facts = {"tokens": len(opened.ids)}
    else:
        model = BertForPreTraining(BertConfig.preset("tiny", vocab_size=tokenizer.vocab_size))
        stream = PretrainingBatches(TokenStore.open(store), tokenizer, batch_size=32, max_length=128, seed=0)
        for _ in train(model, islice(stream, STEPS), Optimization(), steps=STEPS, report_every=STEPS):
            pass
        facts = {"steps": STEPS, "own_mb": round(anonymous())}
    print(json.dumps({**facts, "peak_mb": round(peak()), "seconds": round(time.perf_counter() - started, 1)}))


def of_server() -> dict[str, int]:
    """Megabytes of a server when it answers first, and after one visitor has opened all pages."""
    from bench.served import memory, server, until_up  # here, or they would count in the stages of pre-training
    from servers.visitor import visit_all

    held = {}
    with tempfile.TemporaryDirectory() as folder, server(Path(folder, "runs")) as (address, process):
        until_up(address, process)
        held["just started"] = memory(process)
        asyncio.run(visit_all(address, parts=False))
        held["all pages opened"] = memory(process)
    return {when: round(bytes / 1e6) for when, bytes in held.items()}


def main() -> None:
    parser = arguments(__doc__, "memory")
    parser.add_argument("--data", nargs="+", type=Path, help=f"default: pretrain/en of ${DATA}")
    parser.add_argument("--model", type=Path, default=Path("checkpoints/mini-en"), help="whose vocabulary is used")
    parser.add_argument("--megabytes", nargs="*", type=float, default=[50, 1000])
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    parser.add_argument("--size", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--store", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stage or options.megabytes:
        options.data = options.data or [in_data_folder("--data", "pretrain", "en")]
    if options.stage:
        child(options.stage, options.store, options)
        return
    held = of_server()
    for when, megabytes in held.items():
        limit = SERVER_LIMITS.get(when)
        missed = "   MISSED" if limit and megabytes > limit else ""
        print(f"server, {when:20} {megabytes:6} MB{f'   limit {limit} MB{missed}' if limit else ''}", flush=True)
    record(options.record and "server-memory", held)
    results = []
    for size in options.megabytes:
        with tempfile.TemporaryDirectory() as folder:
            for stage in STAGES:
                command = [sys.executable, "-m", "bench.memory", "--stage", stage, "--size", str(size)]
                command += ["--store", f"{folder}/store", "--model", str(options.model)]
                command += ["--processes", str(options.processes), "--data", *map(str, options.data)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                results.append({"megabytes": size, "stage": stage, **json.loads(done.stdout.splitlines()[-1])})
                print(results[-1], flush=True)
    record(results and options.record, results)


if __name__ == "__main__":
    main()
