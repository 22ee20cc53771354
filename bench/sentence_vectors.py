"""How well do cosines of sentence vectors agree with human ratings? Spearman's correlation on STS-B, by layer.

    python -m bench.sentence_vectors [--data $MINIBERT_DATA/tasks/en/stsb] [--record]

Nothing is trained here: the vector of a sentence is the mean over its tokens. Models: the shipped English ones, the
original of minilm-en if installed (requirements-models.txt), random weights in the shape of each shipped one; baseline:
the share of common words, which any model must beat. "unrelated": the mean cosine of two sentences of different pairs.
"""

from __future__ import annotations

from pathlib import Path

from bench.machine import arguments, record
from minibert import checkpoint
from minibert.command_line.arguments import DATA, in_data_folder
from minibert.folders import ROOT
from minibert.inside.geometry.vectors import agreement, mean_cosine, sentence_vectors, word_overlap
from minibert.inside.probes.probe import untrained_copy
from minibert.sentence_vectors.packaged import ALL_MINILM, PackageError
from minibert.tasks import TASKS
from minibert.tokenizer import basic_tokens
from minibert.training.statistics import rank_correlation

SHIPPED = ("mini-en", "minilm-en")
FILES = {"dev": "dev.tsv", "test": "sts-test.tsv"}


def models():
    """Yields (name, model, tokenizer); only one model is in memory at a time."""
    folders = [ROOT / "checkpoints" / name for name in SHIPPED]
    try:
        folders.append(ALL_MINILM.directory())
    except PackageError as error:
        print(error)
    for name, folder in zip([*SHIPPED, ALL_MINILM.name], folders, strict=False):
        model, tokenizer = checkpoint.load(folder), checkpoint.load_tokenizer(folder)
        yield name, model, tokenizer
        if name in SHIPPED:
            yield f"random weights, shape of {name}", untrained_copy(model), tokenizer


def measure(folder: Path) -> dict:
    parts = {part: TASKS["similarity"].read(folder / file).examples for part, file in FILES.items()}
    results: dict = {"pairs": {part: len(examples) for part, examples in parts.items()}, "common words": {}}
    for part, examples in parts.items():
        overlap = word_overlap([(basic_tokens(one.text, True), basic_tokens(one.pair, True)) for one in examples])
        results["common words"][part] = rank_correlation(overlap, [one.score for one in examples])
    for name, model, tokenizer in models():
        results[name] = {}
        for part, examples in parts.items():
            left, right = (
                sentence_vectors(model, tokenizer, texts, ("mean",))["mean"]
                for texts in ([one.text for one in examples], [one.pair for one in examples])
            )
            by_layer = agreement(left, right, [one.score for one in examples])
            results[name][part] = {
                "spearman_by_layer": [round(value, 4) for value in by_layer],
                "unrelated_by_layer": [round(mean_cosine(layer), 4) for layer in left],
            }
            print(f"{name}, {part}: {' '.join(f'{value:.3f}' for value in by_layer)}", flush=True)
    return results


def main() -> None:
    parser = arguments(__doc__, "sentence-vectors")
    parser.add_argument("--data", type=Path, help=f"the folder of STS-B (default: tasks/en/stsb of ${DATA})")
    options = parser.parse_args()
    results = measure(options.data or in_data_folder("--data", "tasks", "en", "stsb"))
    record(options.record, results)


if __name__ == "__main__":
    main()
