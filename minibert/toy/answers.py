"""Question answering by generation: a few facts, a question about one of them, and an answer in a full sentence. UniLM
is fine-tuned as in its paper, by masking tokens of the answer (Dong et al. 2019, §2.5); BERT too, bidirectionally."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from minibert import checkpoint
from minibert.config import check_positive
from minibert.inside.predictions.writing import READS, Rules, Written, greedy, greedy_anew
from minibert.model import Batch, BertForPreTraining
from minibert.objectives import losses
from minibert.relatives import objective_for
from minibert.seq2seq.rows import Seq2SeqExample, batch_of, source_of
from minibert.tokenizer import Tokenizer
from minibert.toy import lexicon
from minibert.train import Event, Optimization
from minibert.training.precision import best_device
from minibert.training.train_and_evaluate import train_and_evaluate

QUESTION_WORDS = ("who", "what", "where", "colour", "?")  # words that the stories lack
LONGEST = 12  # tokens of an answer, at most


def draw_example(rng: random.Random) -> Seq2SeqExample:
    """One to three facts about two people, and a question: who did it, what colour it was, or where somebody went."""

    def draw(words: Sequence[str], count: int = 2) -> list[str]:
        return rng.sample(list(words), count)

    def words(name: str) -> list[str]:
        return lexicon.WORDS[name][1].split()

    people, things, places = draw(lexicon.GIRLS + lexicon.BOYS), draw(words("toy")), draw(words("place"))
    colours, verbs = draw(words("colour")), draw(words("got"))
    purchases = [
        f"{person} {verb} the {colour} {thing}."
        for person, verb, colour, thing in zip(people, verbs, colours, things, strict=True)
    ]
    visits = [f"{person} went to the {place}." for person, place in zip(people, places, strict=True)]
    about = rng.randrange(2)
    question, answer = rng.choice(
        [
            (f"who {verbs[about]} the {things[about]}?", purchases[about]),
            (f"what colour was the {things[about]}?", f"the {things[about]} was {colours[about]}."),
            (f"where was {people[about]}?", f"{people[about]} was at the {places[about]}."),
        ]
    )
    needed = visits[about] if question.startswith("where") else purchases[about]
    others = [fact for fact in purchases + visits if fact != needed]
    facts = [needed, *rng.sample(others, rng.randrange(3))]
    rng.shuffle(facts)
    return Seq2SeqExample(" ".join([*facts, question]), answer)


def examples(count: int, seed: int) -> list[Seq2SeqExample]:
    rng = random.Random(seed)
    return [draw_example(rng) for _ in range(count)]


@torch.no_grad()
def extend_vocabulary(model: BertForPreTraining, tokenizer: Tokenizer, words: Sequence[str]) -> Tokenizer:
    """Add `words` to the vocabulary, with random vectors; the model is changed in place. → its new tokenizer"""
    new = [word for word in words if word not in tokenizer.ids]
    old, width = model.bert.embeddings.token, model.bert.embeddings.token.embedding_dim
    model.config = model.bert.config = model.config.change(vocab_size=model.config.vocab_size + len(new))
    vectors = torch.randn(len(new), width) * old.weight.std()
    model.bert.embeddings.token = torch.nn.Embedding.from_pretrained(torch.cat([old.weight, vectors]), freeze=False)
    model.mlm.decoder.weight = model.bert.embeddings.token.weight
    model.mlm.decoder.bias = torch.nn.Parameter(torch.cat([model.mlm.decoder.bias, torch.zeros(len(new))]))
    model.mlm.decoder.out_features = model.config.vocab_size
    return Tokenizer([*tokenizer.vocab, *new])


def rules_for(tokenizer: Tokenizer, mask: str = READS, most: int = LONGEST) -> Rules:
    """An answer ends with [SEP]; no other special token is written."""
    return Rules(tokenizer.mask_id, {tokenizer.sep_id}, tokenizer.special_ids, most, mask)


def mask_for(model: BertForPreTraining) -> str:
    """The attention mask for answering: BERT has only one."""
    return READS if model.config.model_type == "unilm" else "both_ways"


def answer(model: BertForPreTraining, tokenizer: Tokenizer, text: str) -> Written:
    """The greedy answer. BERT recomputes all vectors for each further token, as all positions attend to all."""
    rules = rules_for(tokenizer, mask_for(model))
    write = greedy if rules.mask == READS else greedy_anew
    return write(model, source_of(text, tokenizer), rules)


def spelled(ids: Sequence[int], tokenizer: Tokenizer) -> str:
    """Tokens as text, without special ones."""
    words = " ".join(tokenizer.vocab[i] for i in ids if i not in tokenizer.special_ids)
    return words.replace(" .", ".").replace(" ,", ",").replace(" ?", "?")


@dataclass(frozen=True)
class AnswerSettings:
    steps: int = 300
    batch_size: int = 48
    rate: float = 0.7  # share of the answer's tokens that are masked
    held_out: int = 60
    evaluate_every: int = 50
    optimization: Optimization = field(
        default_factory=lambda: Optimization(optimizer="muon", learning_rate=5e-3, warmup=0.1, beta2=0.98)
    )
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(self, "steps", "batch_size", "held_out", "evaluate_every")


def train_answers(
    settings: AnswerSettings,
    model: str | Path,
    *,
    out: str | Path | None = None,
    probe_inputs: Sequence[str] = (),
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Fine-tune the checkpoint `model`, a UniLM or a BERT of the toy world; yield events, save the model in `out`.

    Each `Eval` holds `answers`: the share of held-out questions whose answer is right in every word. `Sample`: the
    model's answers to `probe_inputs`, which a message from `mailbox` replaces.
    """
    torch.manual_seed(settings.seed)
    tokenizer = checkpoint.load_tokenizer(model)
    learner = checkpoint.load(model)
    if not isinstance(learner, BertForPreTraining):
        raise ValueError("only what was asked for hidden words can learn to write this way")
    tokenizer = extend_vocabulary(learner, tokenizer, QUESTION_WORDS)
    learner = learner.to(best_device())
    mask, rng = mask_for(learner), random.Random(settings.seed)
    held_out = examples(settings.held_out, 7_000_003)
    unseen = {one.text for one in held_out}
    noise = torch.Generator().manual_seed(settings.seed)

    def batches() -> Iterator[Batch]:
        while True:
            some = [one for one in (draw_example(rng) for _ in range(settings.batch_size)) if one.text not in unseen]
            yield batch_of(some, tokenizer, mask, noise, settings.rate)

    def measure() -> dict[str, float]:
        right = [spelled(answer(learner, tokenizer, one.text).ids, tokenizer) == one.answer for one in held_out]
        return {"answers": sum(right) / len(right)}

    yield from train_and_evaluate(
        learner,
        batches(),
        settings,
        measure,
        lambda texts: [answer_sample(learner, tokenizer, str(one)) for one in texts],
        probe_inputs=probe_inputs,
        mailbox=mailbox,
        facts={"relative": learner.config.model_type},
        losses_of=lambda output, part, whole: losses(objective_for(learner.config), output, part, whole),
        save=lambda folder: checkpoint.save(folder, learner.cpu(), tokenizer, dtype=torch.float16),
        out=out,
    )


def answer_sample(model: BertForPreTraining, tokenizer: Tokenizer, text: str) -> dict:
    """An answer as part of a `Sample`: words, and P of each."""
    written = answer(model, tokenizer, text)
    shares = [round(float(torch.tensor(p, dtype=torch.float64).exp()), 4) for p in written.log_probs]
    words = [tokenizer.vocab[i] for i in written.ids]
    return {"text": text, "answer": spelled(written.ids, tokenizer), "words": words, "shares": shares}
