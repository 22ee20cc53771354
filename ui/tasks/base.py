"""What a task is on the screen: its words, its data, the fields of an input, the pictures of its answers."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from minibert.tasks import TASKS, Task
from ui.translations import _, ngettext

Review = tuple[str, list[str]]  # a heading, and the mistakes as HTML


@dataclass(frozen=True)
class Values:
    """What a model is fine-tuned with."""

    epochs: int
    batch: int
    rate: float
    max_length: int | None = 128  # None: as it is


@dataclass(frozen=True)
class DataSet:
    """A set of lessons/data. ending: of its files · title; note: what a learner should know before training on it ·
    small: what suits a small model, where that is not what suits the task."""

    task: str
    ending: str
    title: str
    note: str
    language: str = "en"
    small: Values | None = None


class TaskView(ABC):
    """A task on the screen. What returns words returns them in the language of the session.

    name: the task's · section: the heading of its prose in the lesson · head_lines: what marks its lines in the class
    of its head · small: what a model of 5.5 million parameters learns well with in under a minute on one core, measured
    on the shipped sets · fields: the names of the widgets of its form · labels_needed: nothing can be learned from
    examples that have no label among them · not_shares: metrics that are no share of 1.
    """

    name: ClassVar[str]
    section: ClassVar[str]
    head_lines: ClassVar[str]
    small: ClassVar[Values]
    fields: ClassVar[tuple[str, ...]]
    labels_needed: ClassVar[bool] = False
    not_shares: ClassVar[tuple[str, ...]] = ()

    @property
    def task(self) -> Task:
        return TASKS[self.name]

    # words

    @abstractmethod
    def title(self) -> str:
        """The task, to choose it."""

    @abstractmethod
    def expected(self) -> str:
        """What a file for it looks like, in a sentence."""

    @abstractmethod
    def formats(self) -> dict[str, str]:
        """The formats of its files: name → words."""

    def columns(self) -> dict[str, str]:
        """The fields that a column of a table may be chosen for: name → words."""
        return {}

    def metric_title(self) -> str:
        """The headline metric."""
        return _("accuracy")

    def number(self, value: float) -> str:
        """A value of the headline metric as it is read."""
        return f"{value:.1%}" if self.is_share else f"{value:.3f}"

    @property
    def is_share(self) -> bool:
        """Whether the headline metric is a share of 1."""
        return self.task.metric not in self.not_shares

    def floor_title(self) -> str:
        """What `Task.trivial` answers."""
        return _("always the commonest class")

    def number_title(self) -> tuple[str, float]:
        """What the number of `headline` is, and the largest there can be."""
        return _("how sure"), 1.0

    # data

    @abstractmethod
    def sets(self) -> dict[str, DataSet]:
        """The sets of lessons/data, by their folders' names."""

    def in_a_line(self, example: Any) -> str:
        """What an example asks about, to choose it from a list."""
        names = ("context", "question", "text", "pair")
        return " / ".join(text for name in names if (text := getattr(example, name, "")))

    def in_words(self, part: Any) -> str:
        """One of a tuple that is a field of an example."""
        return str(part)

    # an input

    @abstractmethod
    def form(self, example: Any, key: str) -> dict[str, Any] | str | None:
        """Fields for an input, filled from `example`: what `Task.example` takes; None, with a hint, while something is
        missing."""

    @abstractmethod
    def asked(self, example: Any, labels: Any, options: Any) -> str:
        """What is asked of the model, and where."""

    def row_title(self, rows: Sequence, number: int) -> str:
        """What stands above a row of the input; "" for nothing."""
        return ""

    def show_target(self, example: Any, labels: Any) -> None:  # noqa: B027, most targets stand at a token
        """What the loss is told, where it is not told at a token."""

    # answers

    @abstractmethod
    def headline(self, answer: Mapping) -> tuple[str, float | None]:
        """What was answered, in a few words (plain text), and its probability or score."""

    @abstractmethod
    def show_answer(self, given: Any, answer: Mapping, key: str) -> None:
        """The answer to `given` in words, then in the text or as a figure."""

    @abstractmethod
    def review(self, pairs: Sequence[tuple[Mapping, Mapping]], evaluation: Mapping, key: str) -> Review:
        """A picture of all answers to a dev set. pairs: (example, prediction) as a run's events hold them."""


# --- shared words -----------------------------------------------------------------------------------------------------


def header_words() -> str:
    """The format that every table may have."""
    return _("columns named in a header")


def read_at(options: Any) -> str:
    """Where the new layer reads."""
    where = {"cls": _("`[CLS]`"), "mean": _("the mean of all tokens"), "max": _("the maximum over all tokens")}
    return where[options.pooling]


def window_title(rows: Sequence, number: int, words: str) -> str:
    """Above one of several windows. words: what it holds, with places for first, last and total."""
    if len(rows) == 1:
        return ""
    first, last, total = rows[number].tokens_of
    window = _("**Window {n} of {count}**").format(n=number + 1, count=len(rows))
    return f"{window} · {words.format(first=first + 1, last=last, total=total)}"


def wrong_of(count: int, total: int, order: str, partly: bool = False) -> str:
    """The heading above the mistakes. partly: an answer may be right in part."""
    if not count:
        return _("All {total} are right.").format(total=total)
    words = (
        ngettext("{n} of {total} is not entirely right", "{n} of {total} are not entirely right", count)
        if partly
        else ngettext("{n} of {total} is wrong", "{n} of {total} are wrong", count)
    )
    return words.format(n=count, total=total) + f", {order}:"


def least_right(pairs: Sequence[tuple[Any, Mapping]]) -> list[tuple[Any, Mapping]]:
    """Those that are not entirely right, the worst first."""
    return sorted((pair for pair in pairs if pair[1]["grade"] < 1), key=lambda pair: pair[1]["grade"])
