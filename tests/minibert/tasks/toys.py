"""A little data for each task, over letters: whether there is a z decides everything."""

import random

from minibert.tasks import Example, TaskData
from minibert.tasks.choices import ChoiceExample
from minibert.tasks.intents import Entity, IntentExample
from minibert.tasks.labels import LabelsExample
from minibert.tasks.next_utterances import ReplyExample
from minibert.tasks.pairs import PairExample
from minibert.tasks.similarity import ScoredPair
from minibert.tasks.spans import Answer, SpanExample
from minibert.tasks.tagging import TaggedExample


def toy(task: str, count: int, seed: int) -> TaskData:
    rng = random.Random(seed)
    return TaskData([example(task, i, rng) for i in range(count)])


def example(task: str, i: int, rng: random.Random):
    words = [rng.choice("abcde") for _ in range(rng.randint(3, 6))]
    plain = " ".join(words)
    at = rng.randrange(len(words))
    words[at] = "z"
    marked = " ".join(words)
    text = marked if i % 2 else plain
    match task:
        case "classification":
            return Example(text, "with" if i % 2 else "without", {"kind": "odd" if i % 2 else "even"})
        case "pair":
            return PairExample(plain, text, "1" if i % 2 else "0")
        case "similarity":
            return ScoredPair(plain, text, 4.0 if i % 2 else 1.0)
        case "multilabel":
            labels = (("z",) if i % 2 else ()) + (("y",) if i // 2 % 2 else ())
            return LabelsExample(" ".join([plain, *(f"{label} {label}" for label in labels)]), labels)
        case "tagging":
            words = text.split()
            return TaggedExample(tuple(words), tuple("B-Z" if word == "z" else "O" for word in words))
        case "span":
            return SpanExample(str(i), "z", marked, (Answer("z", marked.index("z")),))
        case "span-or-none":
            return SpanExample(str(i), "z", text, (Answer("z", text.index("z")),) if i % 2 else ())
        case "choice" | "next-utterance":
            right, choices = rng.randrange(3), ["a b", "c d", "e a"]
            choices[right] = "z"
            if task == "choice":
                return ChoiceExample(plain, "q", tuple(choices), right)
            return ReplyExample((plain, "q"), tuple(choices), right)
        case "intent":
            entities = (Entity(marked.index("z"), marked.index("z") + 1, "letter"),) if i % 2 else ()
            return IntentExample(text, "with" if i % 2 else "without", entities)


INPUTS = {
    "classification": "a z",
    "pair": {"text": "a b", "pair": "a z"},
    "similarity": ["a b", "a z"],
    "multilabel": "a z y",
    "tagging": "a z, b",
    "span": {"question": "z", "context": "a b z c"},
    "span-or-none": {"question": "z", "context": "a b c"},
    "choice": {"context": "a b", "question": "q", "choices": ["a", "z"]},
    "intent": "a z b",
    "next-utterance": {"turns": ["a b"], "choices": ["a", "z"]},
}
NAMES = list(INPUTS)
