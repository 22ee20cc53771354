"""Which blanks does a checkpoint fill correctly? 42 sentences of lessons/data, chosen before any model was tried.

    python -m bench.cloze [--model checkpoints/mini-en] [--record NAME]
    python -m bench.cloze --model checkpoints/mini-zh --sentences lessons/data/cloze-zh.tsv

A Chinese blank is one character.
"""

from __future__ import annotations

import csv
from pathlib import Path

from bench.machine import arguments, record
from minibert import checkpoint
from minibert.folders import LESSONS
from minibert.model import BertForPreTraining
from minibert.pretrain import fill

SENTENCES = LESSONS / "data"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--model", type=Path, default=Path("checkpoints/mini-en"))
    parser.add_argument("--sentences", type=Path, default=SENTENCES / "cloze.tsv", help="sentence, answer, kind")
    options = parser.parse_args()
    model = checkpoint.load(options.model, kind=BertForPreTraining)
    tokenizer = checkpoint.load_tokenizer(options.model)
    kinds: dict[str, dict[str, int]] = {}
    with open(options.sentences, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            pieces = [piece for piece, _ in fill(model, tokenizer, row["sentence"], top=5)[0]]
            count = kinds.setdefault(row["kind"], {"first": 0, "first five": 0, "of": 0})
            count["first"] += pieces[0] == row["answer"]
            count["first five"] += row["answer"] in pieces
            count["of"] += 1
            print(f"{row['kind']:16} {row['answer']:12} {' '.join(pieces):50} {row['sentence']}")
    for kind, count in kinds.items():
        print(f"{kind:16} {count}")
    record(options.record, kinds)


if __name__ == "__main__":
    main()
