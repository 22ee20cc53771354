"""How well does a checkpoint predict held-out text? MLM loss and accuracy, NSP accuracy.

    python -m bench.heldout [--model checkpoints/mini-en] [--text FILE] [--record NAME]
    python -m bench.heldout --model checkpoints/mini-zh --text $MINIBERT_DATA/pretrain/zh/modern-06.txt.xz --lines 6000

A folder is read as WikiText-2 (validation and test), a file like training text. WikiText's artefacts are undone first:
` @-@ ` becomes `-` again; headings are left out, and so are sentences with `<unk>`, which is no real word and easy to
predict. Masks: 15 %, 80/10/10, drawn with a fixed seed; the same text and masks for every checkpoint of one vocabulary.
For comparison: the loss of a model that knows only how frequent each token is among the targets (its unigram entropy),
which any use of context must beat. Bits per character make vocabularies comparable: the loss per token, in bits, times
the number of tokens per character.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.machine import arguments, record
from minibert import checkpoint
from minibert.command_line.arguments import DATA, in_data_folder
from minibert.model import IGNORE, BertForPreTraining
from minibert.objectives import measure
from minibert.relatives import objective_for
from minibert.text.batches import PretrainingBatches
from minibert.text.documents import read_documents, split_sentences
from minibert.text.store import TokenStore


def articles(path: Path) -> Iterator[list[str]]:
    """WikiText articles as lists of sentences."""
    article: list[str] = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        line = line.strip()
        if re.fullmatch(r"= [^=].*[^=] =", line):
            if article:
                yield article
            article = []
        elif line and not line.startswith("="):
            sentences = split_sentences(re.sub(r" @([-,.])@ ", r"\1", line))
            article += [sentence for sentence in sentences if "<unk>" not in sentence]
    if article:
        yield article


def first_lines(path: Path, most: int) -> Iterator[list[str]]:
    for document in read_documents([path]):
        yield document[:most]
        most -= len(document)
        if most <= 0:
            return


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--model", type=Path, default=Path("checkpoints/mini-en"))
    parser.add_argument("--text", type=Path, help=f"default: heldout-text of ${DATA}")
    parser.add_argument("--lines", type=int, default=10**9, help="of a file: read so many")
    options = parser.parse_args()
    options.text = options.text or in_data_folder("--text", "heldout-text")
    model = checkpoint.load(options.model, kind=BertForPreTraining)
    tokenizer = checkpoint.load_tokenizer(options.model)
    results = {"model": str(options.model)}
    if options.text.is_dir():
        parts = {part: articles(options.text / f"{part}.txt") for part in ("valid", "test")}
    else:
        parts = {options.text.name: first_lines(options.text, options.lines)}
    for part, articles_of_part in parts.items():
        documents = list(articles_of_part)
        store = TokenStore.build(documents, tokenizer)
        batches = list(PretrainingBatches(store, tokenizer, batch_size=32, max_length=128, seed=0, epochs=1))
        answers = np.concatenate([batch.labels[batch.labels != IGNORE].numpy() for batch in batches])
        shares = np.array(list(Counter(answers.tolist()).values())) / len(answers)
        metrics = measure(objective_for(model.config), model, batches)
        tokens_a_character = len(store.ids) / sum(len(line) for document in documents for line in document)
        results[part] = {
            **metrics,
            "unigram_entropy": float(-(shares * np.log(shares)).sum()),
            "bits_per_character": metrics["mlm_loss"] / math.log(2) * tokens_a_character,
        }
        print(part, "  ".join(f"{name} {value:.4g}" for name, value in results[part].items()), flush=True)
    record(options.record, results)


if __name__ == "__main__":
    main()
