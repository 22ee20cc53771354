"""A tag for each word: named entities in CoNLL columns or character by character (Devlin et al. 2019, §5.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from minibert.config import IGNORE
from minibert.tasks.base import Task
from minibert.tasks.data import TaskDataError
from minibert.tasks.features import Features
from minibert.tasks.given import extra_given, fields, some_text, texts_listed
from minibert.tasks.guess import Sureness
from minibert.tasks.input_rows import ELSEWHERE, LATER, InputRow, row_of
from minibert.tasks.metadata import metadata_numbers, metadata_prefix
from minibert.tasks.options import Options
from minibert.tasks.sequences import softmax
from minibert.tasks.tables import Source, lines_of
from minibert.text.characters import is_cjk
from minibert.tokenizer import Tokenizer

if TYPE_CHECKING:
    from torch import Tensor

OUTSIDE = "O"
TAG = re.compile(r"O|[BIESULM]-\S+")
PREFIX = re.compile(r"[BIESULM]-(?=\S)")
# Letters of other schemes → IOB2: E(nd), L(ast) and M(iddle) continue an entity, S(ingle) and U(nit) begin one.
IOB2 = {"E": "I", "L": "I", "M": "I", "S": "B", "U": "B"}
WORD = re.compile(r"[^\W_]+|[^\w\s]|_")


@dataclass(frozen=True)
class TaggedExample:
    """Words with a tag each (IOB2), None if unknown. offsets: (start, end) of each word in `text`, if there is one."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    text: str | None = None
    offsets: tuple[tuple[int, int], ...] | None = None
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def marks(self) -> tuple[str, ...]:
        """The type of each entity."""
        return tuple(tag[2:] for tag in self.tags or () if tag.startswith("B-"))


def to_iob2(tags: Sequence[str]) -> tuple[str, ...]:
    """IOB1, IOB2, BIOES, BILOU, BMES → IOB2: B- begins every entity, I- continues one of the same type."""
    tags = [IOB2.get(tag[0], tag[0]) + tag[1:] for tag in tags]
    result = []
    for before, tag in zip([OUTSIDE, *tags], tags, strict=False):
        begins = tag[0] == "I" and before[2:] != tag[2:]
        result.append(f"B{tag[1:]}" if begins else tag)
    return tuple(result)


def prefixed(tags: Sequence[str]) -> list[str]:
    """Tags of models that have none (NOUN, LABEL_2) with I- before them, so that equal neighbours are one entity, as
    with aggregation_strategy="simple" in transformers."""
    return [tag if tag == OUTSIDE or PREFIX.match(tag) else f"I-{tag}" for tag in tags]


def entities(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """(first word, word after the last, type) of each entity, as seqeval finds them, without its two seconds of
    import; of tags without a prefix (NOUN), equal neighbours are one."""
    found, begin, last = [], 0, OUTSIDE
    for place, tag in enumerate([*prefixed(tags), OUTSIDE]):
        ends = last[0] in "ES" or tag[0] in "BSO" or last[2:] != tag[2:]
        if last != OUTSIDE and ends:
            found.append((begin, place, last[2:]))
        if last == OUTSIDE or ends:
            begin = place
        last = tag
    return found


def read_columns(source: Source) -> list[TaggedExample]:
    """CoNLL: a word, perhaps further columns, and its tag, separated by tabs or spaces; a blank line ends a sentence.

    -DOCSTART- lines hold no word. A sentence with a bad line is skipped as a whole; the line is a problem.
    """
    examples: list[TaggedExample] = []
    words: list[str] = []
    tags: list[str] = []
    good: set[str] = set()  # valid tags so far
    width, bad = None, False

    def flush() -> None:
        nonlocal bad
        if words and not bad:
            examples.append(TaggedExample(tuple(words), to_iob2(tags)))
        words.clear()
        tags.clear()
        bad = False

    for number, line in lines_of(source.text):
        # Not split(): an ideographic or a no-break space is a word here.
        cells = line.strip(" \t").split("\t")
        if len(cells) == 1:
            cells = [cell for cell in cells[0].split(" ") if cell] or [""]
        if cells == [""] or cells[0] == "-DOCSTART-":
            flush()
        elif len(cells) < 2 or (width is not None and len(cells) != width):
            expected = "a word and its tag" if width is None else f"{width} columns"
            source.problem(
                number, len(cells) + 1, f"{len(cells)} column{'s' * (len(cells) > 1)} where {expected} are expected"
            )
            bad = True
        elif not cells[0]:
            source.problem(number, 1, "the word is empty")
            bad = True
        elif cells[-1] not in good and not TAG.fullmatch(cells[-1]):
            source.problem(number, len(cells), f"{cells[-1]!r} is no tag such as O, B-PER or I-PER")
            bad = True
        elif cells[-1] != OUTSIDE and not source.known(cells[-1][2:], number, len(cells)):
            bad = True
        else:
            width = len(cells)
            good.add(cells[-1])
            words.append(cells[0])
            tags.append(cells[-1])
    flush()
    return examples


@dataclass(frozen=True)
class TagFeatures(Features):
    """One window of a sentence. words: (position of its first piece, index of the word) of each word that this window
    tags; every word is tagged in exactly one window, the one with the most context around it."""

    words: tuple[tuple[int, int], ...] = ()


class Tagging(Task):
    """Sentences longer than the model can read are cut into overlapping windows, so every word gets a tag."""

    name = "tagging"
    order = 50
    example_type = TaggedExample
    answer = "tags"
    architecture = "BertForTokenClassification"
    too_long = "windows"
    metric = "f1"
    readers: ClassVar = {"columns": read_columns}
    endings = ("txt", "conll", "iob", "bio")
    example_input: ClassVar = {"text": "Ada Lovelace was born in London."}
    given_texts = ("text",)

    def recognises(self, form) -> Sureness:
        return Sureness.SYNTAX if self.guess_format(form.text, form.name) else Sureness.NO

    def guess_format(self, text, name) -> str | None:
        lines = [line for _, line in lines_of(text) if line.strip()][:200]
        rows = [re.split("[ \t]+", line.strip()) for line in lines]
        good = sum(len(cells) >= 2 and bool(TAG.fullmatch(cells[-1])) for cells in rows)
        return "columns" if good > len(rows) / 2 else None

    def example(self, given) -> Any:
        extra = extra_given(given)
        if isinstance(given, Mapping):
            given = given.get("words", given.get("text"))
        if isinstance(given, str):
            return from_text(given, extra)
        if not texts_listed(given):
            raise ValueError("the input must be a text, or an object with a text or a list of words")
        return TaggedExample(tuple(given), extra=extra)

    def answerable(self, labels) -> list[str]:
        return list(dict.fromkeys(PREFIX.sub("", label) for label in labels if label != OUTSIDE))

    def check(self, data) -> None:
        if all(tag == OUTSIDE for example in data.examples for tag in example.tags):
            raise TaskDataError(f"{data.name}: every tag is O: without any entity there is nothing to learn")

    def labels(self, data) -> list[str]:
        """O, then B- and I- of each type."""
        return [OUTSIDE, *(f"{letter}-{kind}" for kind in data.labels for letter in "BI")]

    def features(self, tokenizer, examples, labels, options) -> list[Any]:
        return [
            replace(row, example=i)
            for i, (example, pieces) in enumerate(zip(examples, pieces_of(tokenizer, examples), strict=True))
            for row in tag_windows(tokenizer, pieces, example.tags, labels, options, example.extra)
        ]

    def rows(self, tokenizer, example, labels, options) -> list[InputRow]:
        """One row per window."""
        return tag_rows(tokenizer, example, self.features(tokenizer, [example], labels, options))

    def targets(self, features) -> dict[str, Any]:
        return {"labels": tag_labels(features)}

    def decode(self, outputs, features, examples, labels, options) -> list[dict]:
        tagged = tags_of([output["logits"] for output in outputs], features, examples, labels)
        return [
            {
                **({"text": example.text} if example.text is not None else {}),
                "words": list(example.words),
                "tags": tags,
                "probabilities": probabilities,
                "entities": entity_answers(example, tags),
            }
            for example, (tags, probabilities) in zip(examples, tagged, strict=True)
        ]

    def plain(self, answer) -> str:
        return plain_entities(answer)

    def score(self, predictions, examples) -> dict[str, float]:
        """Precision, recall and F1 over whole entities, as seqeval counts them, and the share of right tags."""
        from seqeval.metrics import accuracy_score

        truth, answers = [list(example.tags) for example in examples], [answer["tags"] for answer in predictions]
        return {**entity_scores(truth, answers), "tag_accuracy": float(accuracy_score(truth, answers))}

    def grade(self, prediction, example) -> float:
        """The share of words with the right tag."""
        same = [said == tag for said, tag in zip(prediction["tags"], example.tags, strict=True)]
        return sum(same) / len(same) if same else 1.0

    def details(self, predictions, examples, labels) -> dict:
        """Scores of each type of entity."""
        return {"by_type": type_scores([example.tags for example in examples], [said["tags"] for said in predictions])}

    def input_schema(self, most, columns=()) -> dict:
        text = some_text(most)
        words = {"type": "array", "items": text, "minItems": 1, "maxItems": most}
        whole = fields({}, columns, text=text, words=words)
        return {"anyOf": [text, words, {**whole, "oneOf": [{"required": ["text"]}, {"required": ["words"]}]}]}

    def texts(self, example) -> list[str | tuple[str, ...]]:
        return [example.words]

    def with_texts(self, example, texts, origins) -> Any:
        tags = None if example.tags is None else to_iob2([example.tags[i] for i in origins[0]])
        return TaggedExample(tuple(texts[0]), tags, extra=example.extra)


def from_text(text: str, extra: dict[str, str] | None = None) -> TaggedExample:
    """Split running text into words: runs of letters and digits; Chinese characters and other signs one by one."""
    offsets = word_offsets(text)
    return TaggedExample(tuple(text[a:b] for a, b in offsets), None, text, tuple(offsets), extra or {})


def word_offsets(text: str) -> list[tuple[int, int]]:
    """(start, end) of each word of `text`, as `from_text` splits it."""
    if text.isascii():
        return [match.span() for match in WORD.finditer(text)]
    offsets = []
    for match in WORD.finditer(text):
        start = match.start()
        for i in range(match.start(), match.end()):
            if is_cjk(text[i]):
                offsets += [(start, i)] if start < i else []
                offsets.append((i, i + 1))
                start = i + 1
        offsets += [(start, match.end())] if start < match.end() else []
    return offsets


def pieces_of(tokenizer: Tokenizer, examples: Sequence[Any]) -> list[list[list[int]]]:
    """The pieces of each word of each example; a word the tokenizer drops altogether is [UNK]."""
    bulk = iter(tokenizer.encode_bulk([word for example in examples for word in example.words]))
    return [[next(bulk) or [tokenizer.unk_id] for _ in example.words] for example in examples]


def tag_windows(
    tokenizer: Tokenizer,
    pieces: Sequence[Sequence[int]],
    tags: Sequence[str] | None,
    labels: Sequence[str],
    options: Options,
    extra: Mapping[str, str],
) -> list[TagFeatures]:
    """[CLS] words [SEP], in as many windows as the words need; a tag stands at its word's first piece, −100 elsewhere.

    A window begins about `doc_stride` tokens after the one before; a word longer than a window loses its end.
    """
    (prefix,) = tokenizer.encode_bulk([metadata_prefix(extra, options)])
    room = options.max_length - 2 - len(prefix)
    if room < 1:
        raise ValueError(f"max_length {options.max_length} has no room for a word")
    pieces = [word[:room] for word in pieces]
    windows = windows_of([len(word) for word in pieces], room, options.doc_stride)
    owner = owners(windows, len(pieces))
    rows = []
    for number, (first, last) in enumerate(windows):
        ids, places = [tokenizer.cls_id, *prefix], []
        target = [IGNORE] * len(ids)
        for word in range(first, last):
            owned = owner[word] == number
            if owned:
                places.append((len(ids), word))
            tag = tags[word] if owned and tags is not None else ""
            target += [
                labels.index(tag) if tag in labels else IGNORE,
                *[IGNORE] * (len(pieces[word]) - 1),
            ]
            ids += pieces[word]
        target.append(IGNORE)
        ids.append(tokenizer.sep_id)
        asks = tags is not None and any(one != IGNORE for one in target)
        numbers = metadata_numbers(extra, options)
        rows.append(TagFeatures(0, ids, [0] * len(ids), target if asks else None, numbers, tuple(places)))
    return rows


def tag_rows(tokenizer: Tokenizer, example: Any, windows: Sequence[TagFeatures]) -> list[InputRow]:
    """The windows for display, with the tag at each word's first piece."""
    (pieces,) = pieces_of(tokenizer, [example])
    rows = []
    for features in windows:
        targets = ["", *[ELSEWHERE] * (features.length - 2), ""]
        for position, word in features.words:
            end = min(position + len(pieces[word]), features.length - 1)
            tag = "?" if example.tags is None else example.tags[word]
            targets[position:end] = [tag, *[LATER] * (end - position - 1)]
        first, last = (features.words[0][1], features.words[-1][1] + 1) if features.words else (0, 0)
        row = row_of(tokenizer, features.ids, features.segments, targets)
        rows.append(replace(row, tokens_of=(first, last, len(example.words))))
    return rows


def windows_of(lengths: Sequence[int], room: int, stride: int) -> list[tuple[int, int]]:
    """(first word, word after the last) of windows of whole words that hold at most `room` tokens, a new one about
    `stride` tokens after the one before, but never leaving a word out. No words: one empty window."""
    windows, first = [], 0
    while True:
        last, tokens = first, 0
        while last < len(lengths) and tokens + lengths[last] <= room:
            tokens += lengths[last]
            last += 1
        windows.append((first, last))
        if last >= len(lengths):
            return windows
        step, moved = first, 0
        while step < last and (moved == 0 or moved + lengths[step] <= stride):
            moved += lengths[step]
            step += 1
        first = step


def owners(windows: Sequence[tuple[int, int]], words: int) -> list[int]:
    """For each word, the index of the window with the most context on the word's poorer side; the first if equal."""
    best = [(-1, 0)] * words
    for number, (first, last) in enumerate(windows):
        for word in range(first, last):
            context = min(word - first, last - 1 - word)
            if context > best[word][0]:
                best[word] = (context, number)
    return [number for _, number in best]


def tag_labels(features: Sequence[Features], target=lambda row: row.target) -> Tensor | None:
    """Tag indices (B, T), −100 where there is no target; None if no row has a target."""
    import torch

    if all(target(row) is None for row in features):
        return None
    longest = max(row.length for row in features)
    rows = [target(row) or [IGNORE] * row.length for row in features]
    return torch.tensor([row + [IGNORE] * (longest - len(row)) for row in rows])


def tags_of(
    logits: Sequence[np.ndarray], features: Sequence[TagFeatures], examples: Sequence[Any], labels: Sequence[str]
) -> list[tuple[list[str], list[float]]]:
    """For each example a tag and its probability per word; O, with probability 0, for a word that no window tags."""
    tags = [[OUTSIDE] * len(example.words) for example in examples]
    probabilities = [[0.0] * len(example.words) for example in examples]
    for scores, row in zip(logits, features, strict=True):
        probs = softmax(scores)
        for position, word in row.words:
            best = int(probs[position].argmax())
            tags[row.example][word] = labels[best]
            probabilities[row.example][word] = float(probs[position, best])
    return list(zip(tags, probabilities, strict=True))


def entity_answers(example: Any, tags: Sequence[str]) -> list[dict]:
    """The entities: type, text, words start…end, and the characters in the text if there is one."""
    answers = []
    for start, end, kind in entities(tags):
        answer = {"type": kind, "start": start, "end": end}
        if example.offsets is None:
            gap = "" if all(len(word) == 1 for word in example.words) else " "
            answer["text"] = gap.join(example.words[start:end])
        else:
            place = (example.offsets[start][0], example.offsets[end - 1][1])
            answer |= {"text": example.text[slice(*place)], "offsets": list(place)}
        answers.append(answer)
    return answers


def plain_entities(answer: Mapping[str, Any]) -> str:
    return "  ".join(f"[{entity['text']}]({entity['type']})" for entity in answer["entities"]) or "–"


def entity_scores(truth: Sequence[Sequence[str]], answers: Sequence[Sequence[str]]) -> dict[str, float]:
    """Micro precision, recall and F1 over whole entities, from seqeval."""
    from seqeval.metrics import f1_score, precision_score, recall_score

    scores = {"f1": f1_score, "precision": precision_score, "recall": recall_score}
    truth, answers = [prefixed(tags) for tags in truth], [prefixed(tags) for tags in answers]
    if not any(tag != OUTSIDE for tags in (*truth, *answers) for tag in tags):
        return dict.fromkeys(scores, 0.0)
    return {name: float(score(truth, answers, zero_division=0)) for name, score in scores.items()}


def type_scores(truth: Sequence[Sequence[str]], answers: Sequence[Sequence[str]]) -> dict[str, dict[str, float]]:
    """Precision, recall, F1 and count of each type of entity, from seqeval; {} if the ground truth has no entity."""
    from seqeval.metrics import classification_report

    truth, answers = [prefixed(tags) for tags in truth], [prefixed(tags) for tags in answers]
    if not any(tag != OUTSIDE for tags in truth for tag in tags):
        return {}
    report = classification_report(truth, answers, output_dict=True, zero_division=0)
    names = {"precision": "precision", "recall": "recall", "f1-score": "f1", "support": "count"}
    return {
        kind: {ours: float(values[theirs]) for theirs, ours in names.items()}
        for kind, values in report.items()
        if not kind.endswith(" avg")
    }
