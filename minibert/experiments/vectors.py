"""Claims of Sentence-BERT and SimCSE at small scale: from one checkpoint, do cosines agree with human scores?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from minibert.experiments.arms import run_arms
from minibert.experiments.relative_catalogue import RelativeExperiment, VectorScale
from minibert.folders import ROOT
from minibert.sentence_vectors.encoder import SentenceVectors
from minibert.sentence_vectors.rows import Row, read_rows
from minibert.sentence_vectors.run import Held, VectorSettings, learn_vectors
from minibert.tasks import TASKS
from minibert.train import Eval, Event, Optimization, Started, Step

FILES = {"train": "train.tsv", "test": "sts-test.tsv"}
INFERENCE = {"rte": ["rte/train.tsv"], "hans": ["hans/heuristics_evaluation_set.tsv"]}  # in addition to stsb
OWN = [f"lessons/data/pairs/{part}.tsv" for part in ("train", "dev")]  # the course's NLI pairs


def run_vectors(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: VectorScale, command: str, tasks: Path
) -> Iterator[Event]:
    """Like `relatives.run_relative`. tasks: the folder that holds stsb/, rte/ and hans/. Arms without training give the
    same result for every seed. Unsupervised arms read the distinct sentences of the training pairs, without scores. An
    arm with the option "pairs" reads NLI pairs: "rte", "hans", the course's "own", or several joined by +, without
    their hard negatives if "hard" is False. Its other options replace settings of the scale."""
    train, test = (tasks / "stsb" / file for file in FILES.values())
    scored, held = read_rows("cosine", train), Held(TASKS["similarity"].read(test).examples)
    sentences = [Row((text,)) for text in dict.fromkeys(text for row in scored for text in row.texts)]
    start = ROOT / scale.begins_with

    def files_of(name: str) -> list[Path]:
        """The files of NLI pairs that an arm trains on."""
        kinds = experiment.arms[name].options.get("pairs", "")
        found = {kind: [tasks / file for file in files] for kind, files in INFERENCE.items()}
        found["own"] = [ROOT / file for file in OWN]
        return [file for kind in filter(None, kinds.split("+")) for file in found[kind]]

    def events(name: str, seed: int) -> Iterator[Event]:
        options = dict(experiment.arms[name].options)
        if "objective" not in options:
            vectors = SentenceVectors.from_directory(start, options["pooling"])
            yield Started({}, {"parameters": sum(weight.numel() for weight in vectors.encoder.parameters())})
            yield Eval(0, held.measure(vectors))
            return
        objective, rows = options["objective"], scored if options["objective"] == "cosine" else sentences
        if options.pop("pairs", ""):
            rows = [row for file in files_of(name) for row in read_rows(objective, file)]
        if not options.pop("hard", True):
            rows = [Row(row.texts[:2]) for row in rows]
        rate = options.pop("learning_rate", scale.learning_rate)
        options = {"steps": scale.steps, "temperature": scale.temperature, **options}
        settings = VectorSettings(
            **options, batch_size=scale.batch_size, optimization=Optimization(learning_rate=rate), report_every=20,
            measure_every=options["steps"], save_every=options["steps"], seed=seed,
        )  # fmt: skip
        yield from learn_vectors(settings, start, rows, held=held)

    def facts(name: str, seen: list[Event]) -> dict:
        return {
            "pretraining": {"begins_with": scale.begins_with, **experiment.arms[name].options},
            "curve": [[e.tokens, round(e.seconds, 1), {"loss": e.loss}] for e in seen if isinstance(e, Step)],
            "data": [
                *(f"stsb/{file}" for file in FILES.values()),
                *("/".join(file.parts[-2:]) for file in files_of(name)),
            ],
        }

    yield from run_arms(
        experiment, out, seeds=seeds, scale=scale, command=command, stage="sentence vectors", events=events, facts=facts
    )
