"""What Sentence-BERT and SimCSE claim, in small: from one checkpoint, how do cosines agree with people's scores?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from minibert.experiments.arms import run_arms
from minibert.experiments.relative_catalogue import RelativeExperiment, VectorScale
from minibert.sentence_vectors.encoder import SentenceVectors
from minibert.sentence_vectors.rows import Row, read_rows
from minibert.sentence_vectors.run import Held, VectorSettings, learn_vectors
from minibert.tasks import TASKS
from minibert.train import Eval, Event, Optimization, Started, Step

ROOT = Path(__file__).resolve().parents[2]
FILES = {"train": "train.tsv", "test": "sts-test.tsv"}
INFERENCE = {"rte": ["rte/train.tsv"], "hans": ["hans/heuristics_evaluation_set.tsv"]}  # beside stsb
OWN = [f"lessons/data/pairs/{part}.tsv" for part in ("train", "dev")]  # the course's pairs of inference


def run_vectors(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: VectorScale, command: str, tasks: Path
) -> Iterator[Event]:
    """As `relatives.run_relative`. tasks: the folder of STS-B, in stsb, and of RTE and HANS. What learns nothing is the
    same with each seed. What learns without scores reads the sentences of the training pairs, each once, and not their
    scores; an arm with an option "pairs" reads pairs of inference, of RTE, of HANS, our "own", or several with a +,
    without their hard negatives where "hard" is False. Its other options are settings, in place of the scale's."""
    train, test = (tasks / "stsb" / file for file in FILES.values())
    scored, held = read_rows("cosine", train), Held(TASKS["similarity"].read(test).examples)
    sentences = [Row((text,)) for text in dict.fromkeys(text for row in scored for text in row.texts)]
    start = ROOT / scale.begins_with

    def files_of(name: str) -> list[Path]:
        """What an arm learns pairs of inference from."""
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
