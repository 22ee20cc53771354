"""What Sentence-BERT and SimCSE claim, in small: from one checkpoint, how do cosines agree with people's scores?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from minibert.experiments.events import Finished, Stage
from minibert.experiments.records import append_record
from minibert.experiments.relative_catalogue import REQUIRED, RelativeExperiment, VectorScale
from minibert.experiments.results import read_records
from minibert.sentence_vectors.encoder import SentenceVectors
from minibert.sentence_vectors.rows import Row, read_rows
from minibert.sentence_vectors.run import Held, VectorSettings, learn_vectors
from minibert.tasks import TASKS
from minibert.train import Done, Eval, Event, Optimization, Started, Step
from minibert.training import machine

ROOT = Path(__file__).resolve().parents[2]
FILES = {"train": "train.tsv", "test": "sts-test.tsv"}


def run_vectors(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: VectorScale, command: str, tasks: Path
) -> Iterator[Event]:
    """As `relatives.run_relative`. tasks: the folder of STS-B, in stsb. What learns nothing is the same with each
    seed. What learns without scores reads the sentences of the training pairs, each once, and not their scores."""
    done = {
        (record["arm"], record["seed"]) for record in read_records(out, REQUIRED) if record["scale"] == asdict(scale)
    }
    todo = [(seed, name) for seed in range(seeds) for name in experiment.arms if (name, seed) not in done]
    train, test = (tasks / "stsb" / file for file in FILES.values())
    scored, held = read_rows("cosine", train), Held(TASKS["similarity"].read(test).examples)
    sentences = [Row((text,)) for text in dict.fromkeys(text for row in scored for text in row.texts)]
    start, begun, steps, tokens = ROOT / scale.begins_with, time.perf_counter(), 0, 0
    for number, (seed, name) in enumerate(todo):
        low, high = number / len(todo), (number + 1) / len(todo)
        options = dict(experiment.arms[name].options)
        yield Stage(name, seed, "sentence vectors", low)
        before, seen = time.process_time(), []
        if "objective" not in options:
            vectors = SentenceVectors.from_directory(start, options["pooling"])
            weights = sum(weight.numel() for weight in vectors.encoder.parameters())
            seen = [Started({}, {"parameters": weights}), Eval(0, held.measure(vectors)), Done(0, 0, 0.0)]
        else:
            settings = VectorSettings(
                **options, steps=scale.steps, batch_size=scale.batch_size, temperature=scale.temperature,
                optimization=Optimization(learning_rate=scale.learning_rate), report_every=20,
                measure_every=scale.steps, save_every=scale.steps, seed=seed,
            )  # fmt: skip
            for event in learn_vectors(settings, start, scored if options["objective"] == "cosine" else sentences,
                                       held=held):  # fmt: skip
                seen.append(event)
                if isinstance(event, Step):
                    yield replace(event, progress=low + (high - low) * event.progress)
        ended = seen[-1]
        record = {
            "experiment": experiment.name,
            "arm": name,
            "seed": seed,
            "metrics": [event.metrics for event in seen if isinstance(event, Eval)][-1],
            "pretraining": {"begins_with": scale.begins_with, **options},
            "scale": asdict(scale),
            "steps": ended.step,
            "tokens": ended.tokens,
            "parameters": seen[0].details["parameters"],
            "curve": [[e.tokens, round(e.seconds, 1), {"loss": e.loss}] for e in seen if isinstance(e, Step)],
            "seconds": round(time.process_time() - before, 1),  # of processors, measuring too
            "finetuning_seconds": 0.0,
            "data": [f"stsb/{file}" for file in FILES.values()],
            "command": command,
            "machine": machine.description(),
        }
        append_record(out, record)
        yield Finished(record, high)
        steps, tokens = steps + ended.step, tokens + ended.tokens
    yield Done(steps, tokens, time.perf_counter() - begun)
