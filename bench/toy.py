"""What the toy world's default run learns in its minute: accuracy on words that are determined, seed by seed.

    python -m bench.toy [--minutes 1] [--seeds 3] [--threads 1] [--record NAME]

The run of the page and of `pretrain --toy`, timed by wall clock from its first step to its last; one thread, as a run
of the page has on two cores. For comparison: the same with AdamW for all weights, and two baselines: guessing by
frequency alone, and by the two neighbours.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import replace

import torch

from bench.machine import arguments, record
from minibert.pretrain import PretrainSettings
from minibert.toy.pretrain import TOY, pretrain_toy
from minibert.train import OPTIMIZERS, Eval, Step

KEPT = ("determined", "guessable", "guessable_from_neighbours")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=TOY.minutes)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    results: dict[str, dict] = {}
    for seed in range(options.seeds):
        for name in OPTIMIZERS:
            optimization = replace(TOY.optimization, optimizer=name)
            settings = replace(TOY, minutes=options.minutes, seed=seed, optimization=optimization)
            runs = results.setdefault(name, {"mean": 0.0, "runs": []})["runs"]
            runs.append(one_run(settings, seed))
            results[name]["mean"] = round(statistics.fmean(run["determined"] for run in runs), 3)
            print(name, runs[-1], flush=True)
        record(options.record, results)


def one_run(settings: PretrainSettings, seed: int) -> dict:
    """The steps and seconds of one run, and its final accuracies."""
    with tempfile.TemporaryDirectory() as folder:
        events = list(pretrain_toy(settings, f"{folder}/model", seed=seed))
    metrics = [event for event in events if isinstance(event, Eval)][-1].metrics
    last = [event for event in events if isinstance(event, Step)][-1]
    shares = {name: round(value, 3) for name, value in metrics.items() if name.split(".")[0] in KEPT}
    return {"seed": seed, "steps": last.step, "seconds": round(last.seconds, 1), **shares}


if __name__ == "__main__":
    main()
