"""Recurrent networks that read the toy world: ELMo's bidirectional language model, and an encoder–decoder without
attention.

Letters as in `minibert.model`; E embedding size, H state size. `minibert.inside.relatives.recurrent` looks into them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from minibert.checkpoint import existing
from minibert.config import BertConfig
from minibert.model import IGNORE, Batch, Tap, no_tap
from minibert.text.batches import padded_batch
from minibert.text.json_values import json_object
from minibert.tokenizer import Tokenizer
from minibert.toy import world as toy_world
from minibert.toy.files import load_network, readable, save_network
from minibert.toy.seq2seq import Seq2Seq
from minibert.toy.world import Story
from minibert.train import Event, Optimization
from minibert.training.cross_entropy import cross_entropy
from minibert.training.train_and_evaluate import train_and_evaluate

WEIGHTS, DESCRIPTION = "recurrent.safetensors", "recurrent.json"  # not a BERT's file names: this is no BERT
HELD_OUT = 60  # stories
SIZES = ("vocab_size", "embedding_size", "hidden_size")


# --- a language model from both ends ------------------------------------------------------------------------------


@dataclass(frozen=True)
class BiLmOutput:
    """forwards, backwards: (B, T, H), the states of either direction, each after reading its own token · loss: the sum
    of the two directions' mean cross-entropies."""

    forwards: Tensor
    backwards: Tensor
    loss: Tensor


def reverse_rows(x: Tensor, lengths: Tensor) -> Tensor:
    """Reverse each row's real tokens; padding stays at the end. x: (B, T, …) · lengths: (B,). Its own inverse."""
    at = torch.arange(x.size(1), device=x.device).expand(x.shape[:2])  # (B, T)
    back = torch.where(at < lengths[:, None], lengths[:, None] - 1 - at, at)
    return x.gather(1, back.reshape(*back.shape, *[1] * (x.dim() - 2)).expand_as(x))


class BiLm(nn.Module):
    """Two language models, one from each side (Peters et al. 2018, §3.1). They share the embeddings Θx and the output
    layer Θs, not the LSTMs. ELMo has two layers of 4,096 numbers with projections; here is one, to keep it readable."""

    def __init__(self, vocab_size: int, embedding_size: int, hidden_size: int):
        super().__init__()
        self.token = nn.Embedding(vocab_size, embedding_size)
        self.forwards = nn.LSTM(embedding_size, hidden_size, batch_first=True)
        self.backwards = nn.LSTM(embedding_size, hidden_size, batch_first=True)
        self.output = nn.Linear(hidden_size, vocab_size)

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(SIZES, (*self.token.weight.shape, self.forwards.hidden_size), strict=True))

    def states(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """ids (B, T) → forwards (B, T, H), backwards (B, T, H), both in the order of the text."""
        x = self.token(batch.ids)  # (B, T, E)
        lengths = self.lengths(batch)
        back, _ = self.backwards(reverse_rows(x, lengths))
        return self.forwards(x)[0], reverse_rows(back, lengths)

    @staticmethod
    def lengths(batch: Batch) -> Tensor:
        return torch.full((len(batch.ids),), batch.ids.size(1)) if batch.padding is None else batch.padding.sum(1)

    def expected(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits (B, T, V) of the token at each place, from those before it and from those after it. The first has none
        before it and the last none after it: ignore these two rows."""
        forwards, backwards = self.states(batch)
        return self.output(forwards.roll(1, 1)), self.output(backwards.roll(-1, 1))

    def forward(self, batch: Batch) -> BiLmOutput:
        forwards, backwards = self.states(batch)
        last = self.lengths(batch)[:, None] - 1
        at = torch.arange(batch.ids.size(1), device=batch.ids.device)
        after = torch.where(at < last, batch.ids.roll(-1, 1), IGNORE)  # (B, T)
        before = torch.where((at > 0) & (at <= last), batch.ids.roll(1, 1), IGNORE)
        losses = [
            cross_entropy(self.output(states).flatten(0, 1), labels.flatten())
            for states, labels in ((forwards, after), (backwards, before))
        ]
        return BiLmOutput(forwards, backwards, losses[0] + losses[1])

    def save(self, directory: str | Path) -> None:
        """Save sizes and weights, in half precision, atomically."""
        state = {name: value.half() for name, value in self.state_dict().items()}
        save_network(Path(directory) / WEIGHTS, Path(directory) / DESCRIPTION, state, self.sizes)

    @classmethod
    def load(cls, directory: str | Path) -> BiLm:
        """Load what `save` has written. Raises CheckpointError if that is missing or invalid."""
        directory = Path(directory)
        with readable(directory, "recurrent network"):
            fields = json_object(existing(directory, DESCRIPTION))
            sizes = {name: int(fields[name]) for name in SIZES}
            return load_network(directory / WEIGHTS, lambda: cls(**sizes))


@dataclass(frozen=True)
class BiLmSettings:
    """longest: tokens of a row, at most · unknown: the share of words that training replaces by [UNK], so that the
    model can read texts with unknown words."""

    embedding_size: int = 64
    hidden_size: int = 128
    stories: int = 6_000
    world: str = "whole"
    longest: int = 64
    steps: int = 1_000
    batch_size: int = 32
    unknown: float = 0.02
    seed: int = 0
    optimization: Optimization = field(
        default_factory=lambda: Optimization(learning_rate=1e-2, beta2=0.98, weight_decay=0.0)
    )

    @property
    def evaluate_every(self) -> int:
        return self.steps


def rows_of(stories: Sequence[Story], tokenizer: Tokenizer) -> list[list[list[int]]]:
    """The ids of every sentence of every story."""
    return [
        [[tokenizer.ids[word.text] for word in sentence.words] for sentence in story.sentences] for story in stories
    ]


def train_bilm(settings: BiLmSettings, out: str | Path | None = None) -> Iterator[Event]:
    """Train on consecutive sentences of toy stories, between [CLS] and [SEP]; save to `out` at the end.

    Each `Eval`, before the first step and after the last, holds `forwards` and `backwards`: the perplexity of the next
    token from either side, and the shares of determined words that one side puts first (`determined.forwards` …), or at
    least one of them (`.either`).
    """
    torch.manual_seed(settings.seed)
    rng = random.Random(settings.seed)
    tokenizer = Tokenizer(toy_world.vocabulary())
    rows = rows_of(toy_world.stories(settings.stories, settings.seed, settings.world), tokenizer)
    held_out = toy_world.stories(HELD_OUT, settings.seed + 1_000_003, settings.world)
    model = BiLm(tokenizer.vocab_size, settings.embedding_size, settings.hidden_size)

    def row() -> list[int]:
        story = rng.choice(rows)
        start = rng.choice([0, 0, rng.randrange(len(story))])  # from the beginning, mostly
        count = rng.randint(1, len(story) - start)
        ids = [i for sentence in story[start : start + count] for i in sentence][: settings.longest - 2]
        ids = [tokenizer.unk_id if rng.random() < settings.unknown else i for i in ids]
        return [tokenizer.cls_id, *ids, tokenizer.sep_id]

    def batches() -> Iterator[Batch]:
        while True:
            yield padded_batch([row() for _ in range(settings.batch_size)], tokenizer.pad_id)

    yield from train_and_evaluate(
        model,
        batches(),
        settings,
        lambda: evaluate(model, held_out, tokenizer),
        report_every=50,
        save=model.save,
        out=out,
    )


@torch.no_grad()
def evaluate(model: BiLm, stories: Sequence[Story], tokenizer: Tokenizer) -> dict[str, float]:
    """What the `Eval` of `train_bilm` holds."""
    losses: dict[str, list[Tensor]] = {"forwards": [], "backwards": []}
    hits: dict[str, list[Tensor]] = {"forwards": [], "backwards": []}
    for story, sentences in zip(stories, rows_of(stories, tokenizer), strict=True):
        words = torch.tensor([i for sentence in sentences for i in sentence])
        batch = Batch(torch.tensor([[tokenizer.cls_id, *words.tolist(), tokenizer.sep_id]]))
        determined = torch.tensor(toy_world.determined(story))
        for side, logits in zip(losses, model.expected(batch), strict=True):
            here = logits[0, 1:-1]  # (words, V)
            losses[side].append(F.cross_entropy(here, words, reduction="none"))
            hits[side].append((here.argmax(-1) == words)[determined])
    right = {side: torch.cat(found) for side, found in hits.items()}
    found = {side: torch.cat(values).mean().exp().item() for side, values in losses.items()}
    shares = {**right, "either": right["forwards"] | right["backwards"]}
    return found | {f"determined.{side}": values.double().mean().item() for side, values in shares.items()}


# --- an encoder–decoder without attention -------------------------------------------------------------------------


class RecurrentPair(Seq2Seq):
    """An LSTM encoder, and an LSTM decoder that begins with the encoder's last state alone (Sutskever et al. 2014, §2).
    Trained and used like `minibert.toy.seq2seq.EncoderDecoder`."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.config = config
        size = config.hidden_size
        self.token = nn.Embedding(config.vocab_size, size)
        self.encoder = nn.LSTM(size, size, batch_first=True)
        self.decoder = nn.LSTM(size, size, batch_first=True)
        nn.init.normal_(self.token.weight, std=size**-0.5)

    def encode(self, batch: Batch, tap: Tap = no_tap) -> tuple[Tensor, Tensor]:
        """ids (B, S) → the state after each row's last real token: h and c, (1, B, H) each, however long the row."""
        x = self.token(batch.ids) * self.token.embedding_dim**0.5  # (B, S, H)
        if batch.padding is not None:
            x = pack_padded_sequence(x, batch.padding.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        h, c = self.encoder(x)[1]
        return tap("memory.h", h), tap("memory.c", c)

    def decode(self, target: Tensor, memory: tuple[Tensor, Tensor], source: Batch, tap: Tap = no_tap) -> Tensor:
        """target (B, T), memory → logits (B, T, V): row t predicts the word after target word t."""
        x = self.token(target) * self.token.embedding_dim**0.5
        return tap("logits", F.linear(self.decoder(x, memory)[0], self.token.weight))  # tied
