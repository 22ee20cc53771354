"""Intent and entities of an utterance, predicted together: SNIPS and ATIS in Rasa's markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from minibert.config import IGNORE
from minibert.tasks.base import Task
from minibert.tasks.guess import Sureness
from minibert.tasks.input_rows import InputRow, with_cut
from minibert.tasks.sequences import class_answers
from minibert.tasks.tables import Source, lines_of
from minibert.tasks.tagging import (
    OUTSIDE,
    TagFeatures,
    entity_answers,
    entity_scores,
    pieces_of,
    plain_entities,
    tag_labels,
    tag_rows,
    tag_windows,
    tags_of,
    type_scores,
    word_offsets,
)
from minibert.text.json_values import json_value

SECTION = re.compile(r"##\s*(\w+)\s*:(.*)")
ITEM = re.compile(r"\s*[-*+]\s+(.*)")
ENTITY = re.compile(r"\[([^\[\]]+)\](?:\(([^()]+)\)|(\{[^{}]+\}))")


@dataclass(frozen=True)
class Entity:
    """text[start:end] is of this type."""

    start: int
    end: int
    type: str


@dataclass(frozen=True)
class IntentExample:
    """An utterance, its intent (None if unknown) and its entities."""

    text: str
    intent: str | None = None
    entities: tuple[Entity, ...] = ()
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def marks(self) -> tuple[str, ...]:
        return () if self.intent is None else (self.intent,)

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        return tuple(word_offsets(self.text))

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.text[a:b] for a, b in self.offsets)

    @property
    def tags(self) -> tuple[str, ...] | None:
        """IOB2, a tag for each of `words`; a word belongs to an entity that overlaps it."""
        if self.intent is None:
            return None
        tags, last = [], None
        for start, end in self.offsets:
            entity = next((e for e in self.entities if e.start < end and start < e.end), None)
            tags.append(OUTSIDE if entity is None else f"{'I' if entity is last else 'B'}-{entity.type}")
            last = entity
        return tuple(tags)


def read_rasa(source: Source) -> list[IntentExample]:
    """Rasa's markdown: `## intent:NAME`, then `- words [entity](type) words` or `[entity]{"entity": "type"}`."""
    examples, intent, section = [], None, None
    for number, line in lines_of(source.text):
        if not line.strip() or line.strip().startswith("<!--"):
            continue
        if heading := SECTION.fullmatch(line.strip()):
            section, intent = (part.strip() for part in heading.groups())
            if section != "intent":
                source.problem(number, 1, f"a {section} section holds no examples; passed over")
            elif not intent:
                source.problem(number, 1, "the intent has no name")
            elif not source.known(intent, number, 1):
                intent = None
            continue
        if section is not None and section != "intent":
            continue
        item = ITEM.fullmatch(line)
        if item is None or not intent:
            source.problem(number, 1, "expected `## intent:NAME` or an example `- …` under one")
            continue
        text, entities, end, wrong = "", [], 0, None
        places = []  # start of each entity in `marked`
        marked = item.group(1).strip()
        for match in ENTITY.finditer(marked):
            words, kind, detail = match.groups()
            try:
                kind = kind if kind is not None else json_value(detail)["entity"]
            except (ValueError, KeyError, TypeError):
                wrong = (match.start(3), f"{detail} does not say which entity it is")
                break
            text += marked[end : match.start()]
            # Rasa's older form gives a type and a value: [us](country:United States)
            entities.append(Entity(len(text), len(text) + len(words), str(kind).split(":")[0].strip()))
            places.append(match.start())
            text, end = text + words, match.end()
        text += marked[end:]
        rest = re.search(r"\]\(|\]\{", ENTITY.sub(lambda match: " " * len(match.group()), marked))
        if wrong is None and rest:
            wrong = (rest.start(), "an entity is not closed: it is written [words](type)")
        if wrong is None and (cut := not_of_words(text, entities)):
            wrong = (places[cut[0]], cut[1])
        if wrong is None and not text.strip():
            wrong = (0, "the example is empty")
        if wrong is not None:
            source.problem(number, item.start(1) + wrong[0] + 1, wrong[1])
            continue
        examples.append(IntentExample(text, intent, tuple(entities)))
    return examples


def not_of_words(text: str, entities: list[Entity]) -> tuple[int, str] | None:
    """(index, reason) of the first entity that one tag per word cannot express: it holds no word, or a part of one."""
    words = word_offsets(text)
    for number, entity in enumerate(entities):
        inside = [(start, end) for start, end in words if entity.start < end and start < entity.end]
        name = repr(text[entity.start : entity.end])
        if not inside:
            return number, f"the entity {name} holds no word"
        start, end = inside[0][0], inside[-1][1]
        if start < entity.start or entity.end < end:
            return number, f"the entity {name} is a part of {text[start:end]!r}: it must hold whole words"
    return None


@dataclass(frozen=True)
class IntentFeatures(TagFeatures):
    """target: (index of the intent, tag indices of the tokens)."""


class Intents(Task):
    """The intent from the pooled vector, a tag for each word. Words past max_length are not read and are tagged O."""

    name = "intent"
    order = 90
    example_type = IntentExample
    answer = "intent"
    parts: ClassVar = {"entities": Entity}
    architecture = "BertForIntentAndEntities"
    pooled = True
    too_long = "own"  # the words at the end are left out
    metric = "both"
    readers: ClassVar = {"rasa": read_rasa}
    endings = ("md",)
    example_input: ClassVar = {"text": "wake me at seven"}
    given_texts = ("text",)

    def recognises(self, form) -> Sureness:
        first = form.text.split("\n", 200)[:200]
        return Sureness.SYNTAX if any(SECTION.fullmatch(line.strip()) for line in first) else Sureness.NO

    def guess_format(self, text, name) -> str | None:
        return "rasa"

    def answerable(self, labels) -> list[str]:
        return labels["intents"]

    def labels(self, data) -> dict[str, list[str]]:
        """The intents, and the tags O, B- and I- of each type of entity."""
        kinds = sorted({entity.type for example in data.examples for entity in example.entities})
        return {"intents": data.labels, "tags": [OUTSIDE, *(f"{letter}-{kind}" for kind in kinds for letter in "BI")]}

    def features(self, tokenizer, examples, labels, options) -> list[Any]:
        rows = []
        one_window = replace(options, doc_stride=options.max_length)  # so that the first window owns all its words
        for i, (example, pieces) in enumerate(zip(examples, pieces_of(tokenizer, examples), strict=True)):
            tags = example.tags
            first = tag_windows(tokenizer, pieces, tags, labels["tags"], one_window, example.extra)[0]
            places, target = first.words, first.target
            if example.intent is not None:
                known = labels["intents"].index(example.intent) if example.intent in labels["intents"] else IGNORE
                target = (known, target or [IGNORE] * len(first.ids))
            rows.append(IntentFeatures(i, first.ids, first.segments, target, first.metadata, places))
        return rows

    def rows(self, tokenizer, example, labels, options) -> list[InputRow]:
        """A row of tags with the intent at [CLS]; the words that did not fit are cut."""
        (features,) = self.features(tokenizer, [example], labels, options)
        (row,) = tag_rows(tokenizer, example, [features])
        (pieces,) = pieces_of(tokenizer, [example])
        lost = [piece for word in pieces[features.words[-1][1] + 1 if features.words else 0 :] for piece in word]
        intent = (example.intent or "?") if options.pooling == "cls" else ""
        row = replace(row, targets=(intent, *row.targets[1:]), tokens_of=None)
        return [with_cut(tokenizer, row, len(row.ids) - 1, lost, row.segments[-1])]

    def targets(self, features) -> dict[str, Any]:
        import torch

        tags = tag_labels(features, lambda row: None if row.target is None else row.target[1])
        intents = [IGNORE if row.target is None else row.target[0] for row in features]
        return {"labels": tags, "intents": None if tags is None else torch.tensor(intents)}

    def decode(self, outputs, features, examples, labels, options) -> list[dict]:
        intents = class_answers([{"logits": output["intent_logits"]} for output in outputs], labels["intents"])
        tagged = tags_of([output["logits"] for output in outputs], features, examples, labels["tags"])
        return [
            {
                "text": example.text,
                "intent": intent["label"],
                "probabilities": intent["probabilities"],
                "words": list(example.words),
                "tags": tags,
                "tag_probabilities": probabilities,
                "entities": entity_answers(example, tags),
            }
            for example, intent, (tags, probabilities) in zip(examples, intents, tagged, strict=True)
        ]

    def plain(self, answer) -> str:
        return f"{answer['intent']}  {plain_entities(answer)}"

    def score(self, predictions, examples) -> dict[str, float]:
        """Intent accuracy, entity F1 as seqeval counts it, and the share of examples with both entirely right."""
        from sklearn.metrics import accuracy_score

        truth = [list(example.tags) for example in examples]
        answers = [answer["tags"] for answer in predictions]
        intents = [example.intent for example in examples], [answer["intent"] for answer in predictions]
        both = [self.grade(answer, example) for answer, example in zip(predictions, examples, strict=True)]
        entity = {f"entity_{name}": value for name, value in entity_scores(truth, answers).items()}
        return {"intent_accuracy": float(accuracy_score(*intents)), **entity, "both": sum(both) / len(both)}

    def grade(self, prediction, example) -> float:
        """1 where the intent and every tag are right."""
        return float(prediction["intent"] == example.intent and prediction["tags"] == list(example.tags))

    def details(self, predictions, examples, labels) -> dict:
        """The confusion matrix of the intents, and scores of each type of entity."""
        from sklearn.metrics import confusion_matrix

        truth, answers = [example.intent for example in examples], [answer["intent"] for answer in predictions]
        tags = [example.tags for example in examples], [answer["tags"] for answer in predictions]
        return {
            "confusion": confusion_matrix(truth, answers, labels=labels["intents"]).tolist(),
            "by_type": type_scores(*tags),
        }
