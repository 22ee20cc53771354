"""BART (Lewis et al. 2020, arXiv:1910.13461): an encoder–decoder. The encoder reads a corrupted text in both directions
(see `minibert.masking.noises`), the decoder generates the original from left to right.

Not built from `Bert`'s parts, as the relatives are. The encoder has BERT's blocks, the decoder adds cross-attention
(`decoder.py`). Names, fields and files as in transformers. Letters as in `minibert.model`, S source tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
import torch.nn.functional as F
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from minibert.attention_masks import causal_mask, padding_mask
from minibert.checkpoint import CONFIG, WEIGHTS, CheckpointError, check_finite, config_values, existing, writing
from minibert.config import BertConfig
from minibert.heads import names_from_config
from minibert.model import SKIP_INIT, Batch, Block, Tap, initialize, no_tap, prefix_tap
from minibert.seq2seq.decoder import DecoderBlock, PairBatch, Seq2SeqOutput
from minibert.tokenizer import Tokenizer
from minibert.training.cross_entropy import cross_entropy
from minibert.training.skip_init import sizes_only

OFFSET = 2  # unused first rows of the position table, historically reserved for the padding id
# Our config fields → transformers', of encoder and decoder each.
SIDES = {"num_hidden_layers": "layers", "num_attention_heads": "attention_heads", "intermediate_size": "ffn_dim"}
# ours → theirs, in order
NAMES: list[tuple[str, Any]] = [
    (r"^token\b", "shared"),
    (r"\bembeddings\.position\b", "embed_positions"),
    (r"\bembeddings\.norm\b", "layernorm_embedding"),
    (r"\bblocks\b", "layers"),
    (r"\battn(_norm)?\b", r"self_attn\1"),
    (r"\bcross(_norm)?\b", r"encoder_attn\1"),
    (r"attn_norm\b", "attn_layer_norm"),
    (r"\b(query|key|value)\b", lambda match: f"{match[0][0]}_proj"),
    (r"\boutput\b", "out_proj"),
    (r"\bmlp\.expand\b", "fc1"),
    (r"\bmlp\.contract\b", "fc2"),
    (r"\bmlp_norm\b", "final_layer_norm"),
    (r"^(shared|encoder|decoder)\b", r"model.\1"),
]
TIED = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight")


@dataclass(frozen=True)
class BartConfig(BertConfig):
    """Defaults: base. Encoder and decoder have the same sizes. decoder_start_token_id: the decoder's first input. A
    text is bos … eos. There are no segments, and the LayerNorm epsilon is fixed."""

    model_type: ClassVar[str] = "bart"
    presets: ClassVar[Mapping[str, tuple[int, int, int]]] = {"base": (6, 768, 12), "large": (12, 1024, 16)}
    renamed: ClassVar[Mapping[str, str]] = {
        "hidden_size": "d_model", "hidden_act": "activation_function", "hidden_dropout_prob": "dropout",
        "attention_probs_dropout_prob": "attention_dropout", "initializer_range": "init_std",
    }  # fmt: skip
    fixed: ClassVar[Mapping[str, Any]] = {
        "scale_embedding": False, "normalize_before": False, "add_final_layer_norm": False
    }  # fmt: skip
    vocab_size: int = 50265
    num_hidden_layers: int = 6  # L on each side
    max_position_embeddings: int = 1024
    type_vocab_size: int = 1
    layer_norm_eps: float = 1e-5
    pad_token_id: int = 1
    bos_token_id: int = 0
    eos_token_id: int = 2
    decoder_start_token_id: int = 2

    def as_dict(self) -> dict:
        own = super().as_dict()
        del own["type_vocab_size"], own["layer_norm_eps"]
        sides = {f"{side}_{SIDES[name]}": own[name] for name in SIDES for side in ("encoder", "decoder")}
        return {name: value for name, value in own.items() if name not in SIDES} | sides

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        fields = {"type_vocab_size": 1, "layer_norm_eps": 1e-5}
        for ours, theirs in SIDES.items():
            one, other = (values.get(f"{side}_{theirs}") for side in ("encoder", "decoder"))
            if one != other:
                raise ValueError(
                    f"encoder_{theirs} is {one!r} and decoder_{theirs} is {other!r}; here both sides are alike"
                )
            fields |= {} if one is None else {ours: one}
        return super().from_dict({**values, **fields})


class BartEmbeddings(nn.Module):
    """token + position, LayerNorm, dropout. Position i uses row i + 2; both sides share the token table."""

    def __init__(self, config: BartConfig, token: nn.Embedding):
        super().__init__()
        self.token = token
        self.position = nn.Embedding(config.max_position_embeddings + OFFSET, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, ids: Tensor, tap: Tap = no_tap) -> Tensor:
        end = OFFSET + ids.size(1)
        if end > self.position.num_embeddings:
            most = self.position.num_embeddings - OFFSET
            raise ValueError(f"{ids.size(1)} tokens, but there are only {most} positions")
        token = tap("token", self.token(ids))  # (B, T, H)
        position = tap("position", self.position.weight[OFFSET:end])  # (T, H)
        return tap("out", self.dropout(self.norm(tap("sum", token + position))))  # (B, T, H)


class BartStack(nn.Module):
    """Encoder or decoder: embeddings, and L blocks of its kind."""

    def __init__(self, config: BartConfig, block: type[nn.Module], token: nn.Embedding):
        super().__init__()
        self.embeddings = BartEmbeddings(config, token)
        self.blocks = nn.ModuleList(block(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids: Tensor, *looked_at: Tensor | None, tap: Tap = no_tap) -> Tensor:
        """ids (B, T) → (B, T, H). looked_at: further arguments of the blocks (masks; the decoder's memory)."""
        x = self.embeddings(ids, prefix_tap(tap, "embeddings"))  # (B, T, H)
        for i, block in enumerate(self.blocks):
            x = block(x, *looked_at, tap=prefix_tap(tap, f"blocks.{i}"))  # (B, T, H)
        return x


class Bart(nn.Module):
    """Encoder and decoder, without a head."""

    def __init__(self, config: BartConfig):
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab_size, config.hidden_size)
        self.encoder, self.decoder = BartStack(config, Block, self.token), BartStack(config, DecoderBlock, self.token)
        if not SKIP_INIT.get():
            initialize(self, config.initializer_range)

    def encode(self, batch: Batch, tap: Tap = no_tap) -> Tensor:
        """ids (B, S) → (B, S, H). Call it once per source."""
        mask = None if batch.padding is None else padding_mask(batch.padding)  # (B, 1, 1, S)
        return self.encoder(batch.ids, mask, tap=prefix_tap(tap, "encoder"))

    def read(self, target: Tensor, memory: Tensor, source: Batch, tap: Tap = no_tap) -> Tensor:
        """The decoder's hidden states. target: (B, T), memory: (B, S, H) → (B, T, H)"""
        mask = causal_mask(target.size(1), target.device)  # (1, 1, T, T)
        source_mask = None if source.padding is None else padding_mask(source.padding)  # (B, 1, 1, S)
        return self.decoder(target, memory, mask, source_mask, tap=prefix_tap(tap, "decoder"))

    def shifted(self, ids: Tensor) -> Tensor:
        """`ids` shifted right by one: the decoder's input when its targets are `ids`. (B, T) → (B, T)"""
        return torch.cat([torch.full_like(ids[:, :1], self.config.decoder_start_token_id), ids[:, :-1]], dim=1)


class BartForConditionalGeneration(Bart):
    """The output matrix is tied to the token embedding; its bias is a buffer, not trained: it stays 0."""

    def __init__(self, config: BartConfig):
        super().__init__(config)
        self.final_logits_bias: Tensor
        self.register_buffer("final_logits_bias", torch.zeros(1, config.vocab_size))

    def decode(self, target: Tensor, memory: Tensor, source: Batch, tap: Tap = no_tap) -> Tensor:
        """→ logits (B, T, V): row t predicts the token after target token t."""
        x = self.read(target, memory, source, tap)  # (B, T, H)
        return tap("logits", F.linear(x, self.token.weight) + self.final_logits_bias)

    def forward(self, batch: PairBatch, tap: Tap = no_tap) -> Seq2SeqOutput:
        logits = self.decode(batch.target, self.encode(batch, tap), batch, tap)
        if batch.labels is None:
            return Seq2SeqOutput(logits)
        return Seq2SeqOutput(logits, cross_entropy(logits.flatten(0, 1), batch.labels.flatten()))


class BartClassificationHead(nn.Module):
    """dense → tanh → one logit per class."""

    def __init__(self, width: int, classes: int):
        super().__init__()
        self.dense, self.out_proj = nn.Linear(width, width), nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.out_proj(torch.tanh(self.dense(x)))  # (B, H) → (B, classes)


class BartForSequenceClassification(Bart):
    """Both sides read the same text; the decoder's hidden state at the last eos, which sees the text, is classified
    (§3.1). As in the authors' code, the decoder's input is shifted right by one, behind its start token."""

    def __init__(self, config: BartConfig, classes: int = 2):
        super().__init__(config)
        self.classification_head = BartClassificationHead(config.hidden_size, classes)
        initialize(self.classification_head, config.initializer_range)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> Seq2SeqOutput:
        """ids end with eos; labels: (B,) → logits (B, classes)"""
        x = self.read(self.shifted(batch.ids), self.encode(batch, tap), batch, tap)  # (B, T, H)
        places = torch.arange(batch.ids.size(1), device=x.device)
        last = (places * (batch.ids == self.config.eos_token_id)).argmax(1)  # (B,)
        logits = self.classification_head(x[torch.arange(len(x), device=x.device), last])
        return Seq2SeqOutput(logits, None if batch.labels is None else F.cross_entropy(logits.float(), batch.labels))


KINDS = {kind.__name__: kind for kind in (BartForConditionalGeneration, BartForSequenceClassification)}


def their_name(name: str) -> str:
    for ours, theirs in NAMES:
        name = re.sub(ours, theirs, name)
    return name


def stored(model: Bart) -> dict[str, Tensor]:
    """Transformers' name → tensor; tied weights once."""
    own = model.state_dict()
    return {their_name(name): x for name, x in own.items() if not name.endswith("embeddings.token.weight")}


def save(
    directory: str | Path, model: Bart, tokenizer: Tokenizer | None = None, dtype: torch.dtype | None = None
) -> None:
    """Write a directory that `load` and transformers read, whole or not at all. dtype: of the stored weights."""
    config = {
        **model.config.as_dict(),
        "architectures": [type(model).__name__],
        "model_type": "bart",
        "is_encoder_decoder": True,
        "tie_word_embeddings": True,
        "forced_eos_token_id": None,
    }
    if isinstance(model, BartForSequenceClassification):
        classes = model.classification_head.out_proj.out_features
        config["id2label"] = {str(i): f"LABEL_{i}" for i in range(classes)}
    with writing(directory) as folder:
        state = {name: x.detach().cpu().to(dtype or x.dtype).contiguous() for name, x in stored(model).items()}
        save_file(state, folder / WEIGHTS, metadata={"format": "pt"})
        (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        if tokenizer is not None:
            tokenizer.save(folder)


def load(directory: str | Path) -> Bart:
    """The model in `directory`, in eval mode, float32. Raises CheckpointError if it holds no BART."""
    directory = Path(directory)
    values = config_values(directory)
    name = (values.get("architectures") or ["BartForConditionalGeneration"])[0]
    if name not in KINDS:
        raise CheckpointError(f"{directory / CONFIG}: {name} is not one of {', '.join(KINDS)}")
    try:
        options = {"classes": len(names_from_config(values))} if name == "BartForSequenceClassification" else {}
        config = BartConfig.from_dict(values)
        state = {name: x.float() for name, x in load_file(existing(directory, WEIGHTS)).items()}
    except (ValueError, SafetensorError) as error:
        raise CheckpointError(f"{directory} holds no BART that can be read: {error}") from error
    check_finite(state, directory / WEIGHTS)
    for copy in TIED:
        if copy in state and not torch.equal(state.pop(copy), state.get("model.shared.weight", torch.empty(0))):
            raise CheckpointError(f"{directory}: {copy} differs from model.shared.weight, and here they are one (tied)")
    with sizes_only():
        expected = stored(KINDS[name](config, **options))
    wrong = [
        key
        for key in sorted({*expected, *state})
        if key not in state or key not in expected or expected[key].shape != state[key].shape
    ]
    if wrong:
        raise CheckpointError(
            f"{directory / WEIGHTS}: {wrong[0]} is missing, unknown, or of another shape than {CONFIG} asks for"
        )
    model = KINDS[name](config, **options)
    with torch.no_grad():
        for key, x in stored(model).items():
            x.copy_(state[key])
    return model.eval()
