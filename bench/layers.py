"""How long it takes to see what layers hold: vectors, pictures, probes; the memory, and the bytes sent to the browser.

python -m bench.layers [--model checkpoints/mini-en] [--record]

All steps run in this process in sequence, so only the first includes imports; megabytes are the peak so far after each.
umap-learn compiles itself at first use: “first” and “again” differ by that.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path

from bench.machine import record
from minibert.folders import LESSONS

DATA = LESSONS / "data"


def measure(model: Path) -> dict[str, dict[str, float]]:
    results: dict[str, dict[str, float]] = {}

    def timed(name: str, work: Callable):
        started = time.perf_counter()
        value = work()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        results[name] = {"seconds": round(time.perf_counter() - started, 2), "peak megabytes": round(peak)}
        print(f"{name}: {results[name]}")
        return value

    def start():
        from minibert import checkpoint

        return checkpoint.load(model), checkpoint.load_tokenizer(model)

    loaded = timed("imports and the model", start)
    from minibert.inside.geometry.aligned_projections import pictures
    from minibert.inside.geometry.vectors import separability, span_vectors
    from minibert.inside.probes.probe import ITEMS, probe_layers
    from minibert.inside.probes.tasks import conll_tasks, read_columns, usable

    with (DATA / "senses" / "en.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    texts = [row["sentence"] for row in rows]
    starts = [text.lower().index(row["word"]) for text, row in zip(texts, rows, strict=True)]
    spans = [[(at, at + len(row["word"]))] for at, row in zip(starts, rows, strict=True)]
    layers = timed(f"vectors of {len(texts)} words at every layer", lambda: span_vectors(*loaded, texts, spans))
    timed("senses told apart, a word", lambda: [separability(x[:16], [r["sense"] for r in rows[:16]]) for x in layers])
    for method in ("pca", "tsne", "umap"):
        drawn = timed(f"{method}, first", lambda method=method: list(pictures(layers, method)))
        timed(f"{method}, again", lambda method=method: list(pictures(layers, method)))
    sent = json.dumps([picture.points for picture in drawn])
    results["moving picture"] = {"kilobytes to the browser": round(len(sent) / 1000, 1)}
    sentences = read_columns((DATA / "entities" / "train.txt").read_bytes(), "train.txt")
    tasks = usable(conll_tasks(sentences), ITEMS)
    events = probe_layers(model, tasks, seeds=3)
    timed("probes, first result", lambda: [next(events), next(events)])
    timed(f"probes, {len(tasks)} tasks, 3 seeds, all", lambda: list(events))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, default=Path("checkpoints/mini-en"))
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    results = measure(options.model)
    record(options.record and f"layers-{options.model.name}", results)


if __name__ == "__main__":
    main()
