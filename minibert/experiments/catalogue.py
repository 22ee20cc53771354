"""The experiments: lists of arms, each of which differs from the first. Needs no torch."""

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


@dataclass(frozen=True)
class Downstream:
    """A data set to fine-tune on. task: its name in minibert.tasks · files: (train, dev) in `folder`; if None, the data
    are made from the toy world's stories · frozen: only the new layers are trained, with a BiLSTM over frozen features
    (Devlin et al. 2019, §5.3)."""

    title: str
    task: str
    folder: str = ""
    files: tuple[str, str] | None = None
    frozen: bool = False


DOWNSTREAM = {
    "sst2": Downstream("SST-2", "classification", "sst2", ("train.tsv", "dev.tsv")),
    "mrpc": Downstream("MRPC", "pair", "mrpc", ("train.tsv", "test.tsv")),  # it has no dev part of its own
    "ner": Downstream("CoNLL-2003 NER", "tagging", "conll2003", ("eng.train", "eng.testa")),
    "ner_features": Downstream(
        "CoNLL-2003 NER, frozen features", "tagging", "conll2003", ("eng.train", "eng.testa"), frozen=True
    ),
    "meant": Downstream("Who or what is meant, in the toy world", "span"),
    "meant_features": Downstream("Who or what is meant, frozen features", "span", frozen=True),
}


@dataclass(frozen=True)
class Scale:
    """What is smaller than in the paper, the same for every arm. tokens: read in pre-training, padding included ·
    examples: for fine-tuning, at most · filled: share of the positions in the base's rows that hold a token."""

    tokens: int = 4_000_000
    vocab_size: int = 4096
    batch_size: int = 32
    max_length: int = 64
    learning_rate: float = 2e-3
    start: str = "counts"
    examples: int = 5_000
    epochs: int = 3
    finetune_batch_size: int = 32
    finetune_rate: float = 5e-4
    feature_rate: float = 2e-3  # where only a new layer is trained
    heldout_tokens: int = 100_000
    masking_rate: float = 0.15
    optimizer: str = "adamw"
    finetune_dropout: float = 0.1
    input_format: str = "segment_pair"  # of the base
    filled: float = 0.97

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


# For the toy world's language, most of which two layers learn within a minute. As in `minibert.toy.pretrain.TOY`: whole
# stories as rows, more masked tokens than the paper's 15 %, Muon.
TOY_SCALE = Scale(
    tokens=320 * 48 * 128,
    vocab_size=0,
    batch_size=48,
    max_length=128,
    learning_rate=5e-3,
    start="random",
    examples=1_000,
    finetune_rate=1e-3,
    heldout_tokens=20_000,
    masking_rate=0.35,
    optimizer="muon",
    finetune_dropout=0.0,
    input_format="doc_sentences",
    filled=0.39,
)


# The same until even the masked model has learned the toy world: ten times the steps, and a longer fine-tuning.
LEARNED_SCALE = replace(TOY_SCALE, tokens=10 * TOY_SCALE.tokens, examples=3_000, epochs=8)


@dataclass(frozen=True)
class Experiment:
    """arms: the base first · tasks: names in `DOWNSTREAM`; each arm is fine-tuned on each, with `whole_runs` only those
    of whole pre-trainings · heldout: whether the arms' held-out losses are comparable · toy: on the toy world's
    language, with predicting determined words as a test."""

    name: str
    title: str
    arms: Mapping[str, Arm]
    tasks: tuple[str, ...] = ("sst2", "mrpc", "ner")
    heldout: bool = True
    toy: bool = False
    whole_runs: bool = False
    scale: Scale = Scale()

    @property
    def base(self) -> Arm:
        return next(iter(self.arms.values()))


MLM_NSP, MLM, LTR = (Pretraining(objective=name) for name in OBJECTIVES)
STORIES = Pretraining(objective="mlm", input_format="doc_sentences")  # the base on the toy world
STORIES_LTR = replace(STORIES, objective="left-to-right")
SIZES = ((2, 128, 2), (1, 64, 1), (1, 128, 2), (2, 128, 1), (4, 128, 2), (4, 256, 4))  # L/H/A, the base first
SPLITS = ((80, 10, 10), (100, 0, 0), (80, 0, 20), (80, 20, 0), (0, 20, 80), (0, 0, 100))  # MASK/SAME/RND in percent
SHARES = (1.0, 0.5, 0.25, 0.125, 0.0625)  # of the steps; the whole run is the base


def _at(name: str, pretraining: Pretraining) -> dict[str, Arm]:
    """Arms for the model after the whole run, after half and after a quarter of it."""
    return {name if at == 1 else f"{name}@{at:g}": Arm(pretraining, at=at) for at in SHARES[:3]}


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "objectives",
            "Objectives (table 5)",
            {
                "mlm+nsp": Arm(MLM_NSP),
                "no-nsp": Arm(MLM),
                "left-to-right": Arm(LTR),
                "left-to-right+bilstm": Arm(LTR, bilstm=True),
            },
        ),
        Experiment(
            "masking",
            "Masking split (table 8)",
            {
                f"{mask}/{same}/{random}": Arm(Pretraining(split=(mask / 100, random / 100, same / 100)))
                for mask, same, random in SPLITS
            },
            tasks=("sst2", "ner", "ner_features"),
            heldout=False,  # the loss depends on the split
        ),
        Experiment(
            "size",
            "Model size (table 6)",
            {
                f"{layers}/{hidden}/{heads}": Arm(Pretraining(layers=layers, hidden=hidden, heads=heads))
                for layers, hidden, heads in SIZES
            },
        ),
        Experiment(
            "steps",
            "Training steps (figure 5)",
            {
                f"{name}@{share:g}": Arm(pretraining, at=share)
                for name, pretraining in (("mlm", MLM_NSP), ("left-to-right", LTR))
                for share in SHARES
            },
            tasks=("sst2", "ner"),
        ),
        Experiment(
            "formats",
            "Input formats (Liu et al. 2019, table 2)",
            {
                "segment-pair+nsp": Arm(MLM_NSP),
                "sentence-pair+nsp": Arm(Pretraining(input_format="sentence_pair")),
                "full-sentences": Arm(Pretraining(objective="mlm", input_format="full_sentences")),
                "doc-sentences": Arm(Pretraining(objective="mlm", input_format="doc_sentences")),
            },
            heldout=False,  # the loss depends on the format
        ),
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
                "segment-pair+nsp": Arm(MLM_NSP),
            },
            tasks=("meant", "meant_features"),
            toy=True,
            scale=TOY_SCALE,
        ),
        Experiment(
            "which-side",
            "Masked or left to right (table 5, figure 5), on the toy world until it is learned",
            {
                "mlm": Arm(STORIES),
                **{f"mlm@{share:g}": Arm(STORIES, at=share) for share in SHARES[1:4]},
                "left-to-right": Arm(STORIES_LTR),
                "left-to-right+bilstm": Arm(STORIES_LTR, bilstm=True),
                # 0.375: asked for as many words as the masked model, of which 35 % are hidden, in the whole run
                **{f"left-to-right@{share:g}": Arm(STORIES_LTR, at=share) for share in (0.5, 0.375, 0.25, 0.125)},
            },
            tasks=("meant",),
            heldout=False,  # masked and next tokens differ
            toy=True,
            whole_runs=True,
            scale=LEARNED_SCALE,
        ),
    )
}


def experiment_named(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
