"""Parameters, FLOPs and memory from a configuration alone: nothing is built, torch is not needed.

Every figure comes from the formula shown beside it: a `CostTerm` holds the text `4·H² + 4·H` and the letters' values,
and its number is that text computed. Letters: B batch · T tokens · L layers · H hidden · A heads · F feed-forward ·
V vocabulary · P positions · S segments · E embedding size where it is not H · M positions the MLM head predicts · Q
size of a span position · N weights, in `memory`.

A relative of BERT says in its `Shape` where it differs, and hands over the rows that only it has.
"""

from __future__ import annotations

import ast
import operator
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from minibert.config import PRESETS, BertConfig
from minibert.text.parsing import undisturbed

MOMENTS = {"adamw": 2, "momentum": 1, "sgd": 0}  # numbers in the optimizer's state per weight
PRECISIONS = ("fp32", "bf16")
ATTENTIONS = ("fused", "explicit")
# What is predicted in pre-training: mlm masked tokens · nsp/sop sentence pairs · sbo masked tokens from the two around
# their span · names "was this name replaced?" · rtd "was this token replaced?" · plm the last tokens of a random order
OBJECTIVES = ("mlm+nsp", "mlm+sop", "mlm", "mlm+sbo", "mlm+names", "rtd", "plm")
# What layers share → the halves of a block that exist only once.
SHARED = {"none": (), "attention": ("attn",), "feed_forward": ("mlp",), "all": ("attn", "mlp")}


@dataclass(frozen=True)
class CostRow:
    """One module in both counts. weights, flops: formulas for one copy, "" for none; with neither, BERT's row of this
    name is removed · after: BERT's row that it follows; "" if it replaces the one of its name · together: the formulas
    are for all layers together."""

    name: str  # where it lives in minibert.model: "block.attn.query" is blocks.{i}.attn.query
    group: str = ""
    weights: str = ""
    flops: str = ""
    after: str = ""
    together: bool = False


NO_POSITIONS = CostRow("embeddings.position")


@dataclass(frozen=True)
class Shape:
    """What counting needs to know of a model of BERT's family: its config, and where it differs from BERT."""

    config: BertConfig
    embedding_size: int | None = None  # E; None: the embeddings are H wide. Else E → H by one projection (ALBERT §3.1)
    shared: str = "none"  # weights that all layers share: a key of SHARED (ALBERT §3.1 and table 4)
    segments: bool = True
    pooler: bool = True
    objective: str = "mlm+nsp"
    own: tuple[CostRow, ...] = ()  # rows in place of BERT's, or after them
    own_letters: tuple[tuple[str, int], ...] = ()  # of these rows

    def __post_init__(self) -> None:
        if self.embedding_size is not None and self.embedding_size < 1:
            raise ValueError(f"embedding_size must be at least 1, not {self.embedding_size}")
        if self.objective not in OBJECTIVES:
            raise ValueError(f"objective must be one of {', '.join(OBJECTIVES)}, not {self.objective!r}")
        if self.shared not in SHARED:
            raise ValueError(f"shared must be one of {', '.join(SHARED)}, not {self.shared!r}")
        if self.sentence_pairs and not self.pooler:
            raise ValueError(f'the objective "{self.objective}" reads the pooler, which this model has not')

    @property
    def factorised(self) -> bool:
        return self.embedding_size is not None

    def copies(self, half: str) -> int:
        """How many separate copies there are of a block's "attn" or "mlp"."""
        return 1 if half in SHARED[self.shared] else self.config.num_hidden_layers

    @property
    def sentence_pairs(self) -> bool:
        return self.objective in ("mlm+nsp", "mlm+sop")

    @property
    def transforms(self) -> bool:
        """Whether the MLM head has a dense layer before its decoder."""
        return self.objective not in ("rtd", "plm")

    @property
    def letters(self) -> dict[str, int]:
        c = self.config
        letters = {"L": c.num_hidden_layers, "H": c.hidden_size, "A": c.num_attention_heads, "F": c.intermediate_size}
        letters |= {"V": c.vocab_size, "P": c.max_position_embeddings, "S": c.type_vocab_size if self.segments else 0}
        letters |= {"Q": getattr(c, "span_position_size", 200)} if self.objective == "mlm+sbo" else {}
        return letters | dict(self.own_letters) | {"E": self.embedding_size or c.hidden_size}


def _albert(layers: int, hidden: int, heads: int) -> Shape:
    config = BertConfig(30000, hidden, layers, heads, 4 * hidden)
    return Shape(config, embedding_size=128, shared="all", objective="mlm+sop")


# name → sizes. Turc et al. 2019 for the small BERTs; the relatives from their papers and published configurations.
FAMILY: dict[str, Shape] = {
    **{f"BERT-{name}": Shape(BertConfig.preset(name)) for name in PRESETS},
    # Positions start after the padding id, hence 514; a single, never-changing segment (Liu et al. 2019).
    "RoBERTa-base": Shape(BertConfig(50265, max_position_embeddings=514, type_vocab_size=1), objective="mlm"),
    "DistilBERT": Shape(BertConfig(num_hidden_layers=6), segments=False, pooler=False, objective="mlm"),
    "ALBERT-base": _albert(12, 768, 12),
    "ALBERT-large": _albert(24, 1024, 16),
    "ALBERT-xlarge": _albert(24, 2048, 16),
    "ALBERT-xxlarge": _albert(12, 4096, 64),
    "ELECTRA-small": Shape(BertConfig(30522, 256, 12, 4, 1024), embedding_size=128, pooler=False, objective="rtd"),
}


SIGNS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow}


def computed(formula: str, letters: Mapping[str, int]) -> int:
    """The number that a formula of numbers, letters, +, -, · and ² gives."""

    def of(node: ast.expr) -> int:
        match node:
            case ast.Name(letter):
                return letters[letter]
            case ast.BinOp(left, sign, right) if type(sign) in SIGNS:
                return SIGNS[type(sign)](of(left), of(right))
            case ast.Constant(int(number)):
                return number
        raise ValueError(f"{formula!r} is no formula")

    written = formula.replace("·", "*").replace("²", "**2")
    return of(undisturbed(partial(ast.parse, mode="eval"), written).body)


@dataclass(frozen=True)
class CostTerm:
    """One term of a count. `formula` is for one copy; `times` copies are counted."""

    name: str
    group: str
    formula: str
    letters: dict[str, int] = field(repr=False)
    times: int = 1
    together: bool = False  # the formula is for all layers together

    @property
    def one(self) -> int:
        return computed(self.formula, self.letters)

    @property
    def total(self) -> int:
        return self.one * self.times

    @property
    def numbers(self) -> str:
        """The formula with the letters' values in their places: `4·768² + 4·768`."""
        return re.sub("[A-Z]", lambda letter: f"{self.letters[letter[0]]:,}", self.formula)


def total(parts: Iterable[CostTerm]) -> int:
    return sum(part.total for part in parts)


def by_group(parts: Iterable[CostTerm]) -> dict[str, int]:
    """Group → total, in the order the groups first appear; groups with total 0 are kept."""
    sums: dict[str, int] = {}
    for part in parts:
        sums[part.group] = sums.get(part.group, 0) + part.total
    return sums


def bert_shape(config: BertConfig | Shape) -> Shape:
    """The Shape of BERT with this config. Raises ValueError for a relative's, which `relatives.shape_of` knows."""
    if isinstance(config, Shape):
        return config
    if config.model_type != "bert":
        raise ValueError(f"{config.model_type} is not counted as BERT is: minibert.relatives.shape_of knows its shape")
    return Shape(config)


# ---------------------------------------------------------------------------------------------------------- rows
def rows_of(r: Shape) -> list[CostRow]:
    """The rows of a model in the order data flows: BERT's (Devlin et al. 2019, §3), with its own in their places."""
    width = "E" if r.factorised else "H"
    bert = [
        CostRow("embeddings", "embeddings", flops="0"),  # a lookup reads, it does not multiply
        CostRow("embeddings.token", "embeddings", f"V·{width}"),
        CostRow("embeddings.position", "embeddings", f"P·{width}"),
        CostRow("embeddings.segment", "embeddings", f"S·{width}" if r.segments else ""),
        CostRow("embeddings.norm", "norms", f"2·{width}"),
        *([CostRow("embeddings.projection", "embeddings", "E·H + H", "2·B·T·E·H")] if r.factorised else []),
        *(CostRow(f"block.attn.{name}", "attention", "H² + H", "2·B·T·H²") for name in ("query", "key", "value")),
        CostRow("block.attn.scores", "scores", "", "2·B·T²·H"),
        CostRow("block.attn.mixed", "scores", "", "2·B·T²·H"),
        CostRow("block.attn.output", "attention", "H² + H", "2·B·T·H²"),
        CostRow("block.attn_norm", "norms", "2·H"),
        CostRow("block.mlp.expand", "mlp", "H·F + F", "2·B·T·H·F"),
        CostRow("block.mlp.contract", "mlp", "F·H + H", "2·B·T·F·H"),
        CostRow("block.mlp_norm", "norms", "2·H"),
        CostRow("pooler.dense", "heads", "H² + H" if r.pooler else "", "2·B·H²" if r.sentence_pairs else ""),
        *(row for kind in r.objective.split("+") for row in head_rows(kind, r.factorised)),
    ]
    instead = {row.name: row for row in r.own if not row.after}
    own = {one.name: [instead.get(one.name, one), *(row for row in r.own if row.after == one.name)] for one in bert}
    return [row for place in own.values() for row in place]


def head_rows(kind: str, factorised: bool) -> list[CostRow]:
    """The rows of the head for one part of an objective's name."""
    width, matrix = ("E", "H·E") if factorised else ("H", "H²")
    decoder = CostRow("mlm.decoder", "heads", "V", f"2·M·{width}·V")
    match kind:
        case "mlm":
            dense = CostRow("mlm.dense", "heads", f"{matrix} + {width}", f"2·M·{matrix}")
            return [dense, CostRow("mlm.norm", "norms", f"2·{width}"), decoder]
        case "plm":
            return [decoder]
        case "rtd":
            return [
                CostRow("rtd.dense", "heads", "H² + H", "2·B·T·H²"),
                CostRow("rtd.decoder", "heads", "H + 1", "2·B·T·H"),
            ]
        case "names":  # Xiong et al. 2020: the tokens beside a name; few names, so no FLOPs
            return [CostRow("names", "heads", "2·H + 1")]
        case "sbo":  # Joshi et al. 2020, §3.2: places in a span, and two layers with a norm each
            return [
                CostRow("sbo.position", "heads", "20·Q"),
                CostRow("sbo.first", "heads", "2·H² + Q·H + H", "4·M·H² + 2·M·Q·H"),
                CostRow("sbo.first_norm", "norms", "2·H"),
                CostRow("sbo.second", "heads", "H² + H", "2·M·H²"),
                CostRow("sbo.second_norm", "norms", "2·H"),
                CostRow("sbo.decoder", "heads", "", "2·M·H·V"),
            ]
    return [CostRow("nsp", "heads", "2·H + 2", "2·B·H·2")]  # sop's too


def counted(r: Shape, kind: str, letters: dict[str, int]) -> tuple[CostTerm, ...]:
    """The parts with formulas of a kind, "weights" or "flops". Layers that share weights share no work."""

    def times(row: CostRow) -> int:
        if row.together or not row.name.startswith("block."):
            return 1
        return r.copies(row.name.split(".")[1].removesuffix("_norm")) if kind == "weights" else letters["L"]

    rows = ((row, getattr(row, kind)) for row in rows_of(r))
    return tuple(
        CostTerm(row.name, row.group, formula, letters, times(row), row.together) for row, formula in rows if formula
    )


# ---------------------------------------------------------------------------------------------------- parameters
@dataclass(frozen=True)
class ParameterCount:
    """Parameters by part, in the order data flows. The tied decoder matrix is counted once, as the token embedding."""

    parts: tuple[CostTerm, ...]

    def of(self, *prefixes: str) -> int:
        return total(part for part in self.parts if part.name.startswith(prefixes))

    @property
    def block(self) -> int:
        """One block; the mean where blocks differ, as in a pruned model."""
        blocks = [part for part in self.parts if part.name.startswith("block.")]
        return round(sum(part.one / (part.letters["L"] if part.together else 1) for part in blocks))

    @property
    def encoder(self) -> int:
        """Embeddings and blocks."""
        return self.of("embeddings.", "block.")

    @property
    def with_pooler(self) -> int:
        """What `transformers` calls BertModel; equal to `encoder` for a model without pooler."""
        return self.encoder + self.of("pooler")

    @property
    def masked_lm(self) -> int | None:
        """Encoder + MLM head (BertForMaskedLM); None for a model that predicts no masked tokens."""
        head = self.of("mlm.")
        return self.encoder + head if head else None

    @property
    def pretraining(self) -> int:
        """Everything the model's pre-training trains (BertForPreTraining); without sentence pairs not the pooler."""
        return total(self.parts) - (0 if self.of("nsp") else self.of("pooler"))

    def totals(self) -> dict[str, int | None]:
        return {name: getattr(self, name) for name in ("encoder", "with_pooler", "masked_lm", "pretraining")}


def parameters(config: BertConfig | Shape) -> ParameterCount:
    """Parameters by part; a block has 12·H² + 13·H when F = 4·H."""
    r = bert_shape(config)
    return ParameterCount(counted(r, "weights", r.letters))


# --------------------------------------------------------------------------------------------------------- FLOPs
@dataclass(frozen=True)
class FlopCount:
    """FLOPs of one step's matrix multiplications; a part is one forward pass.

    A multiplication and its addition count 2. Backward multiplies twice as much as forward (once for the inputs'
    gradient, once for the weights'), so training is 3 forwards. Left out: softmax, GELU, LayerNorm, dropout, biases.
    """

    parts: tuple[CostTerm, ...]
    training: bool

    @property
    def passes(self) -> int:
        return 3 if self.training else 1

    @property
    def forward(self) -> int:
        return total(self.parts)

    @property
    def total(self) -> int:
        return self.forward * self.passes


def flops(
    config: BertConfig | Shape, batch: int, tokens: int, masked: float = 0.15, training: bool = True
) -> FlopCount:
    """FLOPs of the pre-training model by part, for `batch` sequences of `tokens`.

    masked: the share of positions the MLM head predicts; 1 computes it everywhere, 0 leaves it out. Shared layers
    share weights, not work: ALBERT's L layers cost as much as BERT's.
    """
    r = bert_shape(config)
    return FlopCount(counted(r, "flops", _sized(r, batch, tokens, masked)), training)


# -------------------------------------------------------------------------------------------------------- memory
@dataclass(frozen=True)
class MemoryCount:
    """Bytes by part. Weights, gradients and moments are exact. `activations` and `scores` (what forward keeps for
    backward), `copies`, `working` and `summing` (temporary tensors) are estimates: this model, PyTorch on a CPU.
    """

    parts: tuple[CostTerm, ...]

    @property
    def start(self) -> tuple[CostTerm, ...]:
        """What is alive when backward starts (at inference: all there is)."""
        return tuple(part for part in self.parts if part.group not in ("gradients", "summing"))

    @property
    def end(self) -> tuple[CostTerm, ...]:
        """What is alive when backward ends: activations gone, gradients there (at inference: the weights)."""
        return tuple(part for part in self.parts if part.group in ("weights", "moments", "gradients", "summing"))

    @property
    def peak(self) -> int:
        """The most alive at one time."""
        return max(total(self.start), total(self.end))


def memory(
    config: BertConfig | Shape,
    batch: int,
    tokens: int,
    training: bool = True,
    *,
    optimizer: str = "adamw",
    precision: str = "fp32",
    attention: str = "fused",
    masked: float = 0.15,
) -> MemoryCount:
    """Memory in bytes of the pre-training model by part, for `batch` unpadded sequences of `tokens`.

    precision "bf16": training is mixed (weights, gradients, moments and LayerNorms in fp32; matrix products, and the
    copies of the matrices they need, in bf16, as under autocast), inference keeps bf16 weights alone.
    attention "explicit" stores the B·A·T² probabilities for backward; "fused" recomputes them and stores one number per
    row. Dropout masks count when the config has dropout, in the width of what they mask (a GPU kernel uses one byte).
    """
    for name, value, known in (
        ("optimizer", optimizer, MOMENTS),
        ("precision", precision, PRECISIONS),
        ("attention", attention, ATTENTIONS),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    r = bert_shape(config)
    letters = _sized(r, batch, tokens, masked) | {"N": parameters(r).pretraining}
    width = 4 if precision == "fp32" else 2
    if training:
        rows = _saved_for_backward(r, width, attention)
        rows = [
            ("weights", "weights", "4·N", 1),
            ("gradients", "gradients", "4·N", 1),
            ("moments", "moments", f"{4 * MOMENTS[optimizer]}·N", 1),
            *([("copies", "copies", _matrices(r), 1)] if precision == "bf16" else []),
            *rows,
        ]
        if letters["M"] and r.objective != "rtd":
            rows.append(("working.logits", "working", f"{width}·M·V + 4·M·V", 1))  # the logits, and their gradient
            # The tied matrix gets two gradients, as decoder and as embedding; both are alive while they are summed.
            rows.append(("summing.tied", "summing", f"8·V·{'E' if r.factorised else 'H'}", 1))
    else:
        phases = _phases(r, width, attention, batch)
        name, formula = max(phases.items(), key=lambda phase: computed(phase[1], letters))
        rows = [("weights", "weights", f"{width}·N", 1), (f"working.{name}", "working", formula, 1)]
    return MemoryCount(tuple(CostTerm(name, group, formula, letters, times) for name, group, formula, times in rows))


def largest_batch(config: BertConfig | Shape, tokens: int, size: int, **how) -> int:
    """How many sequences of `tokens` can be trained on at once in `size` bytes; 0 where not even one fits. how: as for
    `memory`, whose peak grows with the batch."""

    def fits(batch: int) -> bool:
        return memory(config, batch, tokens, **how).peak <= size

    if not fits(1):
        return 0
    high = 2
    while fits(high):
        high *= 2
    return bisect_left(range(high), True, lo=2, key=lambda batch: not fits(batch)) - 1


def _matrices(r: Shape) -> str:
    """bf16 copies of the matrices that multiply activations, 2 bytes each; the tied decoder's is one of them."""
    width = "E" if r.factorised else "H"
    squares = 4 + sum("H²" in row.weights for row in r.own if row.after)
    blocks = {
        "none": f"L·({squares}·H² + 2·H·F)",
        "attention": "4·H² + L·2·H·F",
        "feed_forward": "L·4·H² + 2·H·F",
        "all": "4·H² + 2·H·F",
    }
    terms = [blocks[r.shared], *(["E·H"] if r.factorised else []), *(["H² + 2·H"] if r.sentence_pairs else [])]
    terms.append("H² + H" if r.objective == "rtd" else f"H·{width} + V·{width}" if r.transforms else "V·H")
    return f"2·({' + '.join(terms)})"


def _saved_for_backward(r: Shape, w: int, attention: str) -> list[tuple[str, str, str, int]]:
    """What autograd keeps, part by part; w: bytes per number in matrix products. Cf. Korthikanti et al. 2022, §4.1:
    34·B·T·H + 5·B·A·T² per block, all in 16 bit with one byte per mask entry (here LayerNorms read fp32)."""
    c, layers = r.config, r.config.num_hidden_layers
    width = "E" if r.factorised else "H"
    inputs = 4 if w == 4 else 3 * w  # query, key and value share one fp32 input; autocast casts it once for each
    drop, attention_drop = c.hidden_dropout_prob > 0, c.attention_probs_dropout_prob > 0
    norm, ids = "4·B·T·H + 8·B·T", 16 if r.segments else 8  # a norm's input, and its rows' mean and deviation
    scores = f"{w}·B·A·T²" if attention == "explicit" else "4·B·A·T"
    if attention == "explicit" and attention_drop:
        scores = f"{3 * w}·B·A·T²"  # probabilities, dropout mask, and probabilities after dropout
    rows = [
        ("activations.embeddings", f"{ids}·B·T + {8 if drop else 4}·B·T·{width} + 8·B·T", 1),
        *([("activations.projection", f"{w}·B·T·E", 1)] if r.factorised else []),
        ("activations.attn.input", f"{inputs}·B·T·H", layers),
        ("activations.attn.query_key_value", f"{3 * w}·B·T·H", layers),
        ("activations.attn.scores", scores, layers),
        ("activations.attn.mixed", f"{w}·B·T·H", layers),
        ("activations.attn_norm", norm, layers),
        ("activations.mlp.input", f"{w}·B·T·H", layers),
        ("activations.mlp.hidden", f"{2 * w}·B·T·F", layers),  # before and after GELU
        ("activations.mlp_norm", norm, layers),
        *([("activations.dropout", f"{2 * w}·B·T·H", layers)] if drop else []),
    ]
    if r.sentence_pairs:
        hidden = "4·B·T·H" if w == 4 else f"{w}·B·H"  # [CLS] is a view of the last hidden states: it keeps them all
        rows.append(("activations.pooler", f"{hidden} + {w}·B·H + 8·B + 8·B", 1))
    if r.objective == "rtd":
        rows.append(("activations.rtd", f"{3 * w}·B·T·H + 4·B·T", 1))
    elif r.objective == "plm":
        rows.append(("activations.mlm", f"B·T + {w}·M·H + 8·M + 4·M·V + 8·M", 1))
    else:
        rows.append(("activations.mlm", f"B·T + {w}·M·H + {3 * w}·M·{width} + 8·M + 4·M·V + 8·M", 1))
    names = {"activations.attn.scores": "scores"}
    return [(name, names.get(name, "activations"), formula, times) for name, formula, times in rows]


def _phases(r: Shape, w: int, attention: str, batch: int) -> dict[str, str]:
    """The moments at inference that may need the most memory. → name: formula of the bytes alive"""
    # x, q, k, v and the result; explicit: scores stay alive beside probs, and with batch > 1 matmul copies v
    mixing = f"{(6 if batch > 1 else 5) * w}·B·T·H + {2 * w}·B·A·T²" if attention == "explicit" else f"{5 * w}·B·T·H"
    phases = {"attention": mixing, "mlp": f"{2 * w}·B·T·H + {2 * w}·B·T·F"}  # the block's input; before and after GELU
    if r.objective != "rtd":
        phases["mlm"] = f"{w}·B·T·H + {w}·M·{'E' if r.factorised else 'H'} + {w}·M·V"
    return phases


def _sized(r: Shape, batch: int, tokens: int, masked: float) -> dict[str, int]:
    if batch < 1 or tokens < 1:
        raise ValueError(f"batch and tokens must be at least 1, not {batch} and {tokens}")
    if tokens > r.config.longest:
        raise ValueError(f"{tokens} tokens, but there are only {r.config.longest} positions")
    if not 0 <= masked <= 1:
        raise ValueError(f"masked is a share from 0 to 1, not {masked}")
    predicted = round(masked * batch * tokens)
    if r.objective == "plm":  # each row is followed by its queries, one per predicted token
        tokens += round(masked * tokens)
    return r.letters | {"B": batch, "T": tokens, "M": predicted}
