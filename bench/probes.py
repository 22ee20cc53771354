"""Record the accuracy of probes at each layer, for the lesson that trains them: one line per task and seed.

    python -m bench.probes checkpoints/minilm-en --seeds 3

writes lessons/results/<model>/probes.jsonl, for the model and random weights of its shape, on our English sentences.
"""

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from minibert import checkpoint
from minibert.experiments.records import append_record
from minibert.folders import LESSONS
from minibert.inside.probes.probe import probe_layers, untrained_copy
from minibert.training import machine
from sections.probes.tasks import tasks_of

RESULTS = LESSONS / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    tasks, name = tasks_of("en")
    out = RESULTS / options.model.name / "probes.jsonl"
    command = f"python -m bench.probes checkpoints/{options.model.name} --seeds {options.seeds}"
    about = {"tasks": name, "model": options.model.name, "command": command, "machine": machine.description()}
    out.unlink(missing_ok=True)
    with TemporaryDirectory() as folder:
        model, tokenizer = checkpoint.load(options.model), checkpoint.load_tokenizer(options.model)
        for random in (False, True):
            start = checkpoint.save(f"{folder}/{random}", untrained_copy(model) if random else model, tokenizer)
            for event in probe_layers(start, tasks, options.seeds):
                row = event.as_dict()
                if row["event"] == "probed":
                    append_record(out, {**row, "random": random, **about})
                    print(random, row["task"], json.dumps(row["accuracy"]), flush=True)


if __name__ == "__main__":
    main()
