"""BERT as an encoder of sentences: one vector a text (Reimers and Gurevych 2019, §3); its files are the ecosystem’s."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from minibert import checkpoint
from minibert.finetune.predictor import NotNumbersError
from minibert.heads import POOLINGS
from minibert.inside.vectors import ROWS, pooled, unit
from minibert.model import Batch, Bert
from minibert.text.batches import padded_batch
from minibert.text.json_values import json_value
from minibert.tokenizer import Tokenizer

MODULES, POOLING = "modules.json", "1_Pooling"
FLAGS = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens", "max": "pooling_mode_max_tokens"}
LENGTHS = "sentence_bert_config.json"
LONGEST = 128  # tokens, where nothing says otherwise


class SentenceEncoder(nn.Module):
    """One vector of what comes out of the last block: of [CLS], the mean or the maximum of all real tokens."""

    def __init__(self, bert: Bert, pooling: str = "mean"):
        super().__init__()
        if pooling not in POOLINGS:
            raise ValueError(f"pooling must be one of {', '.join(POOLINGS)}, not {pooling!r}")
        self.bert, self.pooling = bert, pooling

    def forward(self, batch: Batch) -> Tensor:
        """→ (B, H)"""
        return pooled(self.bert(batch)[0], batch.padding, self.pooling)


def ids_of(tokenizer: Tokenizer, texts: Sequence[str], longest: int) -> list[list[int]]:
    """[CLS] text [SEP] of each; what is beyond `longest` tokens is cut off."""
    cut = (ids[: longest - 2] for ids in tokenizer.encode_bulk(texts))
    return [[tokenizer.cls_id, *ids, tokenizer.sep_id] for ids in cut]


@dataclass(frozen=True)
class SentenceVectors:
    """An encoder and all it needs to answer. normalized: its vectors have length 1 · longest: tokens read of a text."""

    encoder: SentenceEncoder
    tokenizer: Tokenizer
    normalized: bool = False
    longest: int = LONGEST

    @torch.no_grad()
    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """(N, H) float32, in the order of the texts; those of like length are computed together."""
        encoder, device = self.encoder, next(self.encoder.parameters()).device
        training = encoder.training
        encoder.eval()
        rows = ids_of(self.tokenizer, texts, self.longest)
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        found = np.zeros((len(rows), encoder.bert.config.hidden_size), np.float32)
        for start in range(0, len(order), ROWS):
            some = order[start : start + ROWS]
            batch = padded_batch([rows[i] for i in some], self.tokenizer.pad_id)
            found[some] = encoder(batch.to(device)).float().cpu().numpy()
        encoder.train(training)
        if not np.isfinite(found).all():
            raise NotNumbersError("the vectors hold what is no finite number: the model has learned nothing usable")
        return unit(found).astype(np.float32) if self.normalized else found

    @classmethod
    def from_directory(cls, directory: str | Path, pooling: str | None = None) -> SentenceVectors:
        """A directory that `save` or sentence-transformers wrote, or any BERT: its mean is taken, unless `pooling` says
        otherwise. Raises CheckpointError."""
        directory = Path(directory)
        bert, tokenizer = checkpoint.load(directory, kind=Bert), checkpoint.load_tokenizer(directory)
        parts = parts_of(directory)
        longest = min((parts and stored_length(directory)) or LONGEST, bert.config.longest)
        stored = stored_pooling(directory) if "Pooling" in parts else "mean"
        return cls(SentenceEncoder(bert, pooling or stored).eval(), tokenizer, "Normalize" in parts, longest)

    def save(self, directory: str | Path, dtype: torch.dtype | None = None) -> None:
        """The checkpoint, and beside it the files by which sentence-transformers knows how to pool."""
        directory, bert = Path(directory), self.encoder.bert
        kinds = ["Transformer", "Pooling", *(["Normalize"] if self.normalized else [])]
        modules = [
            {
                "idx": i,
                "name": str(i),
                "path": f"{i}_{kind}" if i else "",
                "type": f"sentence_transformers.models.{kind}",
            }
            for i, kind in enumerate(kinds)
        ]
        flags = {flag: name == self.encoder.pooling for name, flag in FLAGS.items()}
        flags = {
            "word_embedding_dimension": bert.config.hidden_size,
            **flags,
            "pooling_mode_mean_sqrt_len_tokens": False,
        }
        lengths = {"max_seq_length": self.longest, "do_lower_case": False}  # the tokenizer lowers case itself
        checkpoint.save(directory, bert, self.tokenizer, dtype=dtype)
        for folder, files in (
            (directory / POOLING, {"config.json": flags}),
            (directory, {LENGTHS: lengths, "config_sentence_transformers.json": {"__version__": {}}, MODULES: modules}),
        ):
            with checkpoint.writing(folder) as ready:
                for name, values in files.items():
                    (ready / name).write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


def values_of(file: Path, kind: type):
    """What a JSON file holds. Raises CheckpointError where it is not of the kind."""
    try:
        values = json_value(file.read_bytes())
    except (OSError, ValueError) as error:
        raise checkpoint.CheckpointError(f"{file} cannot be read: {error}") from None
    if not isinstance(values, kind):
        raise checkpoint.CheckpointError(f"{file} must hold {'an object' if kind is dict else 'a list'}")
    return values


def parts_of(directory: Path) -> set[str]:
    """The names of the modules behind the encoder; none without a modules.json."""
    if not (file := directory / MODULES).is_file():
        return set()
    kinds = [one.get("type") if isinstance(one, dict) else None for one in values_of(file, list)]
    if not all(isinstance(kind, str) for kind in kinds):
        raise checkpoint.CheckpointError(f"{file}: each module must be an object with a type")
    found = {kind.rpartition(".")[2] for kind in kinds}
    if unknown := found - {"Transformer", "Pooling", "Normalize"}:
        raise checkpoint.CheckpointError(f"{file}: a {min(unknown)} behind the encoder is not known here")
    return found


def stored_length(directory: Path) -> int | None:
    """How many tokens of a text are read: as sentence-transformers says it up to version 5, else as its 6 does."""
    for name, key in ((LENGTHS, "max_seq_length"), ("tokenizer_config.json", "model_max_length")):
        if (file := directory / name).is_file() and (told := values_of(file, dict).get(key)) is not None:
            if not (isinstance(told, int) and told >= 3):
                raise checkpoint.CheckpointError(f"{file}: {key} must be a number from 3 on, not {told!r}")
            return told
    return None


def stored_pooling(directory: Path) -> str:
    """How 1_Pooling/config.json pools: one flag a way up to version 5 of sentence-transformers, one name in its 6."""
    file = checkpoint.existing(directory / POOLING, "config.json")
    told = values_of(file, dict)
    names = {flag: name for name, flag in FLAGS.items()}
    modes = [
        names.get(flag, flag) for flag, value in told.items() if flag.startswith("pooling_mode_") and value is True
    ]
    if mode := told.get("pooling_mode"):
        modes = mode if isinstance(mode, list) else [mode]
    if len(modes) != 1 or modes[0] not in list(FLAGS):
        raise checkpoint.CheckpointError(f"{file}: pools by {', '.join(map(str, modes)) or 'nothing'}; known is one of "
                                         f"{', '.join(FLAGS)}")  # fmt: skip
    return modes[0]
