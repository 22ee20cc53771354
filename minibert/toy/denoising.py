"""BART on the toy world (Lewis et al. 2020, §2.2): texts are corrupted by one of its noises, and it learns to restore
them."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from math import exp
from pathlib import Path

import torch
from torch import Tensor

from minibert.checkpoint import load_tokenizer
from minibert.config import check_positive
from minibert.inside.predictions.writing import Rules, Written, beam
from minibert.masking.noises import MASK, NOISES, NoisyToken
from minibert.model import IGNORE, Batch
from minibert.seq2seq import bart
from minibert.seq2seq.bart import BartConfig, BartForConditionalGeneration
from minibert.seq2seq.decoder import PairBatch, greedy
from minibert.text.batches import padded, padded_batch
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.train import Event, Optimization
from minibert.training.precision import best_device
from minibert.training.train_and_evaluate import train_and_evaluate

BART = "bart"  # folder in the run's folder, so that nobody opens it as a BERT
LONGEST = 60  # tokens of a text, without special ones


@dataclass(frozen=True)
class DenoisingSettings:
    """noise: one of NOISES · sentences: consecutive ones in a text. The sizes are the smallest of those tried that
    restore most of a text after a minute on one core."""

    noise: str = "both"
    steps: int = 300
    batch_size: int = 32
    sentences: int = 3
    stories: int = 2_000
    held_out: int = 40
    evaluate_every: int = 25
    layers: int = 2
    heads: int = 2
    hidden_size: int = 96
    optimization: Optimization = field(
        default_factory=lambda: Optimization(optimizer="muon", learning_rate=7e-3, beta2=0.98, weight_decay=0.0)
    )
    seed: int = 0

    def __post_init__(self) -> None:
        if self.noise not in NOISES:
            raise ValueError(f"the noise is one of {', '.join(NOISES)}, not {self.noise!r}")
        check_positive(self, "steps", "batch_size", "sentences", "stories", "held_out", "evaluate_every")

    def config(self, tokenizer: Tokenizer) -> BartConfig:
        """[CLS] and [SEP] are its bos and eos; as in the paper's code the decoder starts from eos."""
        return BartConfig(
            len(tokenizer.vocab),
            self.hidden_size,
            self.layers,
            self.heads,
            2 * self.hidden_size,
            max_position_embeddings=LONGEST + 4,
            pad_token_id=tokenizer.pad_id,
            bos_token_id=tokenizer.cls_id,
            eos_token_id=tokenizer.sep_id,
            decoder_start_token_id=tokenizer.sep_id,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,  # the noise is drawn anew for each batch
        )


# --- texts, whole and corrupted ---------------------------------------------------------------------------------------


def texts(stories: int, sentences: int, seed: int) -> list[str]:
    """Texts of consecutive sentences of a story of the toy world."""
    found = []
    for story in world.stories(stories, seed, "small"):
        sentence_texts = [sentence.text for sentence in story.sentences]
        found += [
            " ".join(sentence_texts[i : i + sentences])
            for i in range(0, len(sentence_texts) - sentences + 1, sentences)
        ]
    return found


@lru_cache(maxsize=1)
def toy_tokenizer() -> Tokenizer:
    return Tokenizer(world.vocabulary())


def tokens_of(text: str, tokenizer: Tokenizer) -> list[str]:
    """The first LONGEST tokens of a text."""
    return [tokenizer.vocab[i] for i in tokenizer.encode(text).ids[1:-1]][:LONGEST]


def source_ids(parts: Sequence[NoisyToken], tokenizer: Tokenizer) -> list[int]:
    """[CLS] corrupted text [SEP]"""
    return [tokenizer.cls_id, *(tokenizer.ids[part.token] for part in parts), tokenizer.sep_id]


def removed_tokens(tokens: Sequence[str], parts: Sequence[NoisyToken]) -> list[bool]:
    """For each token, whether the noise removed it."""
    there = {place for part in parts if part.token != MASK for place in part.places}
    return [place not in there for place in range(len(tokens))]


def batch_of(
    whole: Sequence[Sequence[str]], corrupted: Sequence[Sequence[NoisyToken]], tokenizer: Tokenizer
) -> PairBatch:
    """The encoder reads the corrupted text; the decoder learns the whole one: [CLS] text [SEP]."""
    source = padded_batch([source_ids(parts, tokenizer) for parts in corrupted], tokenizer.pad_id)
    rows = [[tokenizer.cls_id, *(tokenizer.ids[token] for token in tokens), tokenizer.sep_id] for tokens in whole]
    target = padded([[tokenizer.sep_id, *row[:-1]] for row in rows], tokenizer.pad_id)
    return PairBatch(source.ids, None, source.padding, padded(rows, IGNORE), target=target)


# --- writing ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DecoderState:
    """memory: (B, S, H), the encoder's output for the source · target: (B, T), what the decoder has written."""

    memory: Tensor
    target: Tensor

    def rows(self, chosen: Tensor) -> DecoderState:
        return DecoderState(self.memory[chosen], self.target[chosen])


@dataclass(frozen=True)
class DecoderRules:
    """The interface of `Rules` for an encoder–decoder, as `beam` needs it. Nothing is cached between steps: texts are
    short here."""

    begins: tuple[int, ...]
    ends: Collection[int]
    never: Collection[int]
    most: int = LONGEST

    allowed = Rules.allowed

    def room(self, model: BartForConditionalGeneration, source: Sequence[int]) -> int:
        return self.most

    @torch.no_grad()
    def first(self, model: BartForConditionalGeneration, source: Sequence[int]) -> tuple[Tensor, DecoderState]:
        ids = torch.tensor([list(source)], device=model.token.weight.device)
        return self.after(model, DecoderState(model.encode(Batch(ids)), torch.tensor([self.begins], device=ids.device)))

    @torch.no_grad()
    def next(
        self, model: BartForConditionalGeneration, tokens: Sequence[int], past: DecoderState
    ) -> tuple[Tensor, DecoderState]:
        new = torch.tensor(tokens, device=past.target.device)[:, None]
        return self.after(model, DecoderState(past.memory, torch.cat([past.target, new], dim=1)))

    def after(self, model: BartForConditionalGeneration, past: DecoderState) -> tuple[Tensor, DecoderState]:
        logits = model.decode(past.target, past.memory, Batch(past.target))[:, -1]
        return logits.cpu().double().log_softmax(-1), past


def denoise(
    model: BartForConditionalGeneration, tokenizer: Tokenizer, parts: Sequence[NoisyToken], width: int = 1
) -> list[Written]:
    """The most probable texts that a beam of `width` finds for a corrupted one; width 1 is greedy search."""
    rules = DecoderRules((tokenizer.sep_id, tokenizer.cls_id), {tokenizer.sep_id}, tokenizer.special_ids)
    return beam(model.eval(), source_ids(parts, tokenizer), rules, width)


def restoration_sample(
    model: BartForConditionalGeneration, tokenizer: Tokenizer, text: str, noise: str, seed: int, width: int = 1
) -> dict:
    """A text corrupted and restored, as part of a `Sample`. whole: its tokens · said: the tokens written, each with its
    P and its verdict, see `verdicts`."""
    whole = tokens_of(text, tokenizer)
    parts = NOISES[noise](whole, random.Random(seed))
    best = denoise(model, tokenizer, parts, width)[0]
    written = [(tokenizer.vocab[i], round(exp(p), 4)) for i, p in zip(best.ids, best.log_probs, strict=True)]
    written = [(token, p) for token, p in written if token != tokenizer.vocab[tokenizer.sep_id]]
    outcomes = verdicts([token for token, _ in written], whole, removed_tokens(whole, parts))
    said = [(token, p, how) for (token, p), how in zip(written, outcomes, strict=True)]
    return {"text": text, "whole": whole, "said": said}


def verdicts(said: Sequence[str], whole: Sequence[str], removed: Sequence[bool]) -> list[str]:
    """For each token written: "kept" if it is right and was in the input, "found" if it is right and the noise had
    removed it, else "wrong". After a missing or extra token, the rest is realigned and not wrong."""
    outcomes = ["wrong"] * len(said)
    for here, there, count in SequenceMatcher(None, said, whole, autojunk=False).get_matching_blocks():
        for i in range(count):
            outcomes[here + i] = "found" if removed[there + i] else "kept"
    return outcomes


# --- training ---------------------------------------------------------------------------------------------------------


def train_bart(
    settings: DenoisingSettings,
    *,
    out: str | Path | None = None,
    probe_inputs: Sequence[tuple[str, int]] = (),
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Pre-train a BART; yield events, save the model in `out`/bart.

    probe_inputs: texts, each with the seed of its noise; after each evaluation a `Sample` shows how they are restored.
    A list of such pairs from `mailbox` replaces them. Each `Eval` holds, on held-out texts: `tokens`, the accuracy on
    tokens given the right ones before; `lost`, the same on tokens that the noise removed, if any; `whole`, the share of
    texts that greedy search restores completely.
    """
    torch.manual_seed(settings.seed)
    tokenizer = toy_tokenizer()
    learner = BartForConditionalGeneration(settings.config(tokenizer)).to(best_device())
    rng, noise = random.Random(settings.seed), NOISES[settings.noise]
    rows = [tokens_of(text, tokenizer) for text in texts(settings.stories, settings.sentences, settings.seed)]
    held_out = [tokens_of(text, tokenizer) for text in texts(settings.held_out, settings.sentences, 5_000_011)]
    dice = random.Random(6_000_011)
    questions = [(row, noise(row, dice)) for row in held_out[: settings.held_out]]

    def batches() -> Iterator[PairBatch]:
        while True:
            some = rng.choices(rows, k=settings.batch_size)
            yield batch_of(some, [noise(row, rng) for row in some], tokenizer)

    def say(pairs: Sequence[tuple[str, int]]) -> list[dict]:
        readable = [(str(text), int(seed)) for text, seed in pairs if tokens_of(str(text), tokenizer)]
        return [restoration_sample(learner, tokenizer, text, settings.noise, seed) for text, seed in readable]

    yield from train_and_evaluate(
        learner,
        batches(),
        settings,
        lambda: evaluate(learner, questions, tokenizer),
        say,
        probe_inputs=probe_inputs,
        mailbox=mailbox,
        report_every=5,
        save=lambda folder: bart.save(folder / BART, learner.cpu(), tokenizer, dtype=torch.float16),
        out=out,
    )


@torch.no_grad()
def evaluate(
    learner: BartForConditionalGeneration, questions: Sequence[tuple[list[str], list[NoisyToken]]], tokenizer: Tokenizer
) -> dict[str, float]:
    """questions: (a text's tokens, the corrupted text)"""
    texts, corrupted = [tokens for tokens, _ in questions], [parts for _, parts in questions]
    batch = batch_of(texts, corrupted, tokenizer).to(learner.token.weight.device)
    right = learner.eval()(batch).logits.argmax(-1) == batch.labels  # (B, T)
    removed = padded([[False, *removed_tokens(whole, parts), False] for whole, parts in questions], False).to(
        right.device
    )
    most = max(len(whole) for whole, _ in questions) + 2
    end = tokenizer.sep_id
    said = greedy(learner, batch, learner.config.decoder_start_token_id, end, most)
    truth = [[tokenizer.cls_id, *(tokenizer.ids[token] for token in whole)] for whole, _ in questions]
    found = {"tokens": right[batch.labels != IGNORE].double().mean().item()}
    found |= {"lost": right[removed].double().mean().item()} if removed.any() else {}
    return found | {"whole": sum(a == b for a, b in zip(said, truth, strict=True)) / len(truth)}


def load(folder: str | Path) -> tuple[BartForConditionalGeneration, Tokenizer]:
    model = bart.load(folder)
    if not isinstance(model, BartForConditionalGeneration):
        raise ValueError(f"{folder} holds no BART that was trained to restore texts")
    return model, load_tokenizer(folder)
