"""BERT's own experiments, on the toy world's language: lists of arms, each of which differs from the first. Needs no
torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

OBJECTIVES: dict[str, tuple[str, dict]] = {  # name → (model_type, arguments of its objective)
    "mlm+nsp": ("bert", {"second": "nsp"}),
    "mlm": ("bert", {"second": None}),
    "left-to-right": ("left_to_right", {}),
}


@dataclass(frozen=True)
class Pretraining:
    """How a model is pre-trained; the defaults are those of the base arm.

    objective: "mlm+nsp" as in the paper, "mlm" on the same pairs without the next-sentence loss, "left-to-right" the
    next token at every position under a causal mask · split: [MASK] / random / unchanged.
    """

    objective: str = "mlm+nsp"
    layers: int = 2
    hidden: int = 128
    heads: int = 2
    split: tuple[float, float, float] = (0.8, 0.1, 0.1)
    input_format: str = "segment_pair"

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ValueError(f"the objective must be one of {', '.join(OBJECTIVES)}, not {self.objective!r}")

    @property
    def model_type(self) -> str:
        return OBJECTIVES[self.objective][0]

    @property
    def objective_options(self) -> dict:
        """Arguments of `relatives.objective_for`, except the masking."""
        return OBJECTIVES[self.objective][1]


@dataclass(frozen=True)
class Arm:
    """One pre-training and how its model is used. bilstm: a random BiLSTM is put on top at fine-tuning · at: the share
    of the pre-training after which the model is taken. Arms with the same pre-training share its run."""

    pretraining: Pretraining = Pretraining()
    bilstm: bool = False
    at: float = 1.0


DOWNSTREAM = {  # task to fine-tune on → whether only the new layers are: a BiLSTM over frozen features (§5.3)
    "meant": False,
    "meant_features": True,
}


@dataclass(frozen=True)
class Scale:
    """What is smaller than in the paper, the same for every arm; the defaults are for the toy world's language, most of
    which two layers learn within a minute. As in `minibert.toy.pretrain.TOY`: whole stories as rows, more masked tokens
    than the paper's 15 %, Muon.

    tokens: read in pre-training, padding included · examples: for fine-tuning · filled: share of the positions in the
    base's rows that hold a token.
    """

    tokens: int = 320 * 48 * 128
    batch_size: int = 48
    max_length: int = 128
    learning_rate: float = 5e-3
    examples: int = 1_000
    epochs: int = 3
    finetune_batch_size: int = 32
    finetune_rate: float = 1e-3
    feature_rate: float = 2e-3  # where only a new layer is trained
    heldout_tokens: int = 20_000
    masking_rate: float = 0.35
    optimizer: str = "muon"
    finetune_dropout: float = 0.0
    input_format: str = "doc_sentences"  # of the base
    filled: float = 0.39

    @property
    def steps(self) -> int:
        """Steps of pre-training: a multiple of 160 (of 16 in a very short run), so that each sixteenth is whole."""
        steps = self.tokens / (self.batch_size * self.max_length)
        unit = 16 * self.report_every
        return unit * max(1, round(steps / unit))

    @property
    def report_every(self) -> int:
        """Steps between reports."""
        return 10 if self.tokens >= 160 * self.batch_size * self.max_length else 1

    def step_at(self, share: float) -> int:
        """The step after `share` of the run, a multiple of 1/16."""
        return round(share * 16) * self.steps // 16


# The same until even the masked model has learned the toy world: ten times the steps, and a longer fine-tuning.
LEARNED_SCALE = Scale(tokens=10 * Scale.tokens, examples=3_000, epochs=8)


@dataclass(frozen=True)
class Experiment:
    """arms: the base first · tasks: names in `DOWNSTREAM`; each arm is fine-tuned on each, with `whole_runs` only those
    of whole pre-trainings · heldout: whether the arms' held-out losses are comparable."""

    name: str
    title: str
    arms: Mapping[str, Arm]
    tasks: tuple[str, ...]
    heldout: bool = True
    whole_runs: bool = False
    scale: Scale = Scale()

    @property
    def base(self) -> Arm:
        return next(iter(self.arms.values()))


STORIES = Pretraining(objective="mlm", input_format="doc_sentences")  # the base
STORIES_LTR = replace(STORIES, objective="left-to-right")
SHARES = (1.0, 0.5, 0.25, 0.125)  # of the steps; the whole run is the base


def _at(name: str, pretraining: Pretraining) -> dict[str, Arm]:
    """Arms for the model after the whole run, after half and after a quarter of it."""
    return {name if at == 1 else f"{name}@{at:g}": Arm(pretraining, at=at) for at in SHARES[:3]}


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "toy-world",
            "Objectives, steps, size, masking and formats on the toy world's language",
            {
                **_at("mlm", STORIES),
                **_at("left-to-right", STORIES_LTR),
                "left-to-right+bilstm": Arm(STORIES_LTR, bilstm=True),
                "1/128/2": Arm(replace(STORIES, layers=1)),
                "4/128/2": Arm(replace(STORIES, layers=4)),
                "100/0/0": Arm(replace(STORIES, split=(1.0, 0.0, 0.0))),
                "0/0/100": Arm(replace(STORIES, split=(0.0, 1.0, 0.0))),
                "segment-pair+nsp": Arm(Pretraining()),
            },
            tasks=("meant", "meant_features"),
        ),
        Experiment(
            "which-side",
            "Masked or left to right (table 5, figure 5), on the toy world until it is learned",
            {
                "mlm": Arm(STORIES),
                **{f"mlm@{share:g}": Arm(STORIES, at=share) for share in SHARES[1:]},
                "left-to-right": Arm(STORIES_LTR),
                "left-to-right+bilstm": Arm(STORIES_LTR, bilstm=True),
                # 0.375: asked for as many words as the masked model, of which 35 % are hidden, in the whole run
                **{f"left-to-right@{share:g}": Arm(STORIES_LTR, at=share) for share in (0.5, 0.375, 0.25, 0.125)},
            },
            tasks=("meant",),
            heldout=False,  # masked and next tokens differ
            whole_runs=True,
            scale=LEARNED_SCALE,
        ),
    )
}


def experiment_named(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
