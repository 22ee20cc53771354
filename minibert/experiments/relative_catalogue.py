"""Which experiments hold a relative against BERT: arms, and a scale that is the same for all. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

REQUIRED = {
    "experiment", "arm", "seed", "metrics", "pretraining", "scale", "steps", "tokens", "parameters", "curve", "seconds",
    "data", "command", "machine",
}  # fmt: skip


@dataclass(frozen=True)
class RelativeArm:
    """What is pre-trained. relative: its model_type · options: what else its objective is told · sizes: fields of its
    config that differ · start: what is known before the first step, if not what the text's counts tell."""

    relative: str = "bert"
    options: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, int | str] = field(default_factory=dict)
    start: str = "counts"


@dataclass(frozen=True)
class RelativeScale:
    """The same for every arm. steps, batch_size: of pre-training, on the same rows, so that all read as many tokens ·
    masked: share of the tokens that is hidden · train, test: stories to fine-tune and to measure on."""

    steps: int = 400
    batch_size: int = 16
    masked: float = 0.15
    learning_rate: float = 5e-3
    stories: int = 3_000
    train: int = 800
    test: int = 200
    epochs: int = 10
    finetune_rate: float = 1e-3
    needs: ClassVar[tuple[str, ...]] = ()  # folders of real data …
    needs_in: ClassVar[tuple[str, ...]] = ("tasks", "en")  # … in this one


@dataclass(frozen=True)
class LengthScale(RelativeScale):
    """Trained on short rows, asked in longer ones, and not fine-tuned. max_length: of the rows of pre-training ·
    lengths: of those that are asked."""

    steps: int = 600
    batch_size: int = 32
    max_length: int = 32
    lengths: tuple[int, ...] = (32, 64, 128, 256)


@dataclass(frozen=True)
class JointScale(LengthScale):
    """Asked for words that go together, in sentences by themselves. groups: of such words."""

    steps: int = 700
    masked: float = 0.25
    lengths: tuple[int, ...] = (32,)
    groups: int = 200


@dataclass(frozen=True)
class WritingScale(RelativeScale):
    """Each arm is asked to go on with stories, and learns for `answer_steps` to answer questions in sentences; nothing
    else. max_length: of the rows of pre-training."""

    steps: int = 600
    batch_size: int = 32
    masked: float = 0.25
    max_length: int = 40
    answer_steps: int = 400


@dataclass(frozen=True)
class CorrectingScale(RelativeScale):
    """Nothing is pre-trained: all arms begin with the BERT in the folder `begins_with` of the project, and learn for
    `steps` to mend misspellings. measured: pairs of sentences."""

    steps: int = 250
    batch_size: int = 32
    learning_rate: float = 1e-3
    begins_with: str = "checkpoints/unilm-toy/bert"
    measured: int = 300


@dataclass(frozen=True)
class ChineseCorrectingScale(CorrectingScale):
    """Questions of LCQMC, misspelled by a table of characters that sound or look alike. alike: the table's file in the
    project. `stories` is of no use here."""

    steps: int = 400
    begins_with: str = "checkpoints/mini-zh"
    alike: str = "lessons/to_write/alike.zh.tsv"
    needs: ClassVar[tuple[str, ...]] = ("lcqmc",)
    needs_in: ClassVar[tuple[str, ...]] = ("tasks", "zh")


@dataclass(frozen=True)
class ContinualScale(RelativeScale):
    """Four tasks, a batch of one of them a step, in each arm as many batches of each. asked: rows of each task that are
    measured on. Nothing is fine-tuned."""

    steps: int = 800
    batch_size: int = 32
    masked: float = 0.25
    learning_rate: float = 2e-3
    asked: int = 480


@dataclass(frozen=True)
class VectorScale(RelativeScale):
    """Nothing is pre-trained: all arms begin with the BERT in the folder `begins_with` of the project. An arm's options
    are those of `sentence_vectors.run.VectorSettings`; without an objective it learns nothing. pairs: of inference,
    from which it learns. Needs STS-B, RTE and HANS."""

    steps: int = 200
    batch_size: int = 64
    learning_rate: float = 3e-4
    temperature: float = 0.1
    begins_with: str = "checkpoints/mini-en"
    needs: ClassVar[tuple[str, ...]] = ("stsb", "rte", "hans")


@dataclass(frozen=True)
class ConeScale(VectorScale):
    """The encoder of every arm is frozen. An arm's options: layers, whose mean is taken; dimensions kept in whitening,
    None being all; flow: one is learned for `steps`; model, where it is another than `begins_with`. depth, hidden: of
    the flow. Needs STS-B."""

    steps: int = 400
    batch_size: int = 128
    learning_rate: float = 1e-3
    depth: int = 4
    hidden: int = 256
    needs: ClassVar[tuple[str, ...]] = ("stsb",)


@dataclass(frozen=True)
class SimBertScale(RelativeScale):
    """Nothing is pre-trained: all arms begin with the BERT in the folder `begins_with` of the project. An arm's options
    are those of `sentence_vectors.simbert.SimBertSettings`; without any it learns nothing. asked, written: pairs that
    are measured on. Needs LCQMC."""

    steps: int = 300
    batch_size: int = 32
    learning_rate: float = 5e-4
    asked: int = 1_000
    written: int = 150
    begins_with: str = "checkpoints/mini-zh"
    needs: ClassVar[tuple[str, ...]] = ("lcqmc",)
    needs_in: ClassVar[tuple[str, ...]] = ("tasks", "zh")


@dataclass(frozen=True)
class DialogueScale(RelativeScale):
    """Nothing is pre-trained. Requests of ATIS and of SNIPS, each learned by itself; an arm's options are those of
    `diet.run.DietSettings`, without any it is BERT with a joint head. examples: evenly spread, to learn from, of each
    set · measured: of the test set, at most · begins_with: the encoder of both · batch_size: of the joint head, and of
    DIET's first epoch; batch_last: of its last."""

    examples: int = 1_500
    measured: int = 700
    epochs: int = 6
    batch_size: int = 32
    batch_last: int = 64
    learning_rate: float = 1e-3
    finetune_rate: float = 3e-4
    begins_with: str = "checkpoints/mini-en"
    needs: ClassVar[tuple[str, ...]] = ("atis", "snips")


@dataclass(frozen=True)
class FewLabelsScale(RelativeScale):
    """Nothing is pre-trained: each arm learns from a few labelled texts of SST-2 (`begins_with`), or of ChnSentiCorp
    where its name begins with "zh" (`begins_with_zh`), other texts with each seed. labels: how many, in turn ·
    measured: texts that are measured on, at most · unlabelled: texts that VAT reads beside. An arm's options: task,
    steps, rate, and settings of the fine-tuning; without a task it learns nothing."""

    batch_size: int = 8
    begins_with: str = "checkpoints/minilm-en"
    begins_with_zh: str = "checkpoints/mini-zh"
    labels: list[int] = field(default_factory=lambda: [8, 32, 100])
    measured: int = 200
    unlabelled: int = 400
    max_length: int = 48
    needs: ClassVar[tuple[str, ...]] = ("en/sst2", "zh/chnsenticorp")
    needs_in: ClassVar[tuple[str, ...]] = ("tasks",)


@dataclass(frozen=True)
class DistillationScale(RelativeScale):
    """Nothing is pre-trained: a teacher begins with one folder of the project and learns from `labelled` sentences, a
    student with another and reads as many rows as every other, those of `epochs` over the labelled and the unlabelled.
    An arm's options are those of `distillation.settings.Distillation`, `more`: whether the unlabelled sentences are
    read, too, `times`: how many times as many of them there are, and `epochs`; without one of the former no teacher is
    asked. Needs SST-2."""

    batch_size: int = 32
    learning_rate: float = 3e-4
    begins_with: str = "checkpoints/mini-en"
    teacher: str = "checkpoints/minilm-en"
    teacher_rate: float = 1e-4
    teacher_epochs: int = 5
    labelled: int = 2_000
    unlabelled: int = 8_000
    epochs: int = 2
    needs: ClassVar[tuple[str, ...]] = ("sst2",)


@dataclass(frozen=True)
class PruningScale(RelativeScale):
    """Nothing is pre-trained: one model a seed learns from `labelled` sentences, is cut as the arm says, and learns on
    from the first `again` of them. An arm's options are those of `pruning.run.Pruning`. Needs SST-2."""

    batch_size: int = 32
    learning_rate: float = 3e-4
    begins_with: str = "checkpoints/mini-en"
    labelled: int = 6_000
    epochs: int = 2
    again: int = 2_000
    again_rate: float = 1e-4
    needs: ClassVar[tuple[str, ...]] = ("sst2",)


@dataclass(frozen=True)
class SearchScale(PruningScale):
    """One network a seed learns from `labelled` sentences to be its parts; what is cut out of it learns on from the
    first `again`. share: of the whole network's milliseconds, which is the budget · trained_alone: parts that also
    learn on their own, from `again` sentences, to see whether they come in the order of inherited weights."""

    share: float = 0.5
    trained_alone: int = 8


@dataclass(frozen=True)
class BatchScale(RelativeScale):
    """An arm's options are those of `toy.large_batches.BatchSettings`: rows of a batch, whose steps. Nothing is
    fine-tuned. rows_read: by every arm, in as many steps as that takes; steps: in batches of 32."""

    steps: int = 2_048
    batch_size: int = 32
    masked: float = 0.25
    stories: int = 6_000
    rows_read: int = 65_536


@dataclass(frozen=True)
class MemoryScale(RelativeScale):
    """All arms begin with the XLNet in the folder `begins_with` of the project, and go on for `steps` on two rows of 16
    tokens at a time; an arm's options are those of `toy.segments.SegmentSettings`. test: stories to measure on."""

    steps: int = 400
    batch_size: int = 32
    masked: float = 0.25
    learning_rate: float = 2e-3
    begins_with: str = "checkpoints/xlnet-toy/xlnet"
    test: int = 300


@dataclass(frozen=True)
class NamesScale(RelativeScale):
    """All arms begin with the BERT in the folder `begins_with` of the project, and go on for `steps`; an arm's options
    are those of `toy.names_task.NamesSettings`. held_out: stories to measure on; all are fine-tuned afterwards."""

    steps: int = 1_000
    batch_size: int = 48
    learning_rate: float = 3e-3
    begins_with: str = "checkpoints/recurrent-toy/bert"
    held_out: int = 150


@dataclass(frozen=True)
class RolesScale(RelativeScale):
    """Nothing is pre-trained: all arms begin with the BERT in the folder `begins_with` of the project. told: of how
    many stories they learn whom the pronouns mean, in turn · test: stories to measure on."""

    steps: int = 150
    learning_rate: float = 1e-3
    begins_with: str = "checkpoints/unilm-toy/bert"
    told: list[int] = field(default_factory=lambda: [20, 60, 600])
    test: int = 150


@dataclass(frozen=True)
class EntitiesScale(RelativeScale):
    """All arms begin with the BERT in the folder `begins_with` of the project, which forgets all names."""

    steps: int = 400
    masked: float = 0.25
    learning_rate: float = 2e-3
    stories: int = 1_500
    test: int = 100
    begins_with: str = "checkpoints/unilm-toy/bert"


@dataclass(frozen=True)
class RelativeExperiment:
    """Arms, the first of which is BERT, where it is one of them. pairs: the stories are read in pairs of segments,
    about which each arm is asked what its objective asks; afterwards all are asked both for the next sentence and for
    the order · measured: what (folder of the model, scale) → metrics is asked in the place of a fine-tuning,
    "module:function" · spans: three hidden words in a row are guessed, and words put right that stand where others
    should."""

    name: str
    title: str
    arms: Mapping[str, RelativeArm]
    scale: RelativeScale = RelativeScale()
    pairs: bool = False
    measured: str = ""
    spans: bool = False


NARROW = {"hidden_size": 64, "intermediate_size": 256}


def _albert(shared: str = "all", width: int = 32, second: str | None = "sop") -> RelativeArm:
    sizes = {"num_hidden_layers": 3, "embedding_size": width, "shared": shared}
    return RelativeArm("albert", {"second": second}, sizes)


MINILM = "checkpoints/minilm-en"


def _whitened(layers: str, dimensions: int | None = None, **more: str) -> RelativeArm:
    return RelativeArm(options={"layers": layers, "dimensions": dimensions, **more})


def _inferred(objective: str, pairs: str, steps: int = 50, rate: float = 1e-4, **more: bool) -> RelativeArm:
    """Sentence vectors from pairs of inference. On STS-B's dev pairs SimCSE's steps and rates were the best of a few
    tried, within 0.2 points; classes never rose above where they began."""
    settings = {"steps": steps, "learning_rate": rate, "temperature": 0.05}
    return RelativeArm(options={"objective": objective, "pairs": pairs, **settings, **more})


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
            measured="minibert.inside.joint:recorded",
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
            RelativeScale(steps=300, train=300, epochs=4),
            spans=True,
        ),
        RelativeExperiment(
            "wklm",
            "Names replaced by others of their kind, and found (Xiong et al. 2020): a BERT goes on, on the toy world",
            {name: RelativeArm(options={"goes_on": name}) for name in ("bert", "wklm", "names_too")},
            NamesScale(),
        ),
        RelativeExperiment(
            "sembert",
            "Whom pronouns mean, with role labels and without (Zhang et al. 2020, §3), on the toy world",
            {
                "bert": RelativeArm(options={"roles": False}),
                "sembert": RelativeArm(options={"roles": True}),
                "shuffled": RelativeArm(options={"roles": True, "shuffled": True}),
            },
            RolesScale(),
        ),
        RelativeExperiment(
            "ernie_thu",
            "People never read of, known from a graph alone (Zhang et al. 2019, §3.3 and §3.4), on the toy world",
            {
                "words": RelativeArm(options={"told": "nothing"}),
                "ernie": RelativeArm(options={"told": "all"}),
                "no-naming": RelativeArm(options={"told": "no_naming"}),
                "words-trained": RelativeArm(options={"told": "nothing", "frozen": False}),
                "ernie-trained": RelativeArm(options={"told": "all", "frozen": False}),
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
            {name: RelativeArm() for name in ("pretrained", "plain", "soft_masked")},
            CorrectingScale(),
        ),
        RelativeExperiment(
            "corrector_zh",
            "A corrector with and without a detector (Zhang et al. 2020), on misspelled Chinese questions",
            {name: RelativeArm() for name in ("pretrained", "plain", "soft_masked")},
            ChineseCorrectingScale(),
        ),
        RelativeExperiment(
            "ernie2",
            "Tasks added one after the other, and old ones kept up (Sun et al. 2020, §3), on the toy world",
            {name: RelativeArm("ernie2") for name in ("continual", "one_by_one", "together")},
            ContinualScale(),
        ),
        RelativeExperiment(
            "sentence_vectors",
            "Cosines of sentence vectors against people's scores (Reimers and Gurevych 2019, Gao et al. 2021): STS-B",
            {
                "mean": RelativeArm(options={"pooling": "mean"}),
                "cls": RelativeArm(options={"pooling": "cls"}),
                "max": RelativeArm(options={"pooling": "max"}),
                "simcse": RelativeArm(options={"objective": "simcse"}),
                "simcse-no-dropout": RelativeArm(options={"objective": "simcse", "dropout": 0.0}),
                "simcse-gentle": RelativeArm(
                    options={"objective": "simcse", "steps": 100, "learning_rate": 3e-5, "temperature": 0.05}
                ),
                "cosine": RelativeArm(options={"objective": "cosine"}),
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
        ),
        RelativeExperiment(
            "cone",
            "Vectors taken out of their cone: BERT-flow (Li et al. 2020), whitening (Su et al. 2021), on STS-B",
            {
                "mean": RelativeArm(options={"layers": "last"}),
                "first-last": RelativeArm(options={"layers": "first-last"}),
                "whitened": _whitened("first-last"),
                "whitened-128": _whitened("first-last", 128),
                "whitened-85": _whitened("first-last", 85),
                "whitened-64": _whitened("first-last", 64),
                "flow": RelativeArm(options={"layers": "first-last", "flow": True}),
                "mean-whitened": _whitened("last"),
                "mean-flow": RelativeArm(options={"layers": "last", "flow": True}),
                "embeddings": RelativeArm(options={"layers": "embeddings"}),
                "embeddings-whitened": _whitened("embeddings"),
                "embeddings-flow": RelativeArm(options={"layers": "embeddings", "flow": True}),
                "minilm": RelativeArm(options={"layers": "last", "model": MINILM}),
                "minilm-whitened": _whitened("last", model=MINILM),
                "minilm-whitened-128": _whitened("last", 128, model=MINILM),
                "minilm-flow": RelativeArm(options={"layers": "last", "flow": True, "model": MINILM}),
            },
            ConeScale(),
        ),
        RelativeExperiment(
            "simbert",
            "One network that finds and writes what asks the same (Su 2020), its two losses alone and together: LCQMC",
            {
                "as-is": RelativeArm(),
                "finds": RelativeArm(options={"finds": True, "writes": False}),
                "writes": RelativeArm(options={"finds": False, "writes": True}),
                "both": RelativeArm(options={"finds": True, "writes": True}),
            },
            SimBertScale(),
        ),
        RelativeExperiment(
            "dialogue",
            "DIET and BERT with a joint head (Bunk et al. 2020, Chen et al. 2019), on ATIS and SNIPS",
            {
                "joint": RelativeArm(),
                "both": RelativeArm(options={"features": "both"}),
                "sparse": RelativeArm(options={"features": "sparse"}),
                "dense": RelativeArm(options={"features": "dense"}),
                "both-no-mask": RelativeArm(options={"features": "both", "mask_loss": False}),
                "sparse-no-mask": RelativeArm(options={"features": "sparse", "mask_loss": False}),
            },
            DialogueScale(),
        ),
        RelativeExperiment(
            "few_labels",
            "A head or a cloze for 8, 32, 100 labels (Schick and Schütze 2021, Liu et al. 2021, Miyato et al. 2016)",
            {
                f"{language}{name}": RelativeArm(options=options)
                for language in ("", "zh-")
                for name, options in FEW_LABELS.items()
            },
            FewLabelsScale(),
        ),
        RelativeExperiment(
            "smaller",
            "A small model learns from a large one (Sanh et al. 2019, Jiao et al. 2020, Wang et al. 2020): SST-2",
            {
                "alone": RelativeArm(),
                "teacher": RelativeArm(),
                "same": RelativeArm(options={"soft": 1.0, "more": False}),
                "labels": RelativeArm(options={"soft": 0.0, "labels": 1.0}),
                "soft": RelativeArm(options={"soft": 1.0}),
                "tinybert": RelativeArm(options={"attention": 1.0, "hidden": 1.0, "embeddings": 1.0}),
                "no-attention": RelativeArm(options={"hidden": 1.0, "embeddings": 1.0}),
                "no-hidden": RelativeArm(options={"attention": 1.0, "embeddings": 1.0}),
                "minilm": RelativeArm(options={"attention_relation": 1.0, "value_relation": 1.0}),
                "alone-long": RelativeArm(options={"times": 7.5, "epochs": 1}),
                "many": RelativeArm(options={"soft": 1.0, "times": 7.5, "epochs": 1}),
            },
            DistillationScale(),
        ),
        RelativeExperiment(
            "pruning",
            "What can be cut away: heads, neurons, layers, single weights (Michel et al. 2019, Han et al. 2015): SST-2",
            {
                "full": RelativeArm(options={"share": 0.0}),
                **{
                    f"{what}-{percent}": RelativeArm(options={"what": what, "share": percent / 100})
                    for what in ("heads", "neurons", "layers", "weights")
                    for percent in (25, 50, 75)
                },
            },
            PruningScale(),
        ),
        RelativeExperiment(
            "search",
            "One network learns to be its parts, and the best of them is cut out (Yin et al. 2021): SST-2",
            {name: RelativeArm() for name in ("whole", "super", "found", "drawn", "alone")},
            SearchScale(),
        ),
        RelativeExperiment(
            "lamb",
            "LAMB and AdamW as the batch grows (You et al. 2020, §4.1), on the toy world",
            {
                **{
                    f"{optimizer}-{rows}": RelativeArm(options={"optimizer": optimizer, "rows": rows})
                    for rows in (32, 128, 256, 512)
                    for optimizer in ("adamw", "lamb")
                },
                "adamw-512-searched": RelativeArm(options={"optimizer": "adamw", "rows": 512, "rate": 8e-3}),
                "lamb-512-searched": RelativeArm(options={"optimizer": "lamb", "rows": 512, "rate": 4e-2}),
            },
            BatchScale(),
        ),
        RelativeExperiment(
            "xlnet_memory",
            "The row before in the memory, or not (Dai et al. 2019, §3.2), on the toy world",
            {"alone": RelativeArm("xlnet", {"memory": False}), "memory": RelativeArm("xlnet", {"memory": True})},
            MemoryScale(),
        ),
    )
}
