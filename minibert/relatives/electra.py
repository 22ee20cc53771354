"""ELECTRA (Clark et al. 2020, arXiv:2003.10555): not "which word was here?" at 15 % of the tokens, but "was this word
here?" at all of them. A small generator replaces words, a discriminator finds them and is the model that is used. Both
and their loss are in `minibert.relatives.parts.replaced_token_detection`. Names and fields as in transformers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from torch import nn

from minibert.config import PRESETS, BertConfig
from minibert.count import Shape
from minibert.model import Embeddings
from minibert.relatives.base import Relative
from minibert.relatives.parts.factorised import FactorisedEmbeddings
from minibert.relatives.parts.masked_lm import no_pooler
from minibert.relatives.parts.replaced_token_detection import CopyingGenerator, Discriminator, Generator, ReplacedTokens

PUBLISHED = {  # table 6, where it differs from the defaults below
    "base": {"embedding_size": 768, "generator_hidden_size": 256},
    "large": {"embedding_size": 1024, "generator_hidden_size": 256},
}


@dataclass(frozen=True)
class ElectraConfig(BertConfig):
    """embedding_size: E, of both networks, projected to H unless equal · generator_hidden_size: by default H/4; the
    generator has as many layers, and heads and F smaller in proportion (table 6)."""

    model_type: ClassVar[str] = "electra"
    mlm_act: ClassVar[str] = "gelu"  # the generator's, whatever hidden_act is, as in transformers
    presets: ClassVar = {**PRESETS, "small": (12, 256, 4)}  # table 6
    embedding_size: int = 128
    generator_hidden_size: int | None = None

    @property
    def widened(self) -> bool:
        return self.embedding_size != self.hidden_size

    @classmethod
    def preset(cls, name: str, **changes) -> Self:
        return super().preset(name, **{**PUBLISHED.get(name, {}), **changes})

    def generator(self) -> ElectraConfig:
        width = self.generator_hidden_size or self.hidden_size // 4
        most = max(1, self.num_attention_heads * width // self.hidden_size)
        heads = max(n for n in range(1, most + 1) if width % n == 0)
        inner = self.intermediate_size * width // self.hidden_size
        return self.change(hidden_size=width, num_attention_heads=heads, intermediate_size=inner)


RELATIVE = Relative(
    "ELECTRA",
    ElectraConfig,
    about="it was asked of every token whether another network had put it there; embeddings E = {embedding_size} wide",
    components={
        "embeddings": lambda config: (FactorisedEmbeddings if config.widened else Embeddings)(config),
        "pooler": no_pooler,  # pre-training has no loss on [CLS] alone
        "summary": nn.GELU,  # transformers'; the paper's code has none
    },
    objective=ReplacedTokens,
    shape=lambda c: Shape(c, c.embedding_size if c.widened else None, pooler=False, objective="rtd"),
    heads={"ForPreTraining": Discriminator, "ForMaskedLM": Generator, "ForAllTokens": CopyingGenerator},
    names=(
        (r"\bembeddings\.projection\b", "embeddings_project"),
        (r"^rtd\.dense\b", "discriminator_predictions.dense"),
        (r"^rtd\.decoder\b", "discriminator_predictions.dense_prediction"),
        (r"^mlm\.dense\b", "generator_predictions.dense"),
        (r"^mlm\.norm\b", "generator_predictions.LayerNorm"),
        (r"^mlm\.decoder\b", "generator_lm_head"),
    ),
    head_names={
        "ForSequenceClassification": (
            (r"^classifier\b", "classifier.out_proj"),
            (r"^summary\.0\b", "classifier.dense"),
        ),
        "ForMultipleChoice": ((r"^summary\.0\b", "sequence_summary.summary"),),
    },
)
