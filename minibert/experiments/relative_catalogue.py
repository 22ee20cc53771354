"""The experiments that compare relatives with BERT: arms, and a scale, the same for all of them. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

REQUIRED = {
    "experiment",
    "arm",
    "seed",
    "metrics",
    "pretraining",
    "scale",
    "steps",
    "tokens",
    "parameters",
    "curve",
    "seconds",
    "data",
    "command",
    "machine",
}


@dataclass(frozen=True)
class RelativeArm:
    """A model to pre-train on stories. relative: its model_type · options: further arguments of its objective · sizes:
    fields of its config that differ · start: how it is initialised, by default from counts of the text."""

    relative: str = "bert"
    options: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, int | str] = field(default_factory=dict)
    start: str = "counts"


@dataclass(frozen=True)
class StoriesScale:
    """Pre-training of all arms on the same rows of stories, so that they read equally many tokens. masked: share of
    masked tokens."""

    steps: int = 400
    batch_size: int = 16
    masked: float = 0.15
    learning_rate: float = 5e-3
    stories: int = 3_000


@dataclass(frozen=True)
class RelativeScale(StoriesScale):
    """The models are then fine-tuned on pronouns. train, test: stories for fine-tuning and evaluation."""

    train: int = 800
    test: int = 200
    epochs: int = 10
    finetune_rate: float = 1e-3


@dataclass(frozen=True)
class LengthScale(StoriesScale):
    """Trained on short rows, evaluated on longer ones, and not fine-tuned. max_length: of the rows in pre-training ·
    lengths: of the rows in evaluation."""

    steps: int = 2_400
    batch_size: int = 32
    masked: float = 0.35
    max_length: int = 32
    lengths: tuple[int, ...] = (32, 64, 128, 256)


@dataclass(frozen=True)
class JointScale(LengthScale):
    """Evaluated on words that go together, in single sentences. groups: number of such groups of words."""

    steps: int = 700
    masked: float = 0.25
    lengths: tuple[int, ...] = (32,)
    groups: int = 200


@dataclass(frozen=True)
class WritingScale(StoriesScale):
    """Each arm is evaluated on continuing stories, and trained for `answer_steps` to answer questions in sentences; no
    other fine-tuning. max_length: of the rows in pre-training."""

    steps: int = 600
    batch_size: int = 32
    masked: float = 0.25
    max_length: int = 40
    answer_steps: int = 400


@dataclass(frozen=True)
class NamesScale(RelativeScale):
    """A BERT, `begins_with`, is trained further before it is fine-tuned; an arm's options are fields of
    `toy.names_task.NamesSettings`. held_out: stories for evaluation in between."""

    steps: int = 1_000
    batch_size: int = 48
    learning_rate: float = 3e-3
    begins_with: str = "checkpoints/recurrent-toy/bert"
    held_out: int = 150


# Other trainings. begins_with: the model from which all arms start, a folder in the project.


@dataclass(frozen=True)
class CorrectingScale:
    """Arms are trained for `steps` to correct misspellings. measured: pairs of sentences for evaluation."""

    steps: int = 250
    batch_size: int = 32
    learning_rate: float = 1e-3
    stories: int = 3_000
    begins_with: str = "checkpoints/unilm-toy/bert"
    measured: int = 300


@dataclass(frozen=True)
class ChineseCorrectingScale:
    """Questions of LCQMC, misspelled by a table of characters that sound or look alike. alike: the table's file in the
    project."""

    steps: int = 400
    batch_size: int = 32
    learning_rate: float = 1e-3
    begins_with: str = "checkpoints/mini-zh"
    alike: str = "lessons/to_write/alike.zh.tsv"
    measured: int = 300


@dataclass(frozen=True)
class ContinualScale:
    """Four tasks, each step a batch of one of them; all arms have equally many batches of each. asked: rows of each
    task for evaluation."""

    steps: int = 800
    batch_size: int = 32
    learning_rate: float = 2e-3
    stories: int = 3_000
    asked: int = 480


@dataclass(frozen=True)
class VectorScale:
    """An arm's options are fields of `sentence_vectors.run.VectorSettings`, and pairs: the NLI pairs to train on;
    without an objective it is not trained."""

    steps: int = 200
    batch_size: int = 64
    learning_rate: float = 3e-4
    temperature: float = 0.1
    begins_with: str = "checkpoints/mini-en"


@dataclass(frozen=True)
class ConeScale:
    """The encoder of every arm is frozen. An arm's options: layers, which are averaged; dimensions kept in whitening,
    None for all; flow: train one for `steps`; model, if not `begins_with`. depth, hidden: of the flow."""

    steps: int = 400
    batch_size: int = 128
    learning_rate: float = 1e-3
    begins_with: str = "checkpoints/mini-en"
    depth: int = 4
    hidden: int = 256


@dataclass(frozen=True)
class SimBertScale:
    """An arm's options are fields of `sentence_vectors.simbert.SimBertSettings`; without any it is not trained. asked,
    written: pairs to evaluate finding and writing on."""

    steps: int = 300
    batch_size: int = 32
    learning_rate: float = 5e-4
    asked: int = 1_000
    written: int = 150
    begins_with: str = "checkpoints/mini-zh"


@dataclass(frozen=True)
class DialogueScale:
    """ATIS and SNIPS, each trained on separately; an arm's options are fields of `diet.run.DietSettings`, without any
    it is BERT with a joint head. examples: for training, evenly spread, of each data set · measured: test examples, at
    most · begins_with: the encoder of both · batch_size: of the joint head, and of DIET's first epoch · batch_last: of
    DIET's last · finetune_rate: of the joint head."""

    examples: int = 1_500
    measured: int = 700
    epochs: int = 6
    batch_size: int = 32
    batch_last: int = 64
    learning_rate: float = 1e-3
    finetune_rate: float = 3e-4
    begins_with: str = "checkpoints/mini-en"


@dataclass(frozen=True)
class FewLabelsScale:
    """Each arm learns from a few labelled texts of SST-2 (`begins_with`), or of ChnSentiCorp if its name begins with
    "zh" (`begins_with_zh`); each seed draws other texts. labels: how many, one training each · measured: texts for
    evaluation, at most · unlabelled: texts for VAT. An arm's options: task, steps, rate, and fine-tuning settings;
    without a task it is not trained."""

    batch_size: int = 8
    begins_with: str = "checkpoints/minilm-en"
    begins_with_zh: str = "checkpoints/mini-zh"
    labels: tuple[int, ...] = (8, 32, 100)
    measured: int = 200
    unlabelled: int = 400
    max_length: int = 48


@dataclass(frozen=True)
class DistillationScale:
    """A teacher starts from the project's folder `teacher` and is fine-tuned on `labelled` sentences; all students
    start from `begins_with` and read equally many rows, those of `epochs` over the labelled and the unlabelled
    sentences. An arm's options are fields of `finetune.distillation.Distillation`, and `more`: whether the unlabelled
    sentences are read too, `times`: a factor of their number, and `epochs`; with the last two alone there is no
    teacher."""

    batch_size: int = 32
    learning_rate: float = 3e-4
    begins_with: str = "checkpoints/mini-en"
    teacher: str = "checkpoints/minilm-en"
    teacher_rate: float = 1e-4
    teacher_epochs: int = 5
    labelled: int = 2_000
    unlabelled: int = 8_000
    epochs: int = 2


@dataclass(frozen=True)
class PruningScale:
    """For each seed one model is fine-tuned on `labelled` sentences, pruned as the arm says, and trained further on the
    first `again` of them. An arm's options are fields of `pruning.run.Pruning`."""

    batch_size: int = 32
    learning_rate: float = 3e-4
    begins_with: str = "checkpoints/mini-en"
    labelled: int = 6_000
    epochs: int = 2
    again: int = 2_000
    again_rate: float = 1e-4


@dataclass(frozen=True)
class SearchScale(PruningScale):
    """For each seed one network is trained on `labelled` sentences as all its parts; what is cut out of it is trained
    further on the first `again`. share: the budget, in milliseconds of the whole network · trained_alone: parts that
    are also trained alone, on `again` sentences, to compare their order with that of inherited weights."""

    share: float = 0.5
    trained_alone: int = 8


@dataclass(frozen=True)
class BatchScale:
    """From random weights. An arm's options are fields of `toy.large_batches.BatchSettings`: rows per batch and
    optimizer. rows_read: by every arm, in as many steps as that takes."""

    stories: int = 6_000
    rows_read: int = 65_536


@dataclass(frozen=True)
class MemoryScale:
    """Trained for `steps` on two rows of 16 tokens at a time; an arm's options are fields of
    `toy.segments.SegmentSettings`. test: stories for evaluation."""

    steps: int = 400
    batch_size: int = 32
    masked: float = 0.25
    learning_rate: float = 2e-3
    stories: int = 3_000
    begins_with: str = "checkpoints/xlnet-toy/xlnet"
    test: int = 300


@dataclass(frozen=True)
class RolesScale:
    """told: numbers of stories to train pronoun resolution on, one training each · test: stories for evaluation."""

    steps: int = 150
    batch_size: int = 16
    begins_with: str = "checkpoints/unilm-toy/bert"
    told: tuple[int, ...] = (20, 60, 600)
    test: int = 150


@dataclass(frozen=True)
class EntitiesScale:
    """The vectors of names in `begins_with` are set to random."""

    steps: int = 400
    batch_size: int = 16
    masked: float = 0.25
    learning_rate: float = 2e-3
    stories: int = 1_500
    test: int = 100
    begins_with: str = "checkpoints/unilm-toy/bert"


@dataclass(frozen=True)
class RelativeExperiment:
    """arms: BERT first if it is among them; each a `RelativeArm`, or options of which its scale tells · scale: the same
    for every arm · pairs: stories are read as pairs of segments, each arm with its own objective on pairs; afterwards
    all are evaluated on next sentences and on sentence order · spans: also evaluated on predicting three masked words
    in a row, and on correcting wrong words · needs: folders of real data, in the folder `needs_in`."""

    name: str
    title: str
    arms: Mapping[str, Any]
    scale: Any = RelativeScale()
    pairs: bool = False
    spans: bool = False
    needs: tuple[str, ...] = ()
    needs_in: str = "tasks/en"


NARROW = {"hidden_size": 64, "intermediate_size": 256}


def _albert(shared: str = "all", width: int = 32, second: str | None = "sop") -> RelativeArm:
    sizes: dict[str, int | str] = {"num_hidden_layers": 3, "embedding_size": width, "shared": shared}
    return RelativeArm("albert", {"second": second}, sizes)


MINILM = "checkpoints/minilm-en"


def _whitened(layers: str, dimensions: int | None = None, **more: str) -> dict:
    return {"layers": layers, "dimensions": dimensions, **more}


def _inferred(objective: str, pairs: str, steps: int = 50, rate: float = 1e-4, **more: bool) -> dict:
    """Sentence vectors from NLI pairs. SimCSE's steps and rates were the best of a few tried on STS-B's dev pairs,
    within 0.2 points; softmax never rose above its start."""
    settings = {"steps": steps, "learning_rate": rate, "temperature": 0.05}
    return {"objective": objective, "pairs": pairs, **settings, **more}


FEW_LABELS: dict[str, dict[str, Any]] = {
    "head": {"task": "classification", "steps": 60, "rate": 1e-4},
    "zero-shot": {},
    "pet": {"task": "cloze", "steps": 40, "rate": 3e-5},
    "p-tuning": {"task": "cloze", "steps": 60, "rate": 5e-3, "prompt": "lstm", "freeze": "all", "dropout": 0.0},
    "vat": {"task": "classification", "steps": 40, "rate": 1e-4, "vat_weight": 1.0, "beside_size": 8},
}

RELATIVE_EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        RelativeExperiment(
            "electra",
            "ELECTRA and its ablations (Clark et al. 2020, table 5), on the toy world",
            {
                "bert": RelativeArm(),
                "electra": RelativeArm("electra"),
                "electra-15": RelativeArm("electra", {"variant": "electra_15"}),
                "replace-mlm": RelativeArm("electra", {"variant": "replace_mlm"}),
                "all-tokens-mlm": RelativeArm("electra", {"variant": "all_tokens_mlm"}),
            },
        ),
        RelativeExperiment(
            "albert",
            "ALBERT: what is shared, and what is asked of pairs (Lan et al. 2020, tables 4 and 5), on the toy world",
            {
                "bert": RelativeArm(sizes={"num_hidden_layers": 3}),
                "all": _albert(),
                "none": _albert("none"),
                "attention": _albert("attention"),
                "feed-forward": _albert("feed_forward"),
                "nsp": _albert(second="nsp"),
                "mlm": _albert(second=None),
                "all-wide": _albert(width=128),
                "none-wide": _albert("none", 128),
                "attention-wide": _albert("attention", 128),
                "feed-forward-wide": _albert("feed_forward", 128),
            },
            RelativeScale(steps=500, train=400, epochs=6),
            pairs=True,
        ),
        RelativeExperiment(
            "nezha",
            "Read further than one was trained (Wei et al. 2019, §2.2), on the toy world",
            {
                "learned": RelativeArm(start="words"),
                "sinusoid": RelativeArm(start="sinusoids"),
                "nezha": RelativeArm("nezha", start="words"),
                "nezha-16": RelativeArm("nezha", sizes={"max_relative_position": 16}, start="words"),
            },
            LengthScale(),
        ),
        RelativeExperiment(
            "xlnet",
            "Words that go together, all of them hidden (Yang et al. 2019, §2.6), on the toy world",
            {
                "bert": RelativeArm(sizes=NARROW),
                "xlnet": RelativeArm("xlnet", {"share": JointScale.masked}, NARROW),
                "xlnet-code": RelativeArm("xlnet", {"share": JointScale.masked, "context": "all"}, NARROW),
                "xlnet-spans": RelativeArm("xlnet", {"share": JointScale.masked, "spans": True}, NARROW),
            },
            JointScale(),
        ),
        RelativeExperiment(
            "what_to_hide",
            "What is hidden: pieces, phrases and names, spans, n-grams, similar words, on the toy world",
            {
                "bert": RelativeArm(),
                "ernie": RelativeArm("ernie", {"second": None, "phrases_from": 100, "entities_from": 200}),
                "spans": RelativeArm("spanbert", {"boundary": False}),
                "spanbert": RelativeArm("spanbert"),
                "n-grams": RelativeArm("macbert", {"second": None, "similar": False}),
                "macbert": RelativeArm("macbert", {"second": None}),
            },
            RelativeScale(steps=2_400, masked=0.35, epochs=8),
            spans=True,
        ),
        RelativeExperiment(
            "wklm",
            "Names replaced by others of their kind, and found (Xiong et al. 2020): a BERT goes on, on the toy world",
            {name: {"goes_on": name} for name in ("bert", "wklm", "names_too")},
            NamesScale(),
        ),
        RelativeExperiment(
            "sembert",
            "Whom pronouns mean, with role labels and without (Zhang et al. 2020, §3), on the toy world",
            {
                "bert": {"roles": False},
                "sembert": {"roles": True},
                "shuffled": {"roles": True, "shuffled": True},
            },
            RolesScale(),
        ),
        RelativeExperiment(
            "ernie_thu",
            "People never read of, known from a graph alone (Zhang et al. 2019, §3.3 and §3.4), on the toy world",
            {
                "words": {"told": "nothing"},
                "ernie": {"told": "all"},
                "no-naming": {"told": "no_naming"},
                "words-trained": {"told": "nothing", "frozen": False},
                "ernie-trained": {"told": "all", "frozen": False},
            },
            EntitiesScale(),
        ),
        RelativeExperiment(
            "to_write",
            "UniLM writes what BERT cannot, and reads as BERT does (Dong et al. 2019), on the toy world",
            {
                "bert": RelativeArm(sizes=NARROW),
                "unilm": RelativeArm("unilm", sizes=NARROW),
                "left-to-right": RelativeArm("left_to_right", sizes=NARROW),
            },
            WritingScale(),
        ),
        RelativeExperiment(
            "corrector",
            "A corrector with and without a detector (Zhang et al. 2020), on misspelled stories of the toy world",
            {name: {} for name in ("pretrained", "plain", "soft_masked")},
            CorrectingScale(),
        ),
        RelativeExperiment(
            "corrector_zh",
            "A corrector with and without a detector (Zhang et al. 2020), on misspelled Chinese questions",
            {name: {} for name in ("pretrained", "plain", "soft_masked")},
            ChineseCorrectingScale(),
            needs=("lcqmc",),
            needs_in="tasks/zh",
        ),
        RelativeExperiment(
            "ernie2",
            "Tasks added one after the other, and old ones kept up (Sun et al. 2020, §3), on the toy world",
            {name: {"regime": name} for name in ("continual", "one_by_one", "together")},
            ContinualScale(),
        ),
        RelativeExperiment(
            "sentence_vectors",
            "Cosines of sentence vectors against people's scores (Reimers and Gurevych 2019, Gao et al. 2021): STS-B",
            {
                "mean": {"pooling": "mean"},
                "cls": {"pooling": "cls"},
                "max": {"pooling": "max"},
                "simcse": {"objective": "simcse"},
                "simcse-no-dropout": {"objective": "simcse", "dropout": 0.0},
                "simcse-gentle": {"objective": "simcse", "steps": 100, "learning_rate": 3e-5, "temperature": 0.05},
                "cosine": {"objective": "cosine"},
                "supervised-rte": _inferred("simcse-supervised", "rte"),
                "supervised-hans": _inferred("simcse-supervised", "hans", steps=100),
                "supervised-own": _inferred("simcse-supervised", "own"),
                "supervised-own-easy": _inferred("simcse-supervised", "own", hard=False),
                "supervised-rte-own": _inferred("simcse-supervised", "rte+own", steps=25, rate=3e-4),
                "softmax-rte": _inferred("softmax", "rte"),
                "softmax-hans": _inferred("softmax", "hans"),
                "softmax-own": _inferred("softmax", "own"),
            },
            VectorScale(),
            needs=("stsb", "rte", "hans"),
        ),
        RelativeExperiment(
            "cone",
            "Vectors taken out of their cone: BERT-flow (Li et al. 2020), whitening (Su et al. 2021), on STS-B",
            {
                "mean": {"layers": "last"},
                "first-last": {"layers": "first-last"},
                "whitened": _whitened("first-last"),
                "whitened-128": _whitened("first-last", 128),
                "whitened-85": _whitened("first-last", 85),
                "whitened-64": _whitened("first-last", 64),
                "flow": {"layers": "first-last", "flow": True},
                "mean-whitened": _whitened("last"),
                "mean-flow": {"layers": "last", "flow": True},
                "embeddings": {"layers": "embeddings"},
                "embeddings-whitened": _whitened("embeddings"),
                "embeddings-flow": {"layers": "embeddings", "flow": True},
                "minilm": {"layers": "last", "model": MINILM},
                "minilm-whitened": _whitened("last", model=MINILM),
                "minilm-whitened-128": _whitened("last", 128, model=MINILM),
                "minilm-flow": {"layers": "last", "flow": True, "model": MINILM},
            },
            ConeScale(),
            needs=("stsb",),
        ),
        RelativeExperiment(
            "simbert",
            "One network that finds and writes what asks the same (Su 2020), its two losses alone and together: LCQMC",
            {
                "as-is": {},
                "finds": {"finds": True, "writes": False},
                "writes": {"finds": False, "writes": True},
                "both": {"finds": True, "writes": True},
            },
            SimBertScale(),
            needs=("lcqmc",),
            needs_in="tasks/zh",
        ),
        RelativeExperiment(
            "dialogue",
            "DIET and BERT with a joint head (Bunk et al. 2020, Chen et al. 2019), on ATIS and SNIPS",
            {
                "joint": {},
                "both": {"features": "both"},
                "sparse": {"features": "sparse"},
                "dense": {"features": "dense"},
                "both-no-mask": {"features": "both", "mask_loss": False},
                "sparse-no-mask": {"features": "sparse", "mask_loss": False},
            },
            DialogueScale(),
            needs=("atis", "snips"),
        ),
        RelativeExperiment(
            "few_labels",
            "A head or a cloze for 8, 32, 100 labels (Schick and Schütze 2021, Liu et al. 2021, Miyato et al. 2016)",
            {f"{language}{name}": options for language in ("", "zh-") for name, options in FEW_LABELS.items()},
            FewLabelsScale(),
            needs=("en/sst2", "zh/chnsenticorp"),
            needs_in="tasks",
        ),
        RelativeExperiment(
            "smaller",
            "A small model learns from a large one (Sanh et al. 2019, Jiao et al. 2020, Wang et al. 2020): SST-2",
            {
                "alone": {},
                "teacher": {},
                "same": {"soft": 1.0, "more": False},
                "labels": {"soft": 0.0, "labels": 1.0},
                "soft": {"soft": 1.0},
                "tinybert": {"attention": 1.0, "hidden": 1.0, "embeddings": 1.0},
                "no-attention": {"hidden": 1.0, "embeddings": 1.0},
                "no-hidden": {"attention": 1.0, "embeddings": 1.0},
                "minilm": {"attention_relation": 1.0, "value_relation": 1.0},
                "alone-long": {"times": 7.5, "epochs": 1},
                "many": {"soft": 1.0, "times": 7.5, "epochs": 1},
            },
            DistillationScale(),
            needs=("sst2",),
        ),
        RelativeExperiment(
            "pruning",
            "What can be cut away: heads, neurons, layers, single weights (Michel et al. 2019, Han et al. 2015): SST-2",
            {
                "full": {"share": 0.0},
                **{
                    f"{what}-{percent}": {"what": what, "share": percent / 100}
                    for what in ("heads", "neurons", "layers", "weights")
                    for percent in (25, 50, 75)
                },
            },
            PruningScale(),
            needs=("sst2",),
        ),
        RelativeExperiment(
            "search",
            "One network learns to be its parts, and the best of them is cut out (Yin et al. 2021): SST-2",
            {name: {} for name in ("whole", "super", "found", "drawn", "alone")},
            SearchScale(),
            needs=("sst2",),
        ),
        RelativeExperiment(
            "lamb",
            "LAMB and AdamW as the batch grows (You et al. 2020, §4.1), on the toy world",
            {
                **{
                    f"{optimizer}-{rows}": {"optimizer": optimizer, "rows": rows}
                    for rows in (32, 128, 256, 512)
                    for optimizer in ("adamw", "lamb")
                },
                "adamw-512-searched": {"optimizer": "adamw", "rows": 512, "rate": 8e-3},
                "lamb-512-searched": {"optimizer": "lamb", "rows": 512, "rate": 4e-2},
            },
            BatchScale(),
        ),
        RelativeExperiment(
            "xlnet_memory",
            "The row before in the memory, or not (Dai et al. 2019, §3.2), on the toy world",
            {"alone": {"memory": False}, "memory": {"memory": True}},
            MemoryScale(),
        ),
    )
}
