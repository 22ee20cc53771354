"""Export of a fine-tuned model: as a Hugging Face directory, or as ONNX for programs without torch.

An export is kept only if the written model, loaded again, gives the same outputs.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from minibert import checkpoint
from minibert.finetune.predictor import Predictor
from minibert.heads import (
    BertForCloze,
    BertForIntentAndEntities,
    BertForMultipleChoice,
    BertForSequenceClassification,
    TaskBatch,
    TaskHead,
)
from minibert.relatives import relative_of

FORMATS = ("huggingface", "onnx")
DTYPES = {"float32": torch.float32, "float16": torch.float16}
TOLERANCE = 1e-4  # of a logit
POOLED = (BertForSequenceClassification, BertForMultipleChoice)  # heads on one pooled vector
ONNX_FILE = "model.onnx"
ONNX_PACKAGES = ("onnx", "onnxscript", "onnxruntime")
# (rows, choices, tokens) of the batches that are compared; tokens no more than the model has positions
SHAPES = ((1, 1, 1), (1, 2, 7), (3, 4, 32), (2, 3, 512))


class ExportError(ValueError):
    """The model cannot be exported in this format, or the export gives other outputs than the model."""


@dataclass(frozen=True)
class Exported:
    """difference: the largest absolute difference between logits of the model and of the export, over `rows` random
    inputs · notes: what a user of the export must know."""

    path: Path
    format: str
    dtype: str
    difference: float
    rows: int
    notes: tuple[str, ...] = ()


def export(model: str | Path, out: str | Path, format: str = "huggingface", dtype: str = "float32") -> Exported:
    """Export the fine-tuned model in the directory `model` to the directory `out`, and compare the two.

    huggingface: loadable by `Predictor.from_directory` and transformers; weights as float32 or float16 (half the size,
    rounded) · onnx: `model.onnx` (see `TensorModel`), with the tokenizer and config.json beside it.
    Raises ExportError, CheckpointError (no fine-tuned model), or OSError.
    """
    if format not in FORMATS:
        raise ExportError(f"no format {format!r}; there are {', '.join(FORMATS)}")
    if dtype not in DTYPES:
        raise ExportError(f"weights are one of {', '.join(DTYPES)}, not {dtype!r}")
    if format == "onnx" and dtype != "float32":
        raise ExportError("ONNX is written in float32, so that it can be compared with the model")
    model, out = Path(model), Path(out)
    if out.exists() and out.samefile(model):
        raise ExportError(f"{out} is the model itself: name another directory")
    checkpoint.make_ready(out)
    predictor = Predictor.from_directory(model)
    write = to_onnx if format == "onnx" else to_huggingface
    difference, rows = write(predictor, model, out, dtype)
    notes = () if format == "onnx" else transformers_notes(predictor.model)
    return Exported(out, format, dtype, difference, rows, notes)


# --- Hugging Face -----------------------------------------------------------------------------------------------------


def to_huggingface(predictor: Predictor, source: Path, out: Path, dtype: str) -> tuple[float, int]:
    with checkpoint.writing(out) as folder:
        predictor.save(folder / "model", DTYPES[dtype])
        try:
            again = TensorModel(checkpoint.load(folder / "model"))
        except checkpoint.CheckpointError as error:
            raise ExportError(
                f"a weight is no number in {dtype}, or cannot be read again: nothing was written"
            ) from error
        difference, rows = compare(TensorModel(predictor.model), lambda inputs: again(*inputs.values()))
        if difference > TOLERANCE and dtype == "float32":
            raise ExportError(f"the saved model differs from the model by {difference:.2g}: nothing was written")
        for file in (folder / "model").iterdir():
            file.rename(folder / file.name)
        (folder / "model").rmdir()
    return difference, rows


def transformers_notes(model: TaskHead) -> tuple[str, ...]:
    """Why transformers cannot load the directory, or loads it but gives other answers."""
    relative = relative_of(model.config)
    if not relative.in_transformers:
        return (f"transformers has no {relative.title} model and cannot load it; minibert and ONNX can",)
    if isinstance(model, BertForIntentAndEntities):
        return ("transformers has no head for an intent and entities: it loads the encoder alone",)
    if isinstance(model, BertForCloze):
        return (
            "transformers loads it as a masked LM: at [MASK] only the words in config.json, cloze_words, are compared",
        )
    options = model.options
    extensions = {
        f"pooling {options.pooling!r}": options.pooling != "cls" and isinstance(model, POOLED),
        f"layers {options.layers!r}": options.layers != "last",
        "BiLSTM": options.bilstm,
        f"depth {options.depth}": options.depth > 1,
        "metadata": len(options.metadata) > 0,
    }
    used = ", ".join(name for name, is_used in extensions.items() if is_used)
    return (f"transformers knows no {used} and would answer otherwise; minibert and ONNX do",) if used else ()


# --- ONNX -------------------------------------------------------------------------------------------------------------


class TensorModel(nn.Module):
    """The model as a function of tensors, in evaluation mode: what the ONNX file contains.

    ids, segments: (B, T) int64 · padding: (B, T) bool, True for real tokens · metadata: (B, columns) int64, the index
    of each column's value, if the model uses metadata. With choices: (B, C, T) and (B, C, columns).
    → logits, and intent_logits if there are intents; shapes as in `HeadOutput`.
    """

    def __init__(self, model: TaskHead):
        super().__init__()
        self.model = model
        self.eval()

    def forward(self, ids: Tensor, segments: Tensor, padding: Tensor, metadata: Tensor | None = None) -> list[Tensor]:
        output = self.model(TaskBatch(ids, segments, padding, metadata=metadata))
        return [x for x in (output.logits, output.intent_logits) if x is not None]

    @property
    def input_names(self) -> list[str]:
        return ["ids", "segments", "padding", *(["metadata"] if len(self.model.metadata) else [])]

    @property
    def output_names(self) -> list[str]:
        return ["logits", *(["intent_logits"] if isinstance(self.model, BertForIntentAndEntities) else [])]

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the dimensions of `ids`."""
        return ("batch", "choices", "tokens") if isinstance(self.model, BertForMultipleChoice) else ("batch", "tokens")

    def random_inputs(self, rows: int, choices: int, tokens: int, rng: torch.Generator) -> dict[str, Tensor]:
        """Inputs by name: the first row has full length, the others random lengths."""
        config, count = self.model.config, rows * (choices if "choices" in self.axes else 1)
        ids = torch.randint(config.vocab_size, (count, tokens), generator=rng)
        segments = torch.randint(config.type_vocab_size, (count, tokens), generator=rng)
        lengths = torch.randint(1, tokens + 1, (count, 1), generator=rng)
        lengths[0] = tokens
        inputs = {"ids": ids, "segments": segments, "padding": torch.arange(tokens) < lengths}
        if len(self.model.metadata):
            tables: Any = self.model.metadata
            columns = [torch.randint(table.num_embeddings, (count,), generator=rng) for table in tables]
            inputs["metadata"] = torch.stack(columns, dim=1)  # (rows, columns)
        return {name: x.unflatten(0, (rows, -1)) if "choices" in self.axes else x for name, x in inputs.items()}


def to_onnx(predictor: Predictor, source: Path, out: Path, dtype: str) -> tuple[float, int]:
    missing = [name for name in ONNX_PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise ExportError(f"ONNX needs {', '.join(missing)}: pip install {' '.join(missing)}")
    if predictor.model.options.bilstm:
        raise ExportError("the exporter of torch cannot write the BiLSTM of this model: export it as huggingface")
    import onnxruntime

    graph = TensorModel(predictor.model)
    with checkpoint.writing(out) as folder:
        write_onnx(graph, folder / ONNX_FILE)
        session = onnxruntime.InferenceSession(folder / ONNX_FILE, providers=["CPUExecutionProvider"])
        expected = graph.input_names, graph.output_names
        if ([x.name for x in session.get_inputs()], [x.name for x in session.get_outputs()]) != expected:
            raise ExportError(f"the ONNX file should have inputs and outputs {expected}: nothing was written")

        def run(inputs: dict[str, Tensor]) -> list[Tensor]:
            return [torch.from_numpy(x) for x in session.run(None, {k: v.numpy() for k, v in inputs.items()})]

        difference, rows = compare(graph, run)
        if difference > TOLERANCE:
            raise ExportError(f"the ONNX file differs from the model by {difference:.2g}: nothing was written")
        # What a program needs to make the inputs and to name the outputs.
        predictor.tokenizer.save(folder)
        text = json.dumps({**checkpoint.config_values(source), "dtype": "float32"}, indent=2, ensure_ascii=False)
        (folder / checkpoint.CONFIG).write_text(text + "\n", encoding="utf-8")
    return difference, rows


def write_onnx(graph: TensorModel, file: Path) -> None:
    """Write one file, weights included; batch, choices and tokens are dynamic, tokens at most the model's positions."""
    most = graph.model.config.longest
    dims = {name: torch.export.Dim(name, min=1, max=most if name == "tokens" else None) for name in graph.axes}
    inputs = graph.random_inputs(2, 3, min(5, most), torch.Generator().manual_seed(0))
    shapes = [dict(enumerate(dims.values())) for _ in inputs]
    if "metadata" in inputs:
        shapes[-1] = {i: dims[name] for i, name in enumerate(graph.axes) if name != "tokens"}
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)  # it lists optional packages that are not installed
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                graph,
                tuple(inputs.values()),
                file,
                input_names=graph.input_names,
                output_names=graph.output_names,
                dynamic_shapes=tuple(shapes),
                external_data=False,
                verbose=False,
            )
    finally:
        logger.setLevel(level)


# --- comparing --------------------------------------------------------------------------------------------------------


def batches(graph: TensorModel, seed: int = 0) -> Iterator[dict[str, Tensor]]:
    rng = torch.Generator().manual_seed(seed)
    for rows, choices, tokens in SHAPES:
        yield graph.random_inputs(rows, choices, min(tokens, graph.model.config.longest), rng)


@torch.no_grad()
def compare(graph: TensorModel, other: Callable[[dict[str, Tensor]], Sequence[Tensor]]) -> tuple[float, int]:
    """(the largest absolute difference between an output of the model and of `other`, a function of the inputs by name,
    over random batches of several shapes; number of rows compared). Raises ExportError for other shapes or non-numbers.
    """
    largest, rows = 0.0, 0
    for inputs in batches(graph):
        for name, x, y in zip(graph.output_names, graph(*inputs.values()), other(inputs), strict=True):
            if x.shape != y.shape or not y.isfinite().all():
                raise ExportError(
                    f"{name} of {tuple(x.shape)} came back as {tuple(y.shape)}, or with what is no number"
                )
            largest = max(largest, (x - y).abs().max().item())
        rows += len(inputs["ids"])
    return largest, rows
