"""The comparisons of fine-tuning settings: a task, and arms that each change some settings. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from minibert.finetune.width import TUNED_AT, rate_of_width

REQUIRED = {
    "experiment",
    "arm",
    "seed",
    "metrics",
    "task",
    "settings",
    "trained",
    "head",
    "parameters",
    "steps",
    "seconds",
    "examples",
    "measured_on",
    "majority",
    "data",
    "model",
    "command",
    "machine",
}


@dataclass(frozen=True)
class Comparison:
    """Arms of one task on one data set, from one checkpoint.

    data: a folder in lessons/data, or in the folder of tasks if not `embedded` · files: (train, dev) · base: settings
    of all arms · arms: what each changes; both name fields of `FinetuneSettings`, and `learning_rate` · examples: for
    training, at most · seeds: number of recorded seeds.
    """

    name: str
    title: str
    task: str
    data: str
    files: tuple[str, str]
    base: Mapping[str, Any]
    arms: Mapping[str, Mapping[str, Any]]
    embedded: bool = True
    examples: int | None = None
    seeds: int = 3

    def values(self, arm: str) -> dict[str, Any]:
        """The settings of an arm. Raises ValueError for an unknown one."""
        if arm not in self.arms:
            raise ValueError(f"{self.name} has no arm {arm!r}; it has {', '.join(self.arms)}")
        return {**self.base, **self.arms[arm]}


FROZEN = {"freeze": "all", "learning_rate": 5e-3}  # a new layer alone needs a larger rate
TAGGED = {**FROZEN, "bilstm": True}
POOLINGS = ("cls", "mean", "max")
CUTS, CUT_AT = ("head", "tail", "head_tail"), 32  # ways to cut, tokens that are read
EPOCHS, RATES = (2, 6), (3e-4, 1e-3, 2e-3)


def cell(epochs: int, rate: float, corrected: bool) -> str:
    """The name of an arm of "stability"."""
    return f"{epochs} epochs, {rate:g}, {'corrected' if corrected else 'uncorrected'}"


FEATURES = Comparison(
    "features",
    "Features or fine-tuning (table 7), on the course's sentences with names",
    "tagging",
    "entities",
    ("train.txt", "dev.txt"),
    {"epochs": 8, "batch_size": 16, "learning_rate": 1e-3, "evaluations_per_epoch": 1},
    {
        "fine-tuned": {},
        "embeddings": {**TAGGED, "layers": "embeddings"},
        "second-to-last": {**TAGGED, "layers": "second_to_last"},
        "last": {**TAGGED, "layers": "last"},
        "last-four-sum": {**TAGGED, "layers": "last_four_sum"},
        "last-four-concat": {**TAGGED, "layers": "last_four_concat"},
        "weighted": {**TAGGED, "layers": "weighted"},
        "last-linear": {**FROZEN, "layers": "last"},
        "random": {"from_scratch": True},
    },
)

COMPARISONS = {
    comparison.name: comparison
    for comparison in (
        FEATURES,
        replace(
            FEATURES,
            name="features-conll",
            title="Features or fine-tuning (table 7), on 2,000 sentences of CoNLL-2003",
            data="conll2003",
            files=("eng.train", "eng.testa"),
            embedded=False,
            examples=2000,
            base={**FEATURES.base, "epochs": 3, "batch_size": 32, "dev_sample": 100},
        ),
        Comparison(
            "pooling",
            "What stands for a sentence, frozen and fine-tuned, on the course's reviews",
            "classification",
            "reviews",
            ("train.tsv", "dev.tsv"),
            {"epochs": 4, "batch_size": 16, "learning_rate": 3e-4, "evaluations_per_epoch": 1},
            {
                **{f"fine-tuned-{pooling}": {"pooling": pooling} for pooling in POOLINGS},
                **{f"frozen-{pooling}": {**FROZEN, "pooling": pooling} for pooling in POOLINGS},
                "frozen-mean-embeddings": {**FROZEN, "pooling": "mean", "layers": "embeddings"},
                "frozen-mean-last-four": {**FROZEN, "pooling": "mean", "layers": "last_four_concat"},
                "frozen-cls-all": {**FROZEN, "pooling": "cls", "layers": "all_concat"},
            },
        ),
        Comparison(
            "truncation",
            "What stays of a text that is too long, on reviews whose verdict stands at one end",
            "classification",
            "verdicts",
            ("train.tsv", "dev.tsv"),
            {"epochs": 3, "batch_size": 16, "learning_rate": 3e-4, "evaluations_per_epoch": 1},
            {
                **{f"{way}-{CUT_AT}": {"truncation": way, "max_length": CUT_AT} for way in CUTS},
                "whole": {"max_length": 128},
            },
        ),
        Comparison(
            "options",
            "Each switch of What else can be set, on the course's reviews",
            "classification",
            "reviews",
            ("train.tsv", "dev.tsv"),
            {"epochs": 4, "batch_size": 16, "learning_rate": 3e-4, "evaluations_per_epoch": 1},
            {
                "usual": {},
                "decay": {"layer_decay": 0.8},
                "frozen": {"freeze": 2},
                "masks": {"dropout_samples": 8},
                "mlm": {"mlm_weight": 0.2},
                "marks": {"auxiliary": ["topic", "kind"]},
                "layers": {"classifier_depth": 2},
                "focal": {"loss": "focal"},
                "smoothing": {"loss": "label_smoothing"},
                "averaging": {"averaging": 0.5},
                **{way: {"metadata": ["topic"], "metadata_as": way} for way in ("token", "embedding", "concatenated")},
                **{
                    method: {"augmentation": {"method": method, "rate": 0.15, "copies": 1}}
                    for method in ("mask", "replace", "drop", "swap")
                },
            },
        ),
        Comparison(
            "stability",
            "Seeds, epochs, learning rate and bias correction, on the course's reviews",
            "classification",
            "reviews",
            ("train.tsv", "dev.tsv"),
            {"batch_size": 32, "evaluations_per_epoch": 1},
            {
                cell(epochs, rate, corrected): {
                    "epochs": epochs,
                    "learning_rate": rate,
                    "bias_correction": corrected,
                }
                for epochs in EPOCHS
                for rate in RATES
                for corrected in (True, False)
            },
            seeds=5,
        ),
    )
}


def comparison_named(name: str, hidden_size: int = TUNED_AT) -> Comparison:
    """The comparison with learning rates for a checkpoint of this width, see `rate_of_width`. Arms with a frozen
    encoder keep theirs."""
    if name not in COMPARISONS:
        raise ValueError(f"there is no comparison {name!r}; there are {', '.join(COMPARISONS)}")
    comparison = COMPARISONS[name]
    if hidden_size <= TUNED_AT:
        return comparison
    arms = {}
    for arm, changes in comparison.arms.items():
        values = comparison.values(arm)
        if values.get("freeze") != "all":
            rate = rate_of_width(values["learning_rate"], hidden_size)
            changes = {**changes, "learning_rate": rate}
            if name == "stability":
                arm = cell(values["epochs"], rate, values["bias_correction"])
        arms[arm] = changes
    return replace(comparison, arms=arms)
