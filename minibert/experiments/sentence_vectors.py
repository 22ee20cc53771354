"""Claims about sentence vectors at small scale, on STS-B: do cosines agree with human scores, after training
(Sentence-BERT, SimCSE), or after a transformation of a frozen checkpoint's vectors (BERT-flow, whitening)?"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from minibert.experiments.relative_catalogue import RelativeExperiment
from minibert.experiments.runner import Run
from minibert.folders import ROOT
from minibert.inside.geometry.vectors import mean_cosine
from minibert.sentence_vectors.encoder import LAYERS, SentenceVectors
from minibert.sentence_vectors.flow_run import FlowSettings, FlowVectors, learn_flow
from minibert.sentence_vectors.rows import SentenceRow, read_rows
from minibert.sentence_vectors.run import Embedder, HeldOut, VectorSettings, learn_vectors
from minibert.sentence_vectors.whitening import Whitening
from minibert.tasks import TASKS
from minibert.train import Eval, Event, Optimization, Started

FILES = {"train": "train.tsv", "dev": "dev.tsv", "test": "sts-test.tsv"}
INFERENCE = {"rte": ["rte/train.tsv"], "hans": ["hans/heuristics_evaluation_set.tsv"]}  # in addition to stsb
OWN = [f"lessons/data/pairs/{part}.tsv" for part in ("train", "dev")]  # the course's NLI pairs


def sentence_vectors(experiment: RelativeExperiment, tasks: Path, folder: Path) -> Run:
    """tasks: the folder that holds stsb/, rte/ and hans/. Arms without training give the same result for every seed.
    Unsupervised arms read the distinct sentences of the training pairs, without scores. An arm with the option "pairs"
    reads NLI pairs: "rte", "hans", the course's "own", or several joined by +, without their hard negatives if "hard"
    is False. Its other options replace settings of the scale."""
    scale = experiment.scale
    train, test = (tasks / "stsb" / FILES[part] for part in ("train", "test"))
    scored, held = read_rows("cosine", train), HeldOut(TASKS["similarity"].read(test).examples)
    sentences = [SentenceRow((text,)) for text in dict.fromkeys(text for row in scored for text in row.texts)]
    found = {kind: [tasks / file for file in files] for kind, files in INFERENCE.items()}
    found["own"] = [ROOT / file for file in OWN]

    def run(name: str, seed: int) -> Generator[Event, None, dict]:
        options, start = dict(experiment.arms[name]), ROOT / scale.begins_with
        files = [file for kind in filter(None, options.pop("pairs", "").split("+")) for file in found[kind]]
        if "objective" not in options:
            yield from plain(SentenceVectors.from_directory(start, options["pooling"]), held)
        else:
            objective, rows = options["objective"], scored if options["objective"] == "cosine" else sentences
            if files:
                rows = [row for file in files for row in read_rows(objective, file)]
            if not options.pop("hard", True):
                rows = [SentenceRow(row.texts[:2]) for row in rows]
            rate = options.pop("learning_rate", scale.learning_rate)
            options = {"steps": scale.steps, "temperature": scale.temperature, **options}
            settings = VectorSettings(
                **options,
                batch_size=scale.batch_size,
                optimization=Optimization(learning_rate=rate),
                seed=seed,
                report_every=20,
                measure_every=options["steps"],
                save_every=options["steps"],
            )
            yield from learn_vectors(settings, start, rows, held=held)
        return {
            "data": [f"stsb/{FILES[part]}" for part in ("train", "test")]
            + ["/".join(file.parts[-2:]) for file in files]
        }

    return run


def plain(vectors: SentenceVectors, held: HeldOut) -> Iterator[Event]:
    """The events of a run without training."""
    yield Started({}, {"parameters": sum(weight.numel() for weight in vectors.encoder.parameters())})
    yield Eval(0, held.measure(vectors))


class Whitened:
    """The vectors of `known`, whitened."""

    def __init__(self, known: FlowVectors, whitening: Whitening):
        self.known, self.whitening = known, whitening

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return self.whitening(self.known.plain(texts))


def cone(experiment: RelativeExperiment, tasks: Path, folder: Path) -> Run:
    """tasks: the folder that holds stsb/. Whitening is fitted on, and the flow trained on, the distinct sentences of
    the training pairs, without their scores. Arms without randomness give the same result for every seed. The dev pairs
    are evaluated too; layers may be chosen by them."""
    scale = experiment.scale
    pairs = {part: TASKS["similarity"].read(tasks / "stsb" / file).examples for part, file in FILES.items()}
    sentences = list(dict.fromkeys(text for one in pairs["train"] for text in (one.text, one.pair)))
    held = {part: HeldOut(pairs[part]) for part in ("dev", "test")}
    texts = [text for one in held["test"].pairs for text in (one.text, one.pair)]

    @cache
    def read(model: str, layers: str) -> FlowVectors:
        return FlowVectors(SentenceVectors.from_directory(ROOT / model, "mean", LAYERS[layers]))

    def run(name: str, seed: int) -> Generator[Event, None, dict]:
        options = experiment.arms[name]
        known = read(options.get("model", scale.begins_with), options["layers"])
        vectors: Embedder = known
        if "flow" in options:
            settings = FlowSettings(
                layers=options["layers"],
                steps=scale.steps,
                batch_size=scale.batch_size,
                depth=scale.depth,
                hidden=scale.hidden,
                evaluate_every=scale.steps,
                report_every=40,
                seed=seed,
                optimization=Optimization(learning_rate=scale.learning_rate, weight_decay=0.0),
            )
            vectors = flow = FlowVectors(known.vectors)
            flow.cache = known.cache
            events = learn_flow(settings, None, sentences, into=flow)
            yield from (event for event in events if not isinstance(event, Eval))
        else:
            yield Started({}, {"parameters": sum(weight.numel() for weight in known.vectors.encoder.parameters())})
        if "dimensions" in options:
            vectors = Whitened(known, Whitening.fit(known.plain(sentences), options["dimensions"]))
        metrics = {"spearman_dev": held["dev"].measure(vectors)["spearman"], **held["test"].measure(vectors)}
        yield Eval(0, {**metrics, "mean_cosine": mean_cosine(vectors.embed(texts))})
        return {"data": [f"stsb/{file}" for file in FILES.values()]}

    return run
