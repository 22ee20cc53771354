"""The whole Transformer, encoder and decoder (Vaswani et al. 2017, arXiv:1706.03762), small enough to train in seconds.

Built from BERT's own parts: BERT is the Transformer's left half. Input is a sentence of words, output the same words in
another order: `reverse`, `sort` or `copy`. Letters as in `minibert.model`, with S source tokens and T target tokens.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minibert.attention_masks import causal_mask, padding_mask
from minibert.checkpoint import existing
from minibert.config import BertConfig, check_positive
from minibert.model import IGNORE, Batch, Block, Tap, no_tap, prefix_tap
from minibert.seq2seq.decoder import DecoderBlock, PairBatch, Seq2SeqOutput, greedy
from minibert.text.batches import padded
from minibert.text.json_values import json_object
from minibert.text.position_vectors import sinusoids
from minibert.tokenizer import basic_tokens
from minibert.toy import lexicon as toy_lexicon
from minibert.toy.files import load_network, readable, save_network
from minibert.train import Event, Optimization
from minibert.training.cross_entropy import cross_entropy
from minibert.training.precision import best_device
from minibert.training.train_and_evaluate import train_and_evaluate

PAD, BOS, EOS, UNK = SPECIALS = ("[PAD]", "[BOS]", "[EOS]", "[UNK]")
WEIGHTS, DESCRIPTION = "seq2seq.safetensors", "seq2seq.json"  # not a BERT's file names: this is no BERT


# --- the model ---------------------------------------------------------------------------------------------------


class SinusoidEmbeddings(nn.Module):
    """token · √H + sinusoid (Vaswani et al. 2017, §3.4 and §3.5). No segments: the two texts are fed separately."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.token = nn.Embedding(config.vocab_size, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.position: Tensor
        self.register_buffer(
            "position", sinusoids(config.max_position_embeddings, config.hidden_size), persistent=False
        )

    def forward(self, ids: Tensor, tap: Tap = no_tap) -> Tensor:
        token = tap("token", self.token(ids) * math.sqrt(self.token.embedding_dim))  # (B, T, H)
        return tap("out", self.dropout(token + self.position[: ids.size(1)]))  # (B, T, H)


class Seq2Seq(nn.Module):
    """An encoder and a decoder, trained by teacher forcing: all positions of the target at once, each given the right
    words before it."""

    config: BertConfig

    def encode(self, batch: Batch, tap: Tap = no_tap) -> Any:
        """What the decoder reads of the source."""
        raise NotImplementedError

    def decode(self, target: Tensor, memory: Any, source: Batch, tap: Tap = no_tap) -> Tensor:
        """target (B, T) → logits (B, T, V): row t predicts the word after target word t."""
        raise NotImplementedError

    def forward(self, batch: PairBatch, tap: Tap = no_tap) -> Seq2SeqOutput:
        if batch.target is None:
            raise ValueError("without a target there is nothing to decode")
        logits = self.decode(batch.target, self.encode(batch, tap), batch, tap)
        if batch.labels is None:
            return Seq2SeqOutput(logits)
        return Seq2SeqOutput(logits, cross_entropy(logits.flatten(0, 1), batch.labels.flatten()))


class EncoderDecoder(Seq2Seq):
    """Encoder and decoder with one embedding matrix for source, target and output (Vaswani et al. 2017, §3).

    config.num_hidden_layers blocks on each side.
    """

    def __init__(self, config: BertConfig):
        super().__init__()
        self.config = config
        self.embeddings = SinusoidEmbeddings(config)
        self.encoder = nn.ModuleList(Block(config) for _ in range(config.num_hidden_layers))
        self.decoder = nn.ModuleList(DecoderBlock(config) for _ in range(config.num_hidden_layers))
        initialize(self)

    def encode(self, batch: Batch, tap: Tap = no_tap) -> Tensor:
        """ids (B, S) → (B, S, H): once for each source."""
        mask = None if batch.padding is None else padding_mask(batch.padding)  # (B, 1, 1, S)
        x = self.embeddings(batch.ids, prefix_tap(tap, "encoder.embeddings"))  # (B, S, H)
        for i, block in enumerate(self.encoder):
            x = block(x, mask, prefix_tap(tap, f"encoder.blocks.{i}"))  # (B, S, H)
        return x

    def decode(self, target: Tensor, memory: Tensor, source: Batch, tap: Tap = no_tap) -> Tensor:
        """target (B, T), memory (B, S, H) → logits (B, T, V): row t predicts the word after target word t."""
        mask = causal_mask(target.size(1), target.device)  # (1, 1, T, T)
        source_mask = None if source.padding is None else padding_mask(source.padding)  # (B, 1, 1, S)
        x = self.embeddings(target, prefix_tap(tap, "decoder.embeddings"))  # (B, T, H)
        for i, block in enumerate(self.decoder):
            x = block(x, memory, mask, source_mask, prefix_tap(tap, f"decoder.blocks.{i}"))  # (B, T, H)
        return tap("logits", F.linear(x, self.embeddings.token.weight))  # tied: (B, T, H) → (B, T, V)


@torch.no_grad()
def initialize(model: EncoderDecoder) -> None:
    """Glorot-uniform matrices, zero biases; embeddings N(0, 1/H): token · √H weighs about what a sinusoid does."""
    for part in model.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)
        elif isinstance(part, nn.Embedding):
            nn.init.normal_(part.weight, std=part.embedding_dim**-0.5)


# --- the task ----------------------------------------------------------------------------------------------------


def reverse(words: Sequence[str]) -> list[str]:
    return list(reversed(words))


def copy(words: Sequence[str]) -> list[str]:
    return list(words)


REORDERINGS: dict[str, Callable[[Sequence[str]], list[str]]] = {"reverse": reverse, "sort": sorted, "copy": copy}


def word_list() -> list[str]:
    """The words that sentences are made of: some of the toy world's."""
    words = [*toy_lexicon.GIRLS[:4], *toy_lexicon.BOYS[:4], *toy_lexicon.NUMBERS[:5], "the", "a", "and"]
    for name, count in (
        ("colour", 6),
        ("look", 4),
        ("toy", 7),
        ("beast", 7),
        ("place", 6),
        ("smiled", 5),
        ("liked", 4),
    ):
        words += toy_lexicon.WORDS[name][1].split()[:count]
    return list(dict.fromkeys(words))


def split_words(text: str) -> list[str]:
    """Lower-cased words, as BERT's tokenizer splits them before WordPiece; punctuation left out."""
    return [part for part in basic_tokens(text, uncased=True) if any(map(str.isalnum, part))]


@dataclass(frozen=True)
class Words:
    """A closed vocabulary, one entry per word. All other words are [UNK], which BERT's word pieces avoid."""

    entries: tuple[str, ...]

    @classmethod
    def of(cls, words: Iterable[str]) -> Words:
        return cls((*SPECIALS, *dict.fromkeys(words)))

    @cached_property
    def ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.entries)}

    def known(self, words: Iterable[str]) -> list[str]:
        """The words as the model reads them, [UNK] for the others."""
        return [word if word in self.ids else UNK for word in words]

    def batch(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]] | None = None) -> PairBatch:
        """Source: words [EOS]. The decoder reads [BOS], and the words of the targets, whose labels are words [EOS]."""
        ids = padded([[*self._ids(row), self.ids[EOS]] for row in sources], self.ids[PAD])
        real = ids != self.ids[PAD]
        padding = None if real.all() else real
        if targets is None:
            return PairBatch(ids, padding=padding, target=torch.full((len(ids), 1), self.ids[BOS]))
        rows = [self._ids(row) for row in targets]
        target = padded([[self.ids[BOS], *row] for row in rows], self.ids[PAD])
        return PairBatch(ids, None, padding, padded([[*row, self.ids[EOS]] for row in rows], IGNORE), target=target)

    def _ids(self, words: Iterable[str]) -> list[int]:
        return [self.ids[word] for word in self.known(words)]


@dataclass(frozen=True)
class Sentences:
    """Random sequences of 1 … `longest` words, every word equally likely at every place. Held-out sentences are never
    drawn."""

    words: Words
    longest: int
    repeats: bool = True  # whether a word may come up twice in a sentence
    held_out: frozenset[tuple[str, ...]] = frozenset()

    def draw(self, rng: random.Random) -> tuple[str, ...]:
        choices = self.words.entries[SPECIALS.index(UNK) :]
        while True:
            count = rng.randint(1, self.longest)
            sentence = tuple(rng.choices(choices, k=count) if self.repeats else rng.sample(choices, count))
            if sentence not in self.held_out:
                return sentence

    def holding_out(self, count: int, rng: random.Random) -> Sentences:
        """With `count` different sentences held out for evaluation."""
        chosen: set[tuple[str, ...]] = set()
        while len(chosen) < count:
            chosen.add(self.draw(rng))
        return replace(self, held_out=frozenset(chosen))


# --- training ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seq2SeqSettings:
    """task: one of REORDERINGS · longest: words of a sentence, at most · held_out: sentences for evaluation. The sizes
    are the smallest of those tried that reach 99 % of whole sentences within seconds on one core."""

    task: str = "reverse"
    longest: int = 8
    layers: int = 1
    heads: int = 2
    hidden_size: int = 64
    steps: int = 600
    batch_size: int = 128
    held_out: int = 200
    evaluate_every: int = 50
    optimization: Optimization = field(
        default_factory=lambda: Optimization(learning_rate=5e-3, beta2=0.98, weight_decay=0.0)
    )
    seed: int = 0

    def __post_init__(self) -> None:
        if self.task not in REORDERINGS:
            raise ValueError(f"the task is one of {', '.join(REORDERINGS)}, not {self.task!r}")
        check_positive(self, "longest", "steps", "batch_size", "held_out", "evaluate_every")

    def config(self, vocab_size: int) -> BertConfig:
        return BertConfig(
            vocab_size=vocab_size,
            hidden_size=self.hidden_size,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            intermediate_size=2 * self.hidden_size,
            max_position_embeddings=2 * self.longest + 2,
            hidden_act="relu",
            hidden_dropout_prob=0.0,  # sentences are drawn anew for each batch: there is nothing to memorize
            attention_probs_dropout_prob=0.0,
            layer_norm_eps=1e-5,
        )


def train_seq2seq(
    settings: Seq2SeqSettings,
    *,
    network: Callable[[BertConfig], Seq2Seq] = EncoderDecoder,
    vocabulary: Sequence[str] = (),
    probe_inputs: Sequence[str] = (),
    out: str | Path | None = None,
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Train on random sentences and yield the events of the run; save to `out` at its end.

    network: the class to train, built from a config and called like an EncoderDecoder · vocabulary: words besides those
    of `word_list` · probe_inputs: the user's sentences, answered after each evaluation (`Sample`); their words are
    added to the vocabulary. A list of strings from `mailbox` replaces them; its new words stay unknown. Each `Eval` has
    `token_accuracy`, under teacher forcing, and `sequence_accuracy`: the share of held-out sentences with a greedy
    answer right in every word.
    """
    torch.manual_seed(settings.seed)
    own = [word for text in probe_inputs for word in split_words(text)[: settings.longest]]
    words = Words.of([*word_list(), *vocabulary, *own])
    rng = random.Random(settings.seed)
    # Sorting is learned without repeated words: to count them is another task, and takes far longer to learn.
    sentences = Sentences(words, settings.longest, repeats=settings.task != "sort")
    sentences = sentences.holding_out(settings.held_out, rng)
    model = network(settings.config(len(words.entries))).to(best_device())
    trained = Trained(model, words, settings.task, settings.longest)

    def batches() -> Iterator[PairBatch]:
        while True:
            sources = [sentences.draw(rng) for _ in range(settings.batch_size)]
            yield words.batch(sources, [REORDERINGS[settings.task](source) for source in sources])

    def say(texts: Sequence) -> list[dict]:
        return [asdict(trained.answer(found)) for text in texts if (found := split_words(str(text)))]

    yield from train_and_evaluate(
        model,
        batches(),
        settings,
        lambda: evaluate(trained, sentences.held_out),
        say,
        probe_inputs=probe_inputs,
        mailbox=mailbox,
        facts={"words": words.entries},
        save=trained.save,
        out=out,
    )


@torch.no_grad()
def evaluate(trained: Trained, sentences: Iterable[tuple[str, ...]]) -> tuple[dict[str, float], dict]:
    """Token and sequence accuracy, and in the details up to five wrong answers."""
    sources = sorted(sentences)
    targets = [REORDERINGS[trained.task](source) for source in sources]
    model = trained.model.eval()
    batch = trained.words.batch(sources, targets).to(next(model.parameters()).device)
    asked = batch.labels != IGNORE
    hits = (model(batch).logits.argmax(-1) == batch.labels)[asked]
    said = trained.say(sources)
    wrong = [(s, t, a) for s, t, a in zip(sources, targets, said, strict=True) if t != a]
    metrics = {
        "token_accuracy": hits.double().mean().item(),
        "sequence_accuracy": 1 - len(wrong) / len(sources),
    }
    return metrics, {"wrong": [{"source": list(s), "target": t, "answer": a} for s, t, a in wrong[:5]]}


# --- a trained model in use ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seq2SeqAnswer:
    """source, target, answer: words; what the model reads as [UNK] is [UNK] in the target too. cross: (T, S) weights of
    the first head of the last decoder block, rounded; a row for each word said, [EOS] included; (T, 0) without any."""

    source: list[str]
    target: list[str]
    answer: list[str]
    cross: list[list[float]]


@dataclass(frozen=True)
class Decoding:
    """Greedy decoding of one source, step by step. S source tokens with [EOS], T target tokens, the first [BOS].

    probs: (T, V), the prediction after each of `target`. taps: every intermediate, with the batch axis.
    """

    source: list[str]
    target: list[str]
    end: str
    probs: Tensor
    taps: dict[str, Tensor]

    @property
    def said(self) -> list[str]:
        """The most probable word after each of `target`: the next ones, and [EOS] if the answer is complete."""
        return [*self.target[1:], self.end]

    def attention(self, part: str) -> Tensor:
        """ "encoder.attn", "decoder.attn" or "decoder.cross" → (L, A, rows, columns)."""
        side, which = part.split(".")
        found = [x[0] for name, x in self.taps.items() if name.startswith(side) and name.endswith(f".{which}.probs")]
        return torch.stack(found)


@dataclass(frozen=True)
class Trained:
    """A trained model with its words and its task."""

    model: Seq2Seq
    words: Words
    task: str
    longest: int

    def say(self, sources: Sequence[Sequence[str]]) -> list[list[str]]:
        """The greedy answer to each source, words in and words out."""
        model = self.model.eval()
        batch = self.words.batch(sources).to(next(model.parameters()).device)
        rows = greedy(model, batch, self.words.ids[BOS], self.words.ids[EOS], self.longest + 1)
        return [[self.words.entries[i] for i in row] for row in rows]

    def answer(self, source: Sequence[str]) -> Seq2SeqAnswer:
        """The answer to at most `longest` words, beside the right one."""
        decoding = self.decode(source)
        known = decoding.source[:-1]
        said = [word for word in decoding.target[1:] if word != EOS]
        there = any(name.endswith(".cross.probs") for name in decoding.taps)
        cross = decoding.attention("decoder.cross")[-1, 0] if there else torch.zeros(len(said) + 1, 0)
        return Seq2SeqAnswer(
            known, REORDERINGS[self.task](known), said, [[round(p, 3) for p in row] for row in cross.tolist()]
        )

    @torch.no_grad()
    def decode(self, source: Sequence[str]) -> Decoding:
        """Greedy decoding with all intermediates. Raises ValueError without a word."""
        known = self.words.known(source)[: self.longest]
        if not known:
            raise ValueError("there is no word to answer")
        said = self.say([known])[0]
        taps: dict[str, Tensor] = {}

        def keep(name: str, x: Tensor) -> Tensor:
            taps[name] = x.cpu()
            return x

        # What is said at one step does not depend on later words, so one run shows all steps.
        batch = self.words.batch([known], [said]).to(next(self.model.parameters()).device)
        probs = self.model.eval()(batch, keep).logits[0].softmax(-1).cpu()
        end = self.words.entries[int(probs[-1].argmax())]  # [EOS], unless it goes on for too long
        return Decoding([*known, EOS], [BOS, *said], end, probs, taps)

    def save(self, directory: str | Path) -> None:
        """Save weights, sizes, words and task, atomically."""
        description = {"config": self.model.config.as_dict(), "words": self.words.entries, "task": self.task}
        fields = {**description, "longest": self.longest}
        save_network(Path(directory) / WEIGHTS, Path(directory) / DESCRIPTION, self.model.state_dict(), fields)

    @classmethod
    def load(cls, directory: str | Path, network: Callable[[BertConfig], Seq2Seq] = EncoderDecoder) -> Trained:
        """Load what `save` has written of a `network`. Raises CheckpointError if that is missing or invalid."""
        directory = Path(directory)
        with readable(directory, "encoder–decoder"):
            fields = json_object(existing(directory, DESCRIPTION))
            config = BertConfig.from_dict(fields["config"])
            model = load_network(directory / WEIGHTS, lambda: network(config))
            return cls(model, Words(tuple(fields["words"])), fields["task"], fields["longest"])
