"""What is had without understanding: a floor for the measures of the recorded experiments, counted from the same data.

    MINIBERT_DATA=… python -m minibert.experiments.floors

prints them, in percent or in the metric's own unit; `claims.toml` holds them.
"""

from __future__ import annotations

import math
import os
import random
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch

from minibert import checkpoint
from minibert.experiments.catalogue import LEARNED_SCALE, Scale
from minibert.experiments.claims import factor
from minibert.experiments.compare import read_data
from minibert.experiments.comparisons import COMPARISONS
from minibert.experiments.dialogue import parts_of
from minibert.experiments.finetuning import TOY_DEV, TOY_SEEDS
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.experiments.sentence_vectors import FILES
from minibert.experiments.toy_corpus import COUNTED, SEEDS, WORLD
from minibert.experiments.writing import HELD_OUT as CONTINUED
from minibert.experiments.writing import chinese, continuations
from minibert.folders import LESSONS, ROOT
from minibert.masking.misspelling import Confusions, CorrectionCounts, Misspeller, confusable_words, read_confusions
from minibert.model import IGNORE, Batch
from minibert.tasks import TASKS, TaskData
from minibert.tasks.tagging import entity_scores
from minibert.tokenizer import Tokenizer
from minibert.toy import answers, collocations, continual, corrections, large_batches, segments, world
from minibert.toy.hidden_spans import hidden_runs
from minibert.toy.pretrain import CHOICES, HELD_OUT, questions, questions_at, words_by_kind
from minibert.toy.pronoun_task import NAMES
from minibert.toy.tasks import meant
from minibert.training.statistics import rank_correlation

Floors = dict[str, float]  # metric → floor, as the metric is recorded


class Nearby:
    """The word seen most often beside the nearest words that can be seen: both, else the left one, else any word.

    reach: how far those may be, in words.
    """

    def __init__(self, rows: Iterable[Sequence[Hashable]], reach: int = 1):
        self.seen: dict[tuple, Counter] = defaultdict(Counter)
        for row in rows:
            for at, word in enumerate(row):
                for left in range(1, reach + 1):
                    for right in range(1, reach + 1):
                        self.seen[_beside(row, at, left, right)][word] += 1
                    self.seen[_beside(row, at, left)][word] += 1
                self.seen[()][word] += 1

    def guess(
        self,
        row: Sequence,
        at: int,
        left: int = 1,
        right: int = 1,
        *,
        among: Collection | None = None,
        but: object = (),
    ) -> Hashable:
        """left, right: how far the words are that can be seen · among: the words there are to choose from · but: a word
        that is not said."""
        for context in (_beside(row, at, left, right), _beside(row, at, left), ()):
            for word, _ in self.seen[context].most_common() if context in self.seen else ():
                if word != but and (among is None or word in among):
                    return word
        return None


def _beside(row: Sequence, at: int, left: int, right: int | None = None) -> tuple:
    before = row[at - left] if at >= left else None
    if right is None:
        return left, before
    return left, before, right, row[at + right] if at + right < len(row) else None


# --- the toy world ----------------------------------------------------------------------------------------------------


@cache
def toy_tokenizer() -> Tokenizer:
    return Tokenizer(world.vocabulary())


def rows_of(stories: Iterable[world.Story]) -> list[list[int]]:
    tokenizer = toy_tokenizer()
    return [
        [tokenizer.cls_id, *(tokenizer.ids[word.text] for word in story.words), tokenizer.sep_id] for story in stories
    ]


@cache
def counted() -> list[world.Story]:
    """Stories that no arm reads and that no question is about."""
    return world.stories(COUNTED, SEEDS["counted"], WORLD)


@cache
def nearby(reach: int = 1) -> Nearby:
    return Nearby(rows_of(counted()), reach)


def held_out() -> list[world.Story]:
    """Those on which `pretrain_toy` measures a run with seed 0."""
    return world.stories(HELD_OUT, 1_000_003, WORLD)


def share(right: Iterable[bool]) -> float:
    return statistics.fmean(map(float, right))


def words_meant(examples: int = Scale.examples) -> Floors:
    """*Who or what is meant*: of the words of the story that are answers anywhere, people or things as the question's
    words suggest, the one that these words ask for most often in training (naive Bayes, twice)."""
    train, test = (meant(n, seed).examples for n, seed in zip((examples, TOY_DEV), TOY_SEEDS, strict=True))
    known = {one.answers[0].text for one in (*train, *test)}
    by_kind, by_word = Bayes(train, lambda word: word in NAMES), Bayes(train, lambda word: word)
    right = []
    for one in test:
        asked = set(one.question.split())
        person = max((True, False), key=lambda kind: by_kind.log(kind, asked))
        fitting = dict.fromkeys(
            word for word in one.context.split() if word in known - asked and (word in NAMES) == person
        )
        right.append(max(fitting, key=lambda word: by_word.log(word, asked), default="") == one.answers[0].text)
    return {"meant": share(right), "meant_features": share(right)}


def words_decided_later() -> Floors:
    """Determined words that only later words of the story decide: the word seen most often between the same two
    neighbours."""
    stories = world.stories(COUNTED, SEEDS["counted"], WORLD)
    share = world.guessable_without_context(stories, 2, lambda place, word: place < min(word.determined_by))
    return {"determined.after": share}


class Bayes:
    """How often an answer, or its kind, is asked for with words: log P, each counted half a time more."""

    def __init__(self, examples: Sequence, kind: Callable[[str], Hashable]):
        self.kinds = Counter(kind(one.answers[0].text) for one in examples)
        self.words: dict[Hashable, Counter] = defaultdict(Counter)
        for one in examples:
            self.words[kind(one.answers[0].text)].update(set(one.question.split()))

    def log(self, kind: Hashable, words: Collection[str]) -> float:
        told = ((self.words[kind][word] + 0.5) / (self.kinds[kind] + 1) for word in words)
        return math.log(self.kinds[kind] + 0.5) + sum(map(math.log, told))


def at_lengths() -> Floors:
    """Determined words at the end of rows, by their two neighbours."""
    asked = questions_at(held_out(), toy_tokenizer(), RELATIVE_EXPERIMENTS["nezha"].scale.lengths)
    return {
        f"right_{length}": share(nearby().guess(ids, at) == ids[at] for ids, at, _ in rows)
        for length, rows in asked.items()
    }


def hidden_words() -> Floors:
    """Three words in a row by the two words around them; and for a wrong word the one that its neighbours tell."""
    stories, tokenizer = held_out(), toy_tokenizer()
    runs = hidden_runs(stories, tokenizer, 128)
    span = share(
        nearby(3).guess(ids, at + n, left=n + 1, right=3 - n) == ids[at + n] for ids, at in runs for n in range(3)
    )
    asked = questions(stories, tokenizer, 128)
    asked = asked[:: max(1, len(asked) // CHOICES)]
    rivals, right = words_by_kind(counted(), tokenizer), []
    for number, (ids, at, kind) in enumerate(asked):
        others = [word for word in rivals.get(kind, []) if word != ids[at]]
        wrong = others[number % len(others)] if others else None
        right.append(nearby().guess(ids, at, but=wrong) == ids[at])
    return {"span": span, "span_boundary": span, "corrected": share(right)}


def of_their_kind() -> Floors:
    """Of all words of its kind, the one seen most often between the two neighbours."""
    asked = questions_at(held_out(), toy_tokenizer(), RELATIVE_EXPERIMENTS["xlnet"].scale.lengths)
    rivals = words_by_kind(counted(), toy_tokenizer())
    (rows,) = asked.values()
    return {"chosen": share(nearby().guess(ids, at, among={*rivals[kind]}) == ids[at] for ids, at, kind in rows)}


def together() -> Floors:
    """Words that go together, each drawn by how frequent it is: ln P of the right ones, and how many draws fit."""
    tokenizer, groups = toy_tokenizer(), RELATIVE_EXPERIMENTS["xlnet"].scale.groups
    asked = collocations.held_out_collocations(tokenizer, groups)
    others = collocations.collocations_of(world.stories(2_000, collocations.REFERENCE_SEED, WORLD), tokenizer)
    known, often = {group.words for group in [*others, *asked]}, nearby().seen[()]
    total, draw = often.total(), random.Random(0)
    joint = statistics.fmean(sum(math.log(max(often[word], 1) / total) for word in group.words) for group in asked)
    words, weights = list(often), list(often.values())
    fits = share(tuple(draw.choices(words, weights, k=len(group.words))) in known for group in asked)
    return {"joint_at_once": joint, "joint_in_order": joint, "fits_at_once": fits, "fits_in_order": fits}


def answers_of(batch: Batch) -> torch.Tensor:
    assert batch.labels is not None  # of all batches that ask something
    return batch.labels


def of_frequencies() -> Floors:
    """The loss of a guess by how frequent each word is, of the masked words of `lamb`."""
    often = nearby().seen[()]
    rows = large_batches.rows_of(120, toy_tokenizer(), large_batches.HELD_OUT, large_batches.HELD_OUT_SEED)
    labels = answers_of(next(iter(rows)))
    hidden = labels[labels != IGNORE].tolist()
    return {"loss": -statistics.fmean(math.log(max(often[word], 1) / often.total()) for word in hidden)}


def of_four_tasks() -> Floors:
    """ERNIE 2.0's tasks: hidden words by the nearest words that can be seen, of the others the commonest answer."""
    asked = RELATIVE_EXPERIMENTS["ernie2"].scale.asked
    sampler = continual.TaskSampler(world.stories(200, 8_000_009, WORLD), toy_tokenizer(), 8_000_009)
    batches = {task: sampler.batch(task, asked) for task in continual.TASKS}
    right, near = [], nearby(6)
    for ids, labels in zip(batches["words"].ids.tolist(), answers_of(batches["words"]).tolist(), strict=True):
        hidden = {at for at, label in enumerate(labels) if label != IGNORE}
        for at in hidden:
            before = next(far for far in range(1, at + 1) if at - far not in hidden)
            behind = next(far for far in range(1, len(ids) - at) if at + far not in hidden)
            right.append(near.guess(ids, at, before, behind) == labels[at])
    found = {"words": share(right)}
    for task in [*continual.TASKS][1:]:
        ((_, most),) = Counter(answers_of(batches[task]).tolist()).most_common(1)
        found[task] = most / asked
    return found | {"mean": statistics.fmean(found.values())}


def rows_apart() -> Floors:
    """`xlnet_memory`: a word of the second row by its two neighbours there."""
    scale = RELATIVE_EXPERIMENTS["xlnet_memory"].scale
    asked = segments.questions(world.stories(scale.test, segments.HELD_OUT_SEED, WORLD), toy_tokenizer())
    right: dict[str, list[bool]] = {where: [] for where in segments.CONTEXTS}
    for one in asked:
        right[one.context].append(nearby().guess(one.second, one.place) == one.second[one.place])
    return {where: share(found) for where, found in right.items()}


def written() -> Floors:
    """The next word by the one before it; of answers, the commonest one to every question."""
    texts = continuations(world.stories(CONTINUED, 3_000_029, WORLD), toy_tokenizer())
    after = Nearby([text[i : i + 2] for text in rows_of(counted()) for i in range(len(text) - 1)])
    told = Counter(one.answer for one in answers.examples(100, 7_000_003))
    return {
        "next_word": share(after.guess(text, len(text) - 1) == text[-1] for text in texts),
        "answers": told.most_common(1)[0][1] / told.total(),
    }


def speller(name: str, tasks: Path | None = None) -> Floors:
    """Each word, or one that it is taken for, whichever was seen more often between the two neighbours."""
    scale, lcqmc = RELATIVE_EXPERIMENTS[name].scale, None
    tokenizer = toy_tokenizer()
    alike: Confusions = confusable_words(tokenizer.vocab)
    if tasks is not None:
        tokenizer, alike = checkpoint.load_tokenizer(ROOT / scale.begins_with), read_confusions(ROOT / scale.alike)
        lcqmc = chinese(tasks / "zh" / "lcqmc", scale.measured)
    longest = corrections.CorrectorSettings.longest
    read = lcqmc[: -scale.measured] if lcqmc else corrections.toy_text(scale.stories, 11)
    asked = lcqmc[-scale.measured :] if lcqmc else corrections.toy_text(scale.measured, 9_000_011)[: scale.measured]
    near = Nearby(corrections.rows_of(read, tokenizer, longest))
    misspeller = Misspeller.of(alike, tokenizer.ids, rate=corrections.CorrectorSettings.rate)
    taken_for: dict[int, set[int]] = defaultdict(set)
    for word, others in misspeller.alike.items():
        for other in others:
            taken_for[other].add(word)
    noise, found = torch.Generator().manual_seed(4_000_037), CorrectionCounts()
    for number, truth in enumerate(corrections.rows_of(asked, tokenizer, longest)):
        row = list(truth) if number % 2 else corrections.misspelled(truth, misspeller, noise)
        said = list(row)
        for at in range(1, len(row) - 1):
            seen = near.seen.get(_beside(row, at, 1, 1), Counter())
            said[at] = max([row[at], *sorted(taken_for[row[at]])], key=lambda word: seen[word])
        found = found.add(row[1:-1], said[1:-1], truth[1:-1])
    return found.as_dict()


# --- texts of others --------------------------------------------------------------------------------------------------


def f1_of_a_list(train: TaskData, test: TaskData) -> float:
    """Each word gets the tag it has most often in training, an unseen word O: F1 of entities."""
    usual: dict[str, Counter] = defaultdict(Counter)
    for one in train.examples:
        for word, tag in zip(one.words, one.tags, strict=True):
            usual[word][tag] += 1
    said = [[usual[word].most_common(1)[0][0] if word in usual else "O" for word in one.words] for one in test.examples]
    return entity_scores([one.tags for one in test.examples], said)["f1"]


def tagged(comparison: str, folder: Path) -> Floors:
    return {"f1": f1_of_a_list(*read_data(COMPARISONS[comparison], folder))}


def words_in_common(tasks: Path) -> Floors:
    """STS-B: the share of words that two sentences have in common (Dice), as their likeness."""
    pairs = TASKS["similarity"].read(tasks / "en" / "stsb" / FILES["test"]).examples
    sides = [[set(text.lower().split()) for text in (one.text, one.pair)] for one in pairs]
    alike = np.array([2 * len(a & b) / (len(a) + len(b)) for a, b in sides])
    return {"spearman": rank_correlation(alike, np.array([one.score for one in pairs]))}


def requests(tasks: Path) -> Floors:
    """ATIS and SNIPS: the commonest intent; each word with the tag that it has most often in training."""
    experiment, found = RELATIVE_EXPERIMENTS["dialogue"], Floors()
    for name in experiment.needs:
        train, test = parts_of(tasks / "en" / name, experiment.scale)
        ((_, most),) = Counter(one.intent for one in test.examples).most_common(1)
        found |= {f"{name}_intent": most / len(test.examples), f"{name}_entities": f1_of_a_list(train, test)}
    return found


TOY: dict[str, Callable[[], Floors]] = {  # results → its floors, from the toy world and the project's own texts alone
    "toy-world": words_meant,
    "which-side": lambda: words_decided_later() | {"meant": words_meant(LEARNED_SCALE.examples)["meant"]},
    "nezha": at_lengths,
    "what_to_hide": hidden_words,
    "xlnet": lambda: of_their_kind() | together(),
    "xlnet_memory": rows_apart,
    "lamb": of_frequencies,
    "ernie2": of_four_tasks,
    "to_write": written,
    "corrector": lambda: speller("corrector"),
    "features": lambda: tagged("features", LESSONS / "data"),
}
TEXTS: dict[str, Callable[[Path], Floors]] = {  # … from texts in the folder `tasks` of MINIBERT_DATA
    "corrector_zh": lambda tasks: speller("corrector_zh", tasks),
    "features-conll": lambda tasks: tagged("features-conll", tasks / "en"),
    "sentence_vectors": words_in_common,
    "dialogue": requests,
}


def all_floors(tasks: Path | None) -> Iterator[tuple[str, str, float]]:
    """(results, metric, floor as it is shown)"""
    found = {name: count() for name, count in TOY.items()}
    if tasks is not None:
        found |= {name: count(tasks) for name, count in TEXTS.items()}
    for name, floors in found.items():
        for metric, value in floors.items():
            yield name, metric, round(factor(metric) * value, 2)


def main() -> None:
    data = os.environ.get("MINIBERT_DATA")
    for name, metric, floor in all_floors(Path(data) / "tasks" if data else None):
        print(f"{name:18} {metric:18} {floor:8.2f}")


if __name__ == "__main__":
    main()
