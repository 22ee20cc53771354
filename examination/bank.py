"""The bank: lessons/examination/*.toml, one file per part, read and checked. The format: README.md there."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from examination.entry import BankError, Entry
from examination.kinds import KINDS
from examination.task import ExamQuestion
from minibert.folders import LESSONS, ROOT
from minibert.text.twins import mark_of

BANK = LESSONS / "examination"
POINTS = {"choose": 1, "order": 2, "mask": 2, "compute": 2, "input": 3, "count": 2, "mistake": 2, "predict": 2}
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class ExamPart:
    """A file of the bank. `name` is used in links: the file's name without its number."""

    name: str
    title: str
    questions: tuple[ExamQuestion, ...]

    @property
    def marked(self) -> tuple[ExamQuestion, ...]:
        """The questions that a program marks."""
        return tuple(one for one in self.questions if one.kind != "open")

    @property
    def open(self) -> tuple[ExamQuestion, ...]:
        return tuple(one for one in self.questions if one.kind == "open")


def load_bank(folder: Path = BANK, language: str = "en") -> tuple[ExamPart, ...]:
    """All parts in the order of their files; a part's translation is `<name>.<language>.toml` beside it. A question
    there takes the place of the English one of its id from which it was made.

    Raises BankError with file, question and what to do.
    """
    paths = sorted(path for path in folder.glob("*.toml") if path.name.count(".") == 1)
    if not paths:
        raise BankError(f"{folder}: no *.toml here; a part of the examination is a file, see README.md")
    parts: list[ExamPart] = []
    places: dict[str, str] = {}
    for path in paths:
        translated = path.with_suffix(f".{language}.toml")
        part = read_part(path, _name(path))
        if translated.exists():
            twin = read_part(translated, part.name)
            made = {(one.id, one.made_from): one for one in twin.questions}
            questions = tuple(made.get((one.id, one.mark), one) for one in part.questions)
            part = ExamPart(part.name, twin.title, questions)
        for question in part.questions:
            if question.id in places:
                raise BankError(f"{question.where}: the id is taken by {places[question.id]}; choose another")
            places[question.id] = question.where
        parts.append(part)
    return tuple(parts)


def _name(path: Path) -> str:
    return re.sub(r"^[0-9]+-", "", path.stem)


def read_part(path: Path, name: str) -> ExamPart:
    return _read_part(path, name, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read_part(path: Path, name: str, changed: int) -> ExamPart:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BankError(f"{path.name}: {error}") from error
    entry = Entry(data, path.name)
    title = entry.text("title")
    questions = tuple(_read(table, name, path.name) for table in entry.tables("question", 1))
    entry.close()
    return ExamPart(name, title, questions)


def _read(entry: Entry, part: str, file: str) -> ExamQuestion:
    mark = mark_of(entry.table)
    made_from = entry.text("made_from", "")
    name = entry.text("id")
    if not _ID.fullmatch(name):
        raise entry.error(f"`id` is {name!r}; write small letters, digits and hyphens, such as masking-reasons")
    entry.where = f"{file}, question {name}"
    kind = entry.one_of("kind", list(KINDS))
    text = entry.text("text")
    why = entry.text("why") if entry.has("why") else ""
    settings = KINDS[kind].read(entry)
    points = len(settings.rubric) if kind == "open" else entry.integer("points", POINTS[kind], 1, 20)
    lesson = entry.text("lesson")
    if not (ROOT / "pages" / f"{lesson}.py").exists():
        raise entry.error(f"`lesson` is {lesson!r}, but there is no pages/{lesson}.py")
    query = entry.table_of("query", optional=True).words()
    variants = tuple(table.words() for table in entry.tables("variant"))
    if len({frozenset(variant) for variant in variants}) > 1:
        raise entry.error("every [[question.variant]] must have the same names")
    entry.close()
    return ExamQuestion(
        name, part, kind, text, why, points, lesson, query, variants, settings, entry.where, mark, made_from
    )
