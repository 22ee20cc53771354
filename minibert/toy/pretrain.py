"""Pre-training on the toy world, evaluated on words that the context determines."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from minibert import checkpoint
from minibert.inside.predictions.pair_questions import SHORT
from minibert.inside.relatives.replaced import fitting, originality
from minibert.model import IGNORE, BertForPreTraining
from minibert.objectives import Masking
from minibert.pretrain import PretrainSettings, check_memory, fills, pretrain_store
from minibert.relatives import objective_for
from minibert.text.batches import padded_batch
from minibert.text.store import TokenStore
from minibert.tokenizer import Tokenizer
from minibert.toy import world as toy_world
from minibert.toy.hidden_spans import hidden_runs, replaced_accuracy, span_accuracy
from minibert.toy.world import Story
from minibert.train import Eval, Event, Optimization, Preparing, Sample
from minibert.training import resume

# Default settings of a page. Rows are whole stories; more is masked than the paper's 15 %, because the run is short.
TOY = PretrainSettings(
    preset="tiny",
    minutes=1.0,
    batch_size=48,
    max_length=128,
    input_format="doc_sentences",
    masking=Masking(rate=0.35),
    optimization=Optimization(optimizer="muon", learning_rate=5e-3, warmup=0.1, beta2=0.98),
    report_every=10,
    measure_every=150,
    snapshots=(0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7),
)
# Further settings for stories as pairs of segments, for models with a task about pairs.
PAIRS: dict[str, Any] = {"input_format": "segment_pair", "short_probability": SHORT}
STORIES, HELD_OUT = 6_000, 60
CHOICES = 200  # determined words that are compared with the others of their kind
WordQuestion = tuple[list[int], int, str]


def pretrain_toy(
    settings: PretrainSettings,
    out: str | Path,
    *,
    stories: int = STORIES,
    world: str = "small",
    seed: int = 0,
    lengths: Sequence[int] = (),
    spans: bool = False,
    probe_inputs: Sequence[str] = (),
    mailbox: Callable[[], list] = list,
    resuming: bool = False,
    resume_from: str | Path | None = None,
) -> Iterator[Event]:
    """Pre-train on `stories` stories of a toy `world`; events, `resuming` and `resume_from` as in `minibert.pretrain`.

    Every `Eval` holds, on stories never trained on: `determined`, the accuracy on determined words, each masked alone,
    overall and by kind; `guessable`, the share that frequencies get right without context; `guessable_from_neighbours`,
    the share that counts of words between two neighbours get right; `chosen`, the share of words that the model prefers
    to all others of their kind, the only measure for a discriminator; `guessable_by_kind`, the share that is the most
    frequent word of its kind. lengths: also `right_<length>`, the accuracy on the same questions at the end of rows of
    that length (`questions_at`); everything else is then measured in the shortest. spans: also the accuracy on three
    masked words in a row, and on replaced words (`minibert.toy.hidden_spans`). A run on rows too short for whole
    stories is measured in such rows.
    """
    if settings.objective.name.endswith("sop") and settings.input_format != "segment_pair":
        # Sentence-order prediction needs stories as pairs of segments.
        settings = replace(settings, input_format="segment_pair", short_probability=0.0)
    out = Path(out)
    if resume_from is not None:
        shutil.copytree(resume_from, out, dirs_exist_ok=True)
        resuming = True
    checkpoint.make_ready(out)
    check_memory(settings.config())
    cut_off = resume.require_latest(out) if resuming else resume.latest(out)
    if cut_off is not None and not (resuming or cut_off.begun.get("world")):
        raise ValueError(f"{out} holds another run that was cut off: begin in another folder")
    yield Preparing("writing stories")
    tokenizer = Tokenizer(toy_world.vocabulary())
    documents = toy_world.documents(stories, seed, world)
    held_out = toy_world.stories(HELD_OUT, seed + 1_000_003, world)
    others = toy_world.stories(1_000, seed + 2_000_003, world)
    guessable = {
        "guessable": toy_world.guessable_without_context(others),
        "guessable_from_neighbours": toy_world.guessable_without_context(others, neighbours=2),
    }
    if settings.max_length < TOY.max_length:
        lengths = lengths or (settings.max_length,)
    at_lengths = questions_at(held_out, tokenizer, lengths) if lengths else {}
    targets = at_lengths[min(lengths)] if lengths else questions(held_out, tokenizer, settings.max_length)
    rivals = words_by_kind(others, tokenizer)
    subset = targets[:: max(1, len(targets) // CHOICES)]
    runs = hidden_runs(held_out, tokenizer, settings.max_length) if spans else []
    guessable["guessable_by_kind"] = sum(ids[place] == rivals[kind][0] for ids, place, kind in subset) / len(subset)

    def measure(learner: nn.Module, step: int) -> Iterator[Event]:
        nonlocal probe_inputs
        model = settings.objective.networks_to_save(learner)[""]
        for message in mailbox():
            probe_inputs = [str(text) for text in message]
        metrics = choice_accuracy(model, subset, rivals, tokenizer.mask_id, tokenizer.pad_id)
        if isinstance(model, BertForPreTraining):
            metrics |= determined_accuracy(model, targets, tokenizer.mask_id, tokenizer.pad_id)
            if runs:
                metrics |= span_accuracy(model, runs, tokenizer)
                metrics["corrected"] = replaced_accuracy(model, subset, rivals, tokenizer.pad_id)
            for length, rows in at_lengths.items():
                metrics[f"right_{length}"] = determined_accuracy(model, rows, tokenizer.mask_id, tokenizer.pad_id)[
                    "determined"
                ]
        yield Eval(step, {**metrics, **guessable})
        if probe_inputs:
            yield Sample(step, predictions_for(model, tokenizer, probe_inputs))

    store = TokenStore.build(documents, tokenizer)
    facts = {"data": [f"{world} toy world, {stories} stories"], "world": world, "skipped": []}
    yield from pretrain_store(settings, store, tokenizer, out, measure, facts, resuming=resuming)


def questions(stories: Sequence[Story], tokenizer: Tokenizer, max_length: int) -> list[WordQuestion]:
    """For every determined word of the stories that fit: the story's ids, its place in them, and its kind."""
    rows = []
    for story in stories:
        ids = [tokenizer.cls_id, *tokenizer.encode_bulk([story.text])[0], tokenizer.sep_id]
        if len(ids) > max_length:
            continue
        for place, word in enumerate(story.words, 1):
            if word.kind is not None:
                rows.append((ids, place, word.kind))
    return rows


def questions_at(
    stories: Sequence[Story], tokenizer: Tokenizer, lengths: Sequence[int], most: int = CHOICES
) -> dict[int, list[WordQuestion]]:
    """Length → the same questions, at the end of rows of at most so many tokens: longer rows begin with more of the
    text before, of other stories too.

    The shortest rows are whole sentences of one story, and hold all that determines the target word.
    """
    ids: list[int] = []  # of all stories
    starts: list[int] = []  # of the sentences
    ends: list[tuple[int, int]] = []  # of the shortest rows
    words: list[tuple[str | None, list[int]]] = []  # kind, and what determines it
    for story in stories:
        first = begun = len(ids)
        for sentence in story.sentences:
            if len(ids) + len(sentence.words) - begun > min(lengths) - 2:  # [CLS] and [SEP] stand around them
                ends.append((begun, len(ids)))
                begun = len(ids)
            starts.append(len(ids))
            ids += [tokenizer.ids[word.text] for word in sentence.words]
        ends.append((begun, len(ids)))
        words += [(word.kind, [first + i for i in word.determined_by]) for word in story.words]
    places = [
        (begun, end, place)
        for begun, end in ends
        if end >= max(lengths)
        for place in range(begun, end)
        if words[place][0] is not None and all(begun <= i < end for i in words[place][1])
    ]
    places = places[:: max(1, len(places) // most)]
    rows: dict[int, list[WordQuestion]] = {length: [] for length in lengths}
    for length in lengths:
        for begun, end, place in places:
            start = begun if length == min(lengths) else next(s for s in starts if end - s <= length - 2)
            row = [tokenizer.cls_id, *ids[start:end], tokenizer.sep_id]
            rows[length].append((row, place - start + 1, words[place][0] or ""))
    return rows


@torch.no_grad()
def masked_logits(
    model: BertForPreTraining, questions: Sequence[WordQuestion], mask_id: int, pad_id: int
) -> Iterator[tuple[Sequence[WordQuestion], Tensor, Tensor]]:
    """The questions in chunks, each word masked alone → (chunk, answers (N,), logits (N, V))."""
    device, objective = next(model.parameters()).device, objective_for(model.config)
    for start in range(0, len(questions), 128):
        chunk = questions[start : start + 128]
        batch = padded_batch([ids for ids, _, _ in chunk], pad_id)
        here = torch.arange(len(chunk)), torch.tensor([place for _, place, _ in chunk])
        answers = batch.ids[here]
        labels = torch.full_like(batch.ids, IGNORE)
        labels[here] = answers
        batch.ids[here] = mask_id
        blanks = objective.at_blanks(replace(batch, labels=labels))
        yield chunk, answers, model(blanks.to(device)).mlm_logits.cpu()


def determined_accuracy(
    model: BertForPreTraining, questions: list[WordQuestion], mask_id: int, pad_id: int
) -> dict[str, float]:
    """`determined`: the share of `questions` that the model answers right, and `determined.<kind>` for each kind."""
    training = model.training
    model.eval()
    right: dict[str, list[bool]] = defaultdict(list)
    for chunk, answers, logits in masked_logits(model, questions, mask_id, pad_id):
        for ok, (_, _, kind) in zip((logits.argmax(-1) == answers).tolist(), chunk, strict=True):
            right[kind].append(ok)
    model.train(training)
    everything = [ok for kind in right.values() for ok in kind]
    shares = {f"determined.{kind}": sum(oks) / len(oks) for kind, oks in sorted(right.items())}
    return {"determined": sum(everything) / len(everything), **shares}


def words_by_kind(stories: Sequence[Story], tokenizer: Tokenizer) -> dict[str, list[int]]:
    """Kind → the words that are determined that way somewhere in the stories, the most frequent first."""
    seen: dict[str, Counter[int]] = defaultdict(Counter)
    for story in stories:
        for word in story.words:
            if word.kind is not None:
                seen[word.kind][tokenizer.ids[word.text]] += 1
    return {kind: [word for word, _ in words.most_common()] for kind, words in seen.items()}


def choice_accuracy(
    model: nn.Module, questions: list[WordQuestion], rivals: dict[str, list[int]], mask_id: int, pad_id: int
) -> dict[str, float]:
    """`chosen`: the share of `questions` whose answer the model prefers to all other words of the kind: a masked LM by
    their probabilities where the word is masked, a discriminator by P(original) with each of them in its place."""
    training = model.training
    model.eval()
    right = 0

    def prefers(question: WordQuestion, preference: Callable[[list[int]], Tensor]) -> bool:
        ids, place, kind = question
        words = list(dict.fromkeys([*rivals.get(kind, []), ids[place]]))
        return words[int(preference(words).argmax())] == ids[place]

    if isinstance(model, BertForPreTraining):
        for chunk, _, logits in masked_logits(model, questions, mask_id, pad_id):
            right += sum(prefers(one, row.__getitem__) for one, row in zip(chunk, logits, strict=True))
    else:
        for ids, place, kind in questions:
            right += prefers((ids, place, kind), partial(originality, model, ids, place))
    model.train(training)
    return {"chosen": right / len(questions)}


def predictions_for(model: nn.Module, tokenizer: Tokenizer, texts: Sequence[str], top: int = 5) -> list[dict]:
    """A model's predictions for texts with [MASK]s, as `minibert.pretrain.fills`; for a discriminator, the words with
    the highest P(original), which do not add up to 1."""
    if isinstance(model, BertForPreTraining):
        return fills(model, tokenizer, texts, top)
    training = model.training
    model.eval()
    answers = []
    for text in texts:
        try:
            blanks = [fitting(model, tokenizer, text, top)]
        except ValueError:
            blanks = []
        answers.append({"text": text, "blanks": blanks})
    model.train(training)
    return answers
