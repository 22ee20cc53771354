"""A student's initial weights: every second layer of its teacher (DistilBERT, Sanh et al. 2019, §3)."""

from __future__ import annotations

from collections.abc import Sequence

from minibert.finetune.learner import shared_blocks
from minibert.model import BertForPreTraining
from minibert.relatives import build
from minibert.relatives.distilbert import DistilBertConfig
from minibert.relatives.parts.masked_lm import MaskedLm


def alternate_layers(layers: int) -> list[int]:
    """The layers, from 0, that DistilBERT takes: 0, 2, 4, 7, 9, 11 of twelve, as in its authors' script; of any other
    number the first of each pair."""
    return [0, 2, 4, 7, 9, 11] if layers == 12 else list(range(0, layers, 2))


def student_of(teacher: BertForPreTraining, layers: Sequence[int] | None = None) -> MaskedLm:
    """A DistilBERT with these layers of the teacher (from 0), its token and position embeddings and its masked-LM head;
    segment embeddings and pooler are dropped. Raises ValueError if the teacher is not a plain BERT."""
    if teacher.config.model_type != "bert" or shared_blocks(teacher.bert):
        raise ValueError(f"a DistilBERT is cut out of a BERT, not out of {teacher.config.model_type!r}")
    layers = alternate_layers(teacher.config.num_hidden_layers) if layers is None else list(layers)
    if not layers or not all(0 <= layer < teacher.config.num_hidden_layers for layer in layers):
        raise ValueError(f"layers are 0 to {teacher.config.num_hidden_layers - 1} of the teacher, not {layers}")
    config = DistilBertConfig(**{**teacher.config.as_dict(), "num_hidden_layers": len(layers)})
    student = build(config, MaskedLm)
    pairs = [(teacher.bert.embeddings, student.bert.embeddings), (teacher.mlm, student.mlm)]
    pairs += [(teacher.bert.blocks[layer], block) for layer, block in zip(layers, student.bert.blocks, strict=True)]
    for source, target in pairs:
        weights = source.state_dict()
        target.load_state_dict({name: weights[name] for name in target.state_dict()})
    return student.eval()
