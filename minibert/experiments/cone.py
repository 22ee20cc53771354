"""Claims of BERT-flow and whitening at small scale: vectors of a frozen checkpoint, transformed variously, on STS-B."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from minibert.experiments.arms import run_arms
from minibert.experiments.relative_catalogue import ConeScale, RelativeExperiment
from minibert.experiments.vectors import FILES, ROOT
from minibert.inside.vectors import mean_cosine
from minibert.sentence_vectors.encoder import LAYERS, SentenceVectors
from minibert.sentence_vectors.flow_run import FlowSettings, FlowVectors, learn_flow
from minibert.sentence_vectors.run import Held
from minibert.sentence_vectors.whitening import Whitening
from minibert.tasks import TASKS
from minibert.train import Eval, Event, Optimization, Started, Step

PARTS = {"dev": "dev.tsv", "test": FILES["test"]}


class Whitened:
    """The vectors of `known`, whitened."""

    def __init__(self, known: FlowVectors, whitening: Whitening):
        self.known, self.whitening = known, whitening

    def embed(self, texts):
        return self.whitening(self.known.plain(texts))


def run_cone(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: ConeScale, command: str, tasks: Path
) -> Iterator[Event]:
    """Like `vectors.run_vectors`. Whitening is fitted on, and the flow trained on, the distinct sentences of the
    training pairs, without their scores. Arms without randomness give the same result for every seed. The dev pairs are
    evaluated too; layers may be chosen by them."""
    folder = tasks / "stsb"
    pairs = TASKS["similarity"].read(folder / FILES["train"]).examples
    sentences = list(dict.fromkeys(text for one in pairs for text in (one.text, one.pair)))
    held = {part: Held(TASKS["similarity"].read(folder / file).examples) for part, file in PARTS.items()}

    @cache
    def read(model: str, layers: str) -> FlowVectors:
        return FlowVectors(SentenceVectors.from_directory(ROOT / model, "mean", LAYERS[layers]))

    def measured(vectors) -> Iterator[Event]:
        metrics = {"spearman_dev": held["dev"].measure(vectors)["spearman"], **held["test"].measure(vectors)}
        texts = [text for one in held["test"].pairs for text in (one.text, one.pair)]
        yield Eval(0, {**metrics, "mean_cosine": mean_cosine(vectors.embed(texts))})

    def events(name: str, seed: int) -> Iterator[Event]:
        options = experiment.arms[name].options
        known = read(options.get("model", scale.begins_with), options["layers"])
        if "flow" in options:
            settings = FlowSettings(
                layers=options["layers"], steps=scale.steps, batch_size=scale.batch_size, depth=scale.depth,
                hidden=scale.hidden, evaluate_every=scale.steps, report_every=40, seed=seed,
                optimization=Optimization(learning_rate=scale.learning_rate, weight_decay=0.0),
            )  # fmt: skip
            learned = FlowVectors(known.vectors)
            learned.known = known.known
            for event in learn_flow(settings, None, sentences, into=learned):
                if not isinstance(event, Eval):
                    yield event
            yield from measured(learned)
            return
        parameters = sum(weight.numel() for weight in known.vectors.encoder.parameters())
        yield Started({}, {"parameters": parameters})
        if "dimensions" in options:
            whitening = Whitening.fit(known.plain(sentences), options["dimensions"])
            yield from measured(Whitened(known, whitening))
        else:
            yield from measured(known)

    def facts(name: str, seen: list[Event]) -> dict:
        return {
            "pretraining": {"begins_with": scale.begins_with, **experiment.arms[name].options},
            "curve": [[e.step, round(e.seconds, 1), {"loss": e.loss}] for e in seen if isinstance(e, Step)],
            "data": [f"stsb/{file}" for file in (FILES["train"], *PARTS.values())],
        }

    yield from run_arms(
        experiment, out, seeds=seeds, scale=scale, command=command, stage="the cone", events=events, facts=facts
    )
