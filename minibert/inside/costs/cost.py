"""What inference with a model costs: parameters, memory, time per text; and the same after 8-bit quantization."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from minibert.finetune.predictor import Predictor
from minibert.heads import TaskBatch
from minibert.model import Batch
from minibert.tasks.features import padded
from minibert.tokenizer import Tokenizer

LONGEST = 128  # tokens per text when measuring


@dataclass(frozen=True)
class Cost:
    """parameters: as trained · megabytes: of what is kept in memory (10⁶ bytes) · milliseconds: per text."""

    parameters: int
    megabytes: float
    milliseconds: float


def int8(model: nn.Module) -> nn.Module:
    """A copy with PyTorch's dynamic 8-bit quantization: the weights of every linear layer are rounded once, with one
    scale per layer, and their inputs on the fly. Embeddings, norms and attention itself stay as they are: they are
    shared with a model on the CPU. Not for training; CPU only."""
    as_they_are = {id(x): x for part in model.modules() if not isinstance(part, nn.Linear) for x in own_weights(part)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated in favour of torchao
        copy = deepcopy(model, as_they_are).cpu().eval()
        return torch.ao.quantization.quantize_dynamic(copy, {nn.Linear}, dtype=torch.qint8, inplace=True)


def own_weights(part: nn.Module) -> list[nn.Parameter]:
    return [weight for weight in part.parameters(recurse=False) if weight.is_cpu]  # `cpu()` would move others in place


def kept(model: nn.Module) -> list[Tensor]:
    """All parameter tensors, each once, and the packed weights and biases of 8-bit layers."""
    tensors: list[Tensor] = [*model.parameters()]
    for part in model.modules():
        if isinstance(part, torch.ao.nn.quantized.dynamic.Linear):
            tensors += [tensor for tensor in part._weight_bias() if tensor is not None]
    return tensors


def size_of(model: nn.Module) -> tuple[int, int]:
    """(number of parameters, bytes) of what is kept in memory."""
    tensors = kept(model)
    return sum(x.numel() for x in tensors), sum(x.numel() * x.element_size() for x in tensors)


def measure(
    models: Mapping[str, tuple[nn.Module, Tokenizer]], texts: Sequence[str], repeats: int = 3
) -> dict[str, Cost]:
    """The cost of each (encoder or model with a head, tokenizer). Texts run one by one, as in a service; the time is
    the best of `repeats` rounds, models in turn, in CPU time of one thread, so that other load does not count."""
    with one_thread(), torch.inference_mode():
        batches = {name: [batch_of(tokenizer, text) for text in texts] for name, (_, tokenizer) in models.items()}
        best = dict.fromkeys(models, float("inf"))
        for turn in range(repeats + 1):  # the first is a warm-up
            for name, (model, _) in models.items():
                begun = time.thread_time()
                for batch in batches[name]:
                    model(batch)
                if turn:
                    best[name] = min(best[name], time.thread_time() - begun)
    sizes = {name: size_of(model) for name, (model, _) in models.items()}
    return {
        name: Cost(numbers, size / 1e6, 1e3 * best[name] / max(1, len(texts)))
        for name, (numbers, size) in sizes.items()
    }


def batch_of(tokenizer: Tokenizer, text: str) -> Batch:
    encoding = tokenizer.encode(text, max_length=LONGEST)
    return TaskBatch(torch.tensor([encoding.ids]), torch.tensor([encoding.segments]))


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread, so that timings do not depend on how many cores are free."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True)
class Answers:
    """scores: (N, outputs), a row per example, columns in the order of `labels`."""

    labels: list[str]
    scores: torch.Tensor

    def changed_from(self, other: Answers) -> list[int]:
        """Rows whose argmax differs."""
        return (self.scores.argmax(-1) != other.scores.argmax(-1)).nonzero().flatten().tolist()


@torch.inference_mode()
def answers(predictor: Predictor, examples: Sequence, batch_size: int = 32) -> Answers:
    """Logits of the examples, in the model's own precision, which may be 8-bit."""
    rows, scores = predictor.features(examples), []
    for at in range(0, len(rows), batch_size):
        read = padded(rows[at : at + batch_size], predictor.tokenizer.pad_id)
        scores.append(predictor.model(TaskBatch(read["ids"], read["segments"], read["padding"])).logits.float())
    return Answers(list(predictor.labels), torch.cat(scores))


def in_int8(predictor: Predictor) -> Predictor:
    return replace(predictor, model=int8(predictor.model))
