"""Arms without randomness give the same number with every seed: how sure their differences are, the test pairs tell.

    MINIBERT_DATA=… python -m minibert.experiments.paired

draws the pairs of STS-B's test set anew, with replacement (percentile bootstrap, Efron 1979), and writes how far apart
the arms of `cone` and `sentence_vectors` then are: a line for each claim that the seeds leave open and nothing else
does, in lessons/results/paired.jsonl.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from minibert.experiments.claims import PAIRED, all_judged, tables
from minibert.experiments.records import append_record
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.experiments.sentence_vectors import FILES, Whitened
from minibert.folders import ROOT, results_to_extend
from minibert.inside.geometry.vectors import cosines
from minibert.sentence_vectors.encoder import LAYERS, SentenceVectors
from minibert.sentence_vectors.flow_run import FlowVectors
from minibert.sentence_vectors.run import Embedder
from minibert.sentence_vectors.whitening import Whitening
from minibert.tasks import TASKS
from minibert.training import machine
from minibert.training.statistics import rank_correlation

SAMPLES = 2_000


@cache
def read(start: Path, layers: str) -> FlowVectors:
    return FlowVectors(SentenceVectors.from_directory(start, "mean", LAYERS[layers]))


def without_randomness(name: str, arms: Collection[str], sentences: list[str]) -> Iterator[tuple[str, Embedder]]:
    """(arm, what embeds its texts), of those of `arms` that are not trained. sentences: to fit whitening on."""
    experiment = RELATIVE_EXPERIMENTS[name]
    for arm in arms:
        options = experiment.arms[arm]
        start = ROOT / options.get("model", experiment.scale.begins_with)
        if "pooling" in options:
            yield arm, SentenceVectors.from_directory(start, options["pooling"])
        elif "layers" in options and "flow" not in options:
            vectors = read(start, options["layers"])
            if "dimensions" in options:
                yield arm, Whitened(vectors, Whitening.fit(vectors.plain(sentences), options["dimensions"]))
            else:
                yield arm, vectors


def differences(
    said: Mapping[str, np.ndarray], scores: np.ndarray, wanted: list[tuple[str, str]], seed: int = 0
) -> list[tuple[float, float]]:
    """(arm, base) → Spearman's ρ of the arm minus the base's, and half the middle 95 % of it over drawn pairs."""
    rng = np.random.default_rng(seed)
    draws = [np.arange(len(scores)), *rng.integers(len(scores), size=(SAMPLES, len(scores)))]
    rho = {arm: np.array([rank_correlation(cos[at], scores[at]) for at in draws]) for arm, cos in said.items()}
    found = []
    for arm, base in wanted:
        apart = rho[arm] - rho[base]
        low, high = np.quantile(apart[1:], [0.025, 0.975])
        found.append((float(apart[0]), float(high - low) / 2))
    return found


def main() -> None:
    data = os.environ.get("MINIBERT_DATA")
    if not data:
        raise SystemExit("STS-B is read from the folder that MINIBERT_DATA names")
    folder = Path(data) / "tasks" / "en" / "stsb"
    train, test = (TASKS["similarity"].read(folder / FILES[part]).examples for part in ("train", "test"))
    sentences = list(dict.fromkeys(text for one in train for text in (one.text, one.pair)))
    scores = np.array([one.score for one in test])
    for results in ("cone", "sentence_vectors"):
        named = {name for name, table in tables().items() if table.get("results", name) == results}
        made = [one.claim for name, one in all_judged() if name in named and one.verdict == "same in every seed"]
        arms = dict.fromkeys(arm for one in made for arm in (one.arm, str(one.base)))
        said = {}
        for arm, vectors in without_randomness(results, arms, sentences):
            said[arm] = cosines(*(vectors.embed([getattr(one, side) for one in test]) for side in ("text", "pair")))
            print(f"{results:18} {arm:20} {100 * rank_correlation(said[arm], scores):.2f}", flush=True)
        wanted = [(one.arm, str(one.base)) for one in made if {one.arm, one.base} <= set(said)]
        for (arm, base), (mean, half) in zip(wanted, differences(said, scores, wanted), strict=True):
            record = {"results": results, "metric": "spearman", "arm": arm, "base": base, "mean": mean, "half": half}
            more = {"pairs": len(test), "samples": SAMPLES, "command": "python -m minibert.experiments.paired"}
            append_record(results_to_extend(PAIRED), record | more | {"machine": machine.description()})


if __name__ == "__main__":
    main()
