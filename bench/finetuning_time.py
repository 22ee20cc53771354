"""Fine-tuning the shipped checkpoint on 2,000 SST-2 sentences for three epochs: seconds, beside `transformers`.

    python -m bench.finetuning_time [--rounds 3] [--threads 2] [--record]

From the files to the metrics on the whole dev file: reading, loading the checkpoint, training, evaluating. Both get the
same batches; once drawn at random, once with rows of similar length (`--group-by-length`). Rounds alternate. All
imports are done before: the command line needs a few seconds more for them.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

import torch
import transformers

from bench.finetuning import SETS, run
from bench.machine import arguments, record

EXAMPLES = 2_000
SIDES = {"minibert": "checkpoint", "transformers": "transformers"}


def main() -> None:
    parser = arguments(__doc__, "finetuning-time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    results: dict = {"examples": EXAMPLES, "epochs": SETS["SST-2"].epochs}
    run(replace(SETS["SST-2"], examples=64, epochs=1), "transformers", 0)  # triggers late imports
    for name, grouped in (("random batches", False), ("batches of one length", True)):
        one = replace(SETS["SST-2"], examples=EXAMPLES, group_by_length=grouped)
        rounds = [{side: measured(one, arm) for side, arm in SIDES.items()} for _ in range(options.rounds)]
        entry = results[name] = {
            side: {
                "seconds": round(statistics.median(times[side][0] for times in rounds), 1),
                "accuracy": round(rounds[0][side][1], 4),
            }
            for side in SIDES
        }
        ratios = [times["transformers"][0] / times["minibert"][0] for times in rounds]
        entry |= {"ratio": round(statistics.median(ratios), 2), "ratio min": round(min(ratios), 2)}
        print(f"{name:22} {entry}", flush=True)
        record(options.record, results)


def measured(one, arm: str) -> tuple[float, float]:
    start = time.perf_counter()
    accuracy = run(one, arm, seed=0)["accuracy"]
    return time.perf_counter() - start, accuracy


if __name__ == "__main__":
    main()
