"""Base class of task views: titles, data sets, input form, and drawing of predictions for one task."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from minibert.tasks import TASKS, Task
from ui.translations import _, ngettext

Review = tuple[str, list[str]]  # a heading, and the mistakes as HTML


@dataclass(frozen=True)
class Values:
    """The four main fine-tuning settings."""

    epochs: int
    batch: int
    rate: float
    max_length: int | None = 128  # None: leave the widget unchanged


@dataclass(frozen=True)
class DataSet:
    """A set of lessons/data. ending: of its files · note: what a learner should know before training on it · small:
    values that suit a small model, if different from those of the task."""

    task: str
    ending: str
    title: str
    note: str
    language: str = "en"
    small: Values | None = None


class TaskView(ABC):
    """The view of a task. Methods that return text return it in the language of the session.

    name: of the task · section: heading of its prose in the lesson · head_lines: substring that marks its lines in the
    source of its head · small: values with which a model of 5.5 million parameters learns well in under a minute on one
    core, measured on the shipped sets · fields: names of the widgets of its form · not_shares: metrics that are not in
    [0, 1].
    """

    name: ClassVar[str]
    section: ClassVar[str]
    head_lines: ClassVar[str]
    small: ClassVar[Values]
    fields: ClassVar[tuple[str, ...]]
    not_shares: ClassVar[tuple[str, ...]] = ()

    @property
    def task(self) -> Task:
        return TASKS[self.name]

    # words

    @abstractmethod
    def title(self) -> str:
        """Label in the choice of tasks."""

    @abstractmethod
    def expected(self) -> str:
        """Expected file format, in a sentence."""

    @abstractmethod
    def formats(self) -> dict[str, str]:
        """File format → its label."""

    def columns(self) -> dict[str, str]:
        """Field that is read from a column of a table → its label."""
        return {}

    def metric_title(self) -> str:
        """Name of the headline metric."""
        return _("accuracy")

    def number(self, value: float) -> str:
        """A formatted value of the headline metric."""
        return f"{value:.1%}" if self.is_share else f"{value:.3f}"

    @property
    def is_share(self) -> bool:
        """Whether the headline metric is in [0, 1]."""
        return self.task.metric not in self.not_shares

    def floor_title(self) -> str:
        """Description of the trivial baseline (`Task.trivial`)."""
        return _("always the commonest class")

    def number_title(self) -> tuple[str, float]:
        """(name of the number in `headline`, its maximum)."""
        return _("how sure"), 1.0

    # data

    @abstractmethod
    def sets(self) -> dict[str, DataSet]:
        """Folder name in lessons/data → set."""

    def in_a_line(self, example: Any) -> str:
        """The inputs of an example in one line, to choose it from a list."""
        names = ("context", "question", "text", "pair")
        return " / ".join(text for name in names if (text := getattr(example, name, "")))

    def in_words(self, part: Any) -> str:
        """Text for one element of a tuple-valued field of an example."""
        return str(part)

    # an input

    @abstractmethod
    def form(self, example: Any, key: str) -> dict[str, Any] | str | None:
        """Input form, pre-filled from `example` → the argument of `Task.example`; None, with a hint, while something is
        missing."""

    @abstractmethod
    def asked(self, example: Any, labels: Any, options: Any) -> str:
        """What the model has to predict, and at which positions, in a sentence."""

    def row_title(self, rows: Sequence, number: int) -> str:
        """Title above a row of the input; "" for none."""
        return ""

    def show_target(self, example: Any, labels: Any) -> None:  # noqa: B027, most targets belong to a token
        """Show the target if it does not belong to a token."""

    # answers

    @abstractmethod
    def headline(self, answer: Mapping) -> tuple[str, float | None]:
        """The prediction in a few words (plain text), and its probability or score."""

    @abstractmethod
    def show_answer(self, given: Any, answer: Mapping, key: str) -> None:
        """Draw the prediction for the input `given` in words, then in the text or as a figure."""

    @abstractmethod
    def review(self, pairs: Sequence[tuple[Mapping, Mapping]], evaluation: Mapping, key: str) -> Review:
        """Draw the predictions on a dev set → the mistakes. pairs: (example, prediction) as in a run's events."""


# --- shared words -----------------------------------------------------------------------------------------------------


def header_words() -> str:
    """Label of the format "header"."""
    return _("columns named in a header")


def read_at(options: Any) -> str:
    """Words for the pooling: the input of the classification head."""
    where = {"cls": _("`[CLS]`"), "mean": _("the mean of all tokens"), "max": _("the maximum over all tokens")}
    return where[options.pooling]


def window_title(rows: Sequence, number: int, words: str) -> str:
    """Title of one of several windows; "" if there is only one. words: a format for first, last and total."""
    if len(rows) == 1:
        return ""
    first, last, total = rows[number].tokens_of
    window = _("**Window {n} of {count}**").format(n=number + 1, count=len(rows))
    return f"{window} · {words.format(first=first + 1, last=last, total=total)}"


def wrong_of(count: int, total: int, order: str, partly: bool = False) -> str:
    """Heading above the mistakes. order: how they are sorted · partly: predictions can be partly right."""
    if not count:
        return _("All {total} are right.").format(total=total)
    words = (
        ngettext("{n} of {total} is not entirely right", "{n} of {total} are not entirely right", count)
        if partly
        else ngettext("{n} of {total} is wrong", "{n} of {total} are wrong", count)
    )
    return _("{told}, {order}:").format(told=words.format(n=count, total=total), order=order)


def least_right(pairs: Sequence[tuple[Any, Mapping]]) -> list[tuple[Any, Mapping]]:
    """(example, prediction) pairs with a grade below 1, worst first."""
    return sorted((pair for pair in pairs if pair[1]["grade"] < 1), key=lambda pair: pair[1]["grade"])
