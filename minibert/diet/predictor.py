"""Predictions of a DIET, in the form of the task `intent`; saved as weights, JSON and the encoder of its features."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from minibert import checkpoint
from minibert.diet.dense import DenseFeatures
from minibert.diet.model import Diet, DietConfig
from minibert.diet.rows import DietRow, Labels, diet_batch, diet_rows
from minibert.diet.sparse import SparseFeatures
from minibert.finetune.predictor import Predictor
from minibert.model import IGNORE
from minibert.tasks import TASKS, Options, Task
from minibert.tasks.sequences import class_answers
from minibert.tasks.tagging import OUTSIDE, entity_answers, word_offsets
from minibert.text.json_values import check_kinds, json_object
from minibert.training.skip_init import sizes_only, skip_init

DESCRIPTION, WEIGHTS, ENCODER = "diet.json", "diet.safetensors", "encoder"
KINDS = {
    "config": dict[str, Any],
    "intents": list[str],
    "tags": list[str],
    "words": list[str],
    "grams": list[str],
    "longest": int,
    "encoder": str | None,
}


class WordTokenizer:
    """In place of the encoder's tokenizer where there is no encoder: the service asks it whether a text has words."""

    def encode_bulk(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text the start offsets of its words."""
        return [[start for start, _ in word_offsets(text)] for text in texts]


@dataclass(frozen=True)
class DietPredictor(Predictor):
    """The `Predictor` of a DIET, used like that of a fine-tuned model."""

    model: Diet
    tokenizer: Any  # the encoder's Tokenizer, or a WordTokenizer
    task: Task = field(default_factory=lambda: TASKS["intent"])
    options: Options = field(default_factory=Options)
    names: Labels = field(default_factory=dict)
    sparse: SparseFeatures | None = None
    dense: DenseFeatures | None = None

    @property
    def labels(self) -> Labels:
        return self.names

    def features(self, examples: Sequence) -> list[DietRow]:
        return diet_rows(examples, self.names, self.sparse, self.dense)

    def batch_outputs(self, features: Sequence[DietRow], device: torch.device) -> tuple[list[dict], float, int]:
        """The output of a row: its similarities to all intents, the most probable path of tags, and the probability of
        each tag on it."""
        batch = diet_batch(features).to(device)
        output = self.model(batch)
        emissions = output.emissions.float()
        similarities = output.similarities.float().cpu().numpy()
        probs = self.model.crf.marginals(emissions, batch.words).cpu().numpy()
        rows = [
            {
                "similarities": similarities[row],
                "path": path,
                "probs": [float(probs[row, t, i]) for t, i in enumerate(path)],
            }
            for row, path in enumerate(self.model.crf.best(emissions, batch.words))
        ]
        if not output.losses or batch.intents is None or not (batch.intents != IGNORE).any():
            return rows, 0.0, 0
        return rows, float(output.losses["loss"]), len(rows)

    def decoded(self, outputs: Sequence[dict], features: Sequence[DietRow], examples: Sequence) -> list[dict]:
        intents = class_answers([{"logits": output["similarities"]} for output in outputs], self.names["intents"])
        predictions = []
        for example, intent, output in zip(examples, intents, outputs, strict=True):
            unread = len(example.words) - len(output["path"])
            tags = [*(self.names["tags"][tag] for tag in output["path"]), *[OUTSIDE] * unread]
            predictions.append(
                {
                    "text": example.text,
                    "intent": intent["label"],
                    "probabilities": intent["probabilities"],
                    "words": list(example.words),
                    "tags": tags,
                    "tag_probabilities": [*output["probs"], *[0.0] * unread],
                    "entities": entity_answers(example, tags),
                }
            )
        return predictions

    def save(self, directory: str | Path, dtype: torch.dtype | None = None, encoder: str | None = None) -> Path:
        """Write a directory for `from_directory`. encoder: path of the frozen encoder, relative to that directory; if
        None, a copy is written there."""
        directory = Path(directory)
        if self.dense is not None and encoder is None:
            checkpoint.save(directory / ENCODER, self.dense.bert, self.tokenizer, dtype=torch.float16)
        sparse = self.sparse or SparseFeatures((), (), 1)
        description = {
            "config": asdict(self.model.config),
            **self.names,
            **{"words": sparse.words, "grams": sparse.grams, "longest": sparse.longest},
            "encoder": None if self.dense is None else encoder or ENCODER,
        }
        state = {
            name: x.detach().cpu().to(dtype or x.dtype).contiguous() for name, x in self.model.state_dict().items()
        }
        with checkpoint.writing(directory) as folder:
            save_file(state, folder / WEIGHTS)
            text = json.dumps(description, ensure_ascii=False)
            (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")
        return directory

    @classmethod
    def from_directory(cls, directory: str | Path) -> DietPredictor:
        """Load what `save` wrote. Raises CheckpointError if that is not possible."""
        directory = Path(directory)
        try:
            values = json_object(checkpoint.existing(directory, DESCRIPTION))
            if missing := KINDS.keys() - values.keys():
                raise ValueError(f"{DESCRIPTION} does not say its {min(missing)}")
            check_kinds(values, KINDS)
            config = DietConfig.from_dict(values["config"])
            sparse = None
            if config.features != "dense":
                sparse = SparseFeatures(tuple(values["words"]), tuple(values["grams"]), values["longest"])
            names = {name: values[name] for name in ("intents", "tags")}
            stored = load_file(checkpoint.existing(directory, WEIGHTS))
            checkpoint.check_finite(stored, directory / WEIGHTS)

            def build() -> Diet:
                return Diet(config, len(sparse or ()), *map(len, names.values()))

            with sizes_only():
                expected = build().state_dict()
            if {n: x.shape for n, x in stored.items()} != {n: x.shape for n, x in expected.items()}:
                raise ValueError(f"{WEIGHTS} holds other weights than {DESCRIPTION} asks for")
            with skip_init(whole=True):
                model = build()
            model.load_state_dict(stored)
            dense = None
            if config.features != "sparse":
                dense = DenseFeatures.from_directory(directory / (values["encoder"] or ENCODER))
                if dense.size != config.dense_size:
                    raise ValueError(
                        f"the encoder has {dense.size} numbers a word, the model reads {config.dense_size}"
                    )
        except (ValueError, TypeError, KeyError, RuntimeError, SafetensorError) as error:
            raise checkpoint.CheckpointError(f"{directory} holds no DIET that can be read: {error}") from error
        tokenizer = dense.tokenizer if dense is not None else WordTokenizer()
        return cls(model.eval(), tokenizer, names=names, sparse=sparse, dense=dense)


def is_diet(directory: str | Path) -> bool:
    return (Path(directory) / DESCRIPTION).is_file()


def load_predictor(directory: str | Path) -> Predictor:
    """The predictor of a DIET or of a fine-tuned model, whichever the directory holds."""
    return (DietPredictor if is_diet(directory) else Predictor).from_directory(directory)


def ranked_intents(prediction: dict) -> list[tuple[str, float]]:
    """The intents of a prediction with their probabilities, most probable first."""
    return sorted(prediction["probabilities"].items(), key=lambda item: -item[1])
