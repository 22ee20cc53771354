"""BERT as a sentence encoder: one vector per text (Reimers and Gurevych 2019, §3); files of sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from minibert import checkpoint
from minibert.finetune.predictor import NotNumbersError
from minibert.heads import POOLINGS, every_layer, pooled
from minibert.inside.geometry.vectors import unit
from minibert.model import Batch, Bert
from minibert.sentence_vectors.files import (
    FLAGS,
    IDENTITY,
    LENGTHS,
    MODULES,
    PROMPTS,
    encoder_settings,
    parts_of,
    stored_layers,
    stored_pooling,
    stored_prompt,
    stored_whitening,
    tokenizer_and_prompt,
    write_json,
)
from minibert.sentence_vectors.whitening import Whitening
from minibert.text.batches import length_batches, padded_batch
from minibert.tokenizer import Tokenizer

LONGEST = 128  # tokens, by default
LAYERS = {"last": (), "first-last": (1, -1), "embeddings": (0,)}  # whose mean is pooled; 0: the embeddings


class SentenceEncoder(nn.Module):
    """One vector per text, from the output of the last block or the mean of some `layers` (0: the embeddings): that of
    [CLS], or the mean or the maximum over all real tokens."""

    def __init__(self, bert: Bert, pooling: str = "mean", layers: Sequence[int] = ()):
        super().__init__()
        count = bert.config.num_hidden_layers
        if pooling not in POOLINGS:
            raise ValueError(f"pooling must be one of {', '.join(POOLINGS)}, not {pooling!r}")
        if not all(-count - 1 <= layer <= count for layer in layers):
            raise ValueError(f"layers are 0, the embeddings, to {count}, not {', '.join(map(str, layers))}")
        self.bert, self.pooling = bert, pooling
        chosen = sorted({layer % (count + 1) for layer in layers})
        self.layers = () if chosen == [count] else tuple(chosen)

    def forward(self, batch: Batch) -> Tensor:
        """→ (B, H)"""
        if not self.layers:
            return pooled(self.bert(batch)[0], batch.padding, self.pooling)
        every = every_layer(self.bert, batch)
        x = torch.stack([every[layer] for layer in self.layers]).mean(0)  # (B, T, H)
        return pooled(x, batch.padding, self.pooling)


def token_ids(tokenizer: Tokenizer, texts: Sequence[str], longest: int) -> list[list[int]]:
    """[CLS] text [SEP] of each; what is beyond `longest` tokens is cut off."""
    cut = (ids[: longest - 2] for ids in tokenizer.encode_bulk(texts))
    return [[tokenizer.cls_id, *ids, tokenizer.sep_id] for ids in cut]


@dataclass(frozen=True)
class SentenceVectors:
    """An encoder and all it needs to embed texts. normalized: vectors have length 1 · longest: tokens read per text ·
    whitening: applied after pooling, if there is one · prompt: precedes every text · truncate: how many numbers of a
    vector are kept, after all else; None: all."""

    encoder: SentenceEncoder
    tokenizer: Tokenizer
    normalized: bool = False
    longest: int = LONGEST
    whitening: Whitening | None = None
    prompt: str = ""
    truncate: int | None = None

    def whitened(self, texts: Sequence[str], dimensions: int | None = None) -> SentenceVectors:
        """A copy with whitening, fitted on the vectors of these texts, each counted once; `dimensions` are kept, None:
        all. Raises ValueError."""
        plain = replace(self, whitening=None, normalized=False, truncate=None)
        return replace(plain, whitening=Whitening.fit(plain.embed(list(dict.fromkeys(texts))), dimensions))

    @torch.no_grad()
    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """(N, H) float32, or (N, k) whitened, in the order of the texts; texts of similar length share a batch."""
        encoder, device = self.encoder, next(self.encoder.parameters()).device
        training = encoder.training
        encoder.eval()
        rows = token_ids(self.tokenizer, [self.prompt + text for text in texts], self.longest)
        found = np.zeros((len(rows), encoder.bert.config.hidden_size), np.float32)
        for indices in length_batches([len(row) for row in rows]):
            batch = padded_batch([rows[i] for i in indices], self.tokenizer.pad_id)
            found[indices] = encoder(batch.to(device)).float().cpu().numpy()
        encoder.train(training)
        if not np.isfinite(found).all():
            raise NotNumbersError("the vectors hold what is no finite number: the model has learned nothing usable")
        if self.whitening is not None:
            found = self.whitening(found).astype(np.float32)
        found = unit(found).astype(np.float32) if self.normalized else found
        return found[:, : self.truncate]

    @classmethod
    def from_directory(
        cls, directory: str | Path, pooling: str | None = None, layers: Sequence[int] | None = None
    ) -> SentenceVectors:
        """Load a directory that `save` or sentence-transformers wrote, or any BERT. `pooling` and `layers` replace what
        is stored there, by default the mean of the last block's output; a stored whitening is only used for the vectors
        that it was fitted on. Raises CheckpointError."""
        directory = Path(directory)
        parts = parts_of(directory)
        folder = parts.get("Transformer", directory)
        bert, (tokenizer, prompt) = checkpoint.load(folder, kind=Bert), tokenizer_and_prompt(directory)
        length = encoder_settings(folder)[0] if parts else None
        truncate = stored_prompt(directory)[1] if parts else None
        longest = min(length or LONGEST, bert.config.longest)
        stored = stored_pooling(parts["Pooling"], prompt) if "Pooling" in parts else "mean"
        of = parts.get("WeightedLayerPooling")
        kept = SentenceEncoder(bert, stored, stored_layers(of, bert.config.num_hidden_layers) if of else ())
        encoder = SentenceEncoder(bert, pooling or stored, kept.layers if layers is None else layers).eval()
        whitening = None
        if "Dense" in parts and (encoder.pooling, encoder.layers) == (stored, kept.layers):
            whitening = stored_whitening(parts["Dense"], bert.config.hidden_size)
        return cls(encoder, tokenizer, "Normalize" in parts, longest, whitening, prompt, truncate)

    def save(self, directory: str | Path, dtype: torch.dtype | None = None) -> None:
        """Write the checkpoint and the files of sentence-transformers: the layers (WeightedLayerPooling), how to pool
        them (Pooling), whitening as a linear layer (Dense), and unit length (Normalize)."""
        directory, bert = Path(directory), self.encoder.bert
        count, width = bert.config.num_hidden_layers, bert.config.hidden_size
        flags = {flag: name == self.encoder.pooling for name, flag in FLAGS.items()}
        values: dict[str, dict] = {"Transformer": {}}
        tensors: dict[str, dict[str, Tensor]] = {}
        if self.encoder.layers:
            weights = torch.zeros(count + 1)
            weights[list(self.encoder.layers)] = 1.0
            values["WeightedLayerPooling"] = {
                "word_embedding_dimension": width,
                "layer_start": 0,
                "num_hidden_layers": count,
            }
            tensors["WeightedLayerPooling"] = {"layer_weights": weights}
        values["Pooling"] = {"word_embedding_dimension": width, **flags, "pooling_mode_mean_sqrt_len_tokens": False}
        if self.whitening is not None:
            values["Dense"] = {
                "in_features": width,
                "out_features": self.whitening.dimensions,
                "bias": True,
                "activation_function": IDENTITY,
            }
            weight, bias = (torch.from_numpy(np.ascontiguousarray(part)) for part in self.whitening.as_layer())
            tensors["Dense"] = {"linear.weight": weight, "linear.bias": bias}
        if self.normalized:
            values["Normalize"] = {}
        modules = [
            {
                "idx": i,
                "name": str(i),
                "path": f"{i}_{kind}" if i else "",
                "type": f"sentence_transformers.models.{kind}",
            }
            for i, kind in enumerate(values)
        ]
        notes = {"output_hidden_states": True} if self.encoder.layers else None  # else only the last is passed on
        checkpoint.save(directory, bert, self.tokenizer, dtype=dtype, notes=notes)
        for i, (kind, told) in enumerate(values.items()):
            if not told:
                continue
            with checkpoint.writing(directory / f"{i}_{kind}") as ready:
                write_json(ready / "config.json", told)
                if kind in tensors:
                    save_file(tensors[kind], ready / checkpoint.WEIGHTS)
        lengths = {"max_seq_length": self.longest, "do_lower_case": False}  # the tokenizer lowers case itself
        with checkpoint.writing(directory) as ready:
            write_json(ready / LENGTHS, lengths)
            prompts = {"prompts": {"default": self.prompt}, "default_prompt_name": "default"} if self.prompt else {}
            kept = {"truncate_dim": self.truncate} if self.truncate else {}
            write_json(ready / PROMPTS, {"__version__": {}, **prompts, **kept})
            write_json(ready / MODULES, modules)
