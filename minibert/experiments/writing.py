"""Claims of UniLM and Soft-Masked BERT at small scale: after the same pre-training, which model continues a text and
answers a question in its own words; and which one detects and corrects misspellings."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

import torch

from minibert import checkpoint
from minibert.experiments.events import steps_of
from minibert.experiments.relative_catalogue import RelativeExperiment, WritingScale
from minibert.experiments.runner import Run
from minibert.experiments.simbert import FILES
from minibert.folders import ROOT
from minibert.masking.misspelling import read_confusions
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.relatives import objective_for
from minibert.relatives.unilm import SEGMENTS
from minibert.sentence_vectors.inference import pairs_labelled
from minibert.text.batches import padded_batch
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.toy.answers import AnswerSettings, train_answers
from minibert.toy.corrections import CorrectorSettings, train_corrector
from minibert.toy.world import Story
from minibert.train import Eval, Event, Optimization, Step

HELD_OUT = 60  # stories


def continuations(stories: Sequence[Story], tokenizer: Tokenizer, most: int = 400) -> list[list[int]]:
    """Texts that end with a word determined by earlier words, as ids; about `most` of them."""
    found = []
    for story in stories:
        ids = [tokenizer.ids[word.text] for word in story.words]
        for place, word in enumerate(story.words):
            if word.kind is not None and word.determined_by and max(word.determined_by) < place:
                found.append(ids[: place + 1])
    return found[:: max(1, len(found) // most)]


@torch.no_grad()
def next_words(model: BertForPreTraining, tokenizer: Tokenizer, texts: Sequence[Sequence[int]]) -> float:
    """The share of texts whose last word is the model's first choice, given only the words before it. UniLM predicts
    under its left-to-right mask; BERT, which has no such mask, at a [MASK] that ends the row."""
    unilm, right = model.config.model_type == "unilm", 0
    behind = [] if unilm else [tokenizer.sep_id]
    for start in range(0, len(texts), 64):
        some = texts[start : start + 64]
        batch = padded_batch(
            [[tokenizer.cls_id, *text[:-1], tokenizer.mask_id, *behind] for text in some], tokenizer.pad_id
        )
        here = torch.arange(len(some)), torch.tensor([len(text) for text in some])
        labels = torch.full_like(batch.ids, IGNORE)
        labels[here] = answers = torch.tensor([text[-1] for text in some])
        segments = torch.full_like(batch.ids, SEGMENTS["left_to_right"][0] if unilm else 0)
        blanks = objective_for(model.config).at_blanks(Batch(batch.ids, segments, batch.padding, labels))
        right += int((model(blanks).mlm_logits.argmax(-1) == answers).sum())
    return right / len(texts)


def written(folder: Path, arm, settings, scale: WritingScale, measured) -> Generator[Step, None, dict[str, float]]:
    """Yield Steps; → the metrics of a pre-trained model as a writer: next words, and answers to questions."""
    model, tokenizer = checkpoint.load(folder), checkpoint.load_tokenizer(folder)
    texts = continuations(world.stories(HELD_OUT, 3_000_029, "small"), tokenizer)
    metrics = {"next_word": next_words(model, tokenizer, texts), "determined": measured["determined"]}
    if model.config.model_type != "left_to_right":
        steps = scale.answer_steps
        answering = AnswerSettings(steps, 32, held_out=100, evaluate_every=steps, seed=settings.seed)
        answered = yield from steps_of(train_answers(answering, folder))
        metrics["answers"] = answered.metrics["answers"]
    return metrics


def chinese(lcqmc: Path, measured: int) -> list[str]:
    """Distinct questions of LCQMC that have a paraphrase: all of the development set, to train on, then `measured`
    others of the test set, to evaluate on."""
    learned, held_out = (
        list(dict.fromkeys(text for pair in pairs_labelled(lcqmc / file) for text in pair)) for file in FILES.values()
    )
    known = set(learned)
    return learned + [text for text in held_out if text not in known][:measured]


def corrector(experiment: RelativeExperiment, tasks: Path | None, folder: Path) -> Run:
    """An arm is a kind of corrector, "pretrained" is not trained further."""
    stories = experiment.scale.stories
    return correcting(experiment, f"small toy world, {stories} stories, misspelled", {"stories": stories}, {})


def chinese_corrector(experiment: RelativeExperiment, tasks: Path, folder: Path) -> Run:
    """Like `corrector`. tasks: the folder that holds lcqmc/."""
    scale = experiment.scale
    sentences = chinese(tasks / "lcqmc", scale.measured)
    material = {"sentences": sentences, "alike": read_confusions(ROOT / scale.alike)}
    return correcting(experiment, f"LCQMC, {len(sentences) - scale.measured:,} questions, misspelled", {}, material)


def correcting(experiment: RelativeExperiment, read: str, more: Mapping, material: Mapping) -> Run:
    """read: description of the text · more: further settings · material: further arguments of `train_corrector`."""
    scale = experiment.scale

    def run(name: str, seed: int) -> Generator[Event, None, dict]:
        settings = CorrectorSettings(
            "plain" if name == "pretrained" else name,
            scale.steps,
            scale.batch_size,
            held_out=scale.measured,
            **more,
            evaluate_every=scale.steps,
            seed=seed,
            optimization=Optimization(learning_rate=scale.learning_rate, beta2=0.98),
        )
        for event in train_corrector(settings, ROOT / scale.begins_with, **material):
            yield event
            if isinstance(event, Eval) and name == "pretrained":
                break
        return {"data": [read]}

    return run
