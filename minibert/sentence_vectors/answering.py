"""Sentence vectors over HTTP: an encoder with the interface that `service.server` expects of a fine-tuned model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from minibert.sentence_vectors.encoder import SentenceVectors
from minibert.sentence_vectors.files import MODULES
from minibert.tasks.given import fields, some_text, text_given
from minibert.tasks.options import Options


class VectorTask:
    """Inputs are texts, a prediction is a vector."""

    name = "sentence-vectors"
    example_input = "How do I reset my password?"

    def input_schema(self, most: int, columns: Sequence[str] = ()) -> dict:
        """JSON Schema of one input. most: characters of a text."""
        text = some_text(most)
        return {"anyOf": [text, fields({"text": text}, columns)]}

    def texts_in(self, given: Any) -> list[tuple[list[str | int], str]]:
        return [([], given)] if isinstance(given, str) else [(["text"], given["text"])]

    def example(self, given: Any) -> str:
        return text_given(given, "text")[0]

    def plain(self, answer: Mapping[str, Any]) -> str:
        return " ".join(f"{number:.4f}" for number in answer["vector"])


class VectorPredictor:
    """`SentenceVectors` with the interface of `finetune.predictor.Predictor`."""

    task, options, labels = VectorTask(), Options(), None

    def __init__(self, vectors: SentenceVectors):
        self.vectors, self.model, self.tokenizer = vectors, vectors.encoder, vectors.tokenizer

    def answers(self, examples: Sequence[str]) -> tuple[list[dict], float]:
        rows = self.vectors.embed(examples)
        return [{"text": text, "vector": row.tolist()} for text, row in zip(examples, rows, strict=True)], 0.0

    def predict(self, inputs: Sequence[Any]) -> list[dict]:
        return self.answers([self.task.example(given) for given in inputs])[0]


def is_encoder(directory: str | Path) -> bool:
    """Whether the directory holds a sentence encoder: it has a modules.json, which says how to pool."""
    return (Path(directory) / MODULES).is_file()
