"""Content of a lesson, read from lessons/<name>/: prose (en.md), examples (examples.toml) and the quiz (quiz.toml).

A page places the sections of the prose between its interactive parts. Another language is a twin beside the English
file (`zh.md`, `quiz.zh.toml`) and a `zh` list in `examples.toml`. Each section and question of a twin carries the mark
of the English that it was made from (`python -m bench.translations done`); what has changed since, or is missing, is
shown in English.
"""

import csv
import random
import re
import tomllib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

import streamlit as st

from minibert.folders import LESSONS
from minibert.text.twins import mark_of
from ui.languages import language_of
from ui.model_cache import language_read
from ui.navigation import next_lesson
from ui.progress import note_answer, picked
from ui.projector import projecting
from ui.stages import you_are_here
from ui.state import hold, opened_by_link
from ui.translations import DEFAULT, _, first_language, language

REVIEWS = LESSONS / "data" / "reviews"
TEXT_WIDTH = 820  # pixels: about 75 characters a line at the theme's type size
ASKED = 3  # questions of a quiz shown at once; the others are in an expander
MOST_PROJECTED = 300  # characters of a section shown in projector mode; the rest is in an expander


class LessonError(ValueError):
    """A file of a lesson is missing or malformed; the message names the file and says what to do."""


@dataclass(frozen=True)
class QuizChoice:
    text: str
    why: str  # shown when it is picked: why it is right or wrong
    correct: bool = False


@dataclass(frozen=True)
class QuizQuestion:
    text: str
    choices: tuple[QuizChoice, ...]


@dataclass(frozen=True)
class ProseSection:
    """A section of a lesson's text, or its title with its question. In a twin: the English heading, and its mark."""

    heading: str
    prose: str
    of: str = ""
    made_from: str = ""

    @property
    def mark(self) -> str:
        return mark_of([self.heading, self.prose])


class Lesson:
    """The lesson in lessons/<name>/, in the language of the session."""

    def __init__(self, name: str, root: Path = LESSONS):
        self.name = name
        self.folder = root / name

    @cached_property
    def _prose(self) -> dict[str, ProseSection]:
        """English heading → the section in the session's language, "" → title and question."""
        english, twin = self.folder / f"{DEFAULT}.md", self.folder / f"{language()}.md"
        return in_language(read_prose(english), read_prose(twin) if twin != english and twin.exists() else {})

    @property
    def title(self) -> str:
        """The text of the `# ` heading."""
        return self._prose[""].heading

    @property
    def sections(self) -> list[str]:
        """The `## ` headings of the English text, in order: the arguments of `show`, whatever the language."""
        return [heading for heading in self._prose if heading]

    def section(self, heading: str) -> tuple[str, str]:
        """Heading and text of a section in the session's language. heading: the English one. LessonError if there is no
        such section."""
        if heading not in self.sections:
            raise LessonError(
                f"{self.folder.name}/en.md has no section {heading!r}; it has: {', '.join(map(repr, self.sections))}"
            )
        return self._prose[heading].heading, self._prose[heading].prose

    def show(self, heading: str, *, title: bool = True, level: int = 2) -> None:
        """Show a section of the prose in a column of readable width; `title=False` leaves its heading out.

        In projector mode all but its beginning is in an expander.
        """
        name, text = self.section(heading)
        rest = ""
        if projecting():
            text, rest = _in_short(text)
        if title or text:
            st.markdown(f"{'#' * level} {name}\n\n{text}" if title else text, width=_text_width())
        if rest:
            with st.expander(_("Read on"), icon=":material/notes:", type="compact"):
                st.markdown(rest, width=_text_width())

    def open(self, lead: str | None = None) -> None:
        """Begin the page: its title, and under it its question, `lead` or else the text before the first section."""
        opened_by_link()  # before widgets write into the link
        st.title(self.title, anchor=False)
        lead = lead if lead is not None else self._prose[""].prose
        if lead:
            with st.container(key="lead"):
                st.markdown(lead, width="stretch")
        you_are_here(self.name)

    def close(self) -> None:
        """End the page: its quiz, and links to the previous and next lesson."""
        self.quiz()
        next_lesson(self.name)

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of a CSV file of the lesson."""
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    @property
    def examples(self) -> list[str]:
        """Example texts from examples.toml, in the language the page starts with; an empty list without such a file."""
        return self._examples(first_language())

    def examples_for(self, model: str) -> list[str]:
        """Example texts in the language of the model's vocabulary, if the lesson has some; else in English."""
        spoken = language_read(model)
        return self.examples if spoken == language_of(" ".join(self.examples)) else self._examples(spoken)

    def examples_called(self, name: str) -> list[str]:
        """Example texts of the list `name` of examples.toml, the same in every language."""
        return self._examples(name)

    @property
    def points(self) -> dict[str, str]:
        """Example text → the word that shows the lesson's point when it is hidden: the tables `[[point]]` of
        examples.toml. A test computes that our checkpoint finds it with the probability stated there."""
        path = self.folder / "examples.toml"
        points = _read_toml(path, _changed(path)).get("point", [])
        return {point["text"]: point["hide"] for point in points if "hide" in point}

    def _examples(self, chosen: str) -> list[str]:
        path = self.folder / "examples.toml"
        if not path.exists():
            return []
        lists = _read_toml(path, _changed(path))
        chosen = lists.get(chosen, lists.get(DEFAULT))
        if not (isinstance(chosen, list) and chosen and all(isinstance(text, str) for text in chosen)):
            raise LessonError(f'{path}: needs `{DEFAULT} = ["…", …]`, a list of texts')
        return chosen

    @property
    def questions(self) -> list[QuizQuestion]:
        """The questions of quiz.toml, in the session's language."""
        path, twin = self.folder / "quiz.toml", self.folder / f"quiz.{language()}.toml"
        return _load_quiz(path, twin, _changed(path), _changed(twin))

    def quiz(self) -> None:
        """The questions, the first ASKED in view. Picking a choice says whether it is right and why; the pick can be
        changed."""
        questions = self.questions
        st.markdown(f"## {_('Check yourself')}", width=TEXT_WIDTH)
        for number, question in enumerate(questions[:ASKED]):
            _ask(self.name, number, question, len(questions))
        if len(questions) > ASKED:
            with st.expander(_("More questions"), icon=":material/quiz:"):
                for number, question in enumerate(questions[ASKED:], ASKED):
                    _ask(self.name, number, question, len(questions))


def _text_width(more: int = 0) -> int | Literal["stretch"]:
    """Width of a column of text in pixels; in projector mode the full width, as the type is large."""
    return "stretch" if projecting() else TEXT_WIDTH + more


def _in_short(text: str) -> tuple[str, str]:
    """(beginning, rest) of a section. The beginning is its first paragraph, or the first sentences of a long one; a
    paragraph that ends with a colon or comma includes the next block. A list begins with its first items, as many as
    are as short; a table is folded whole."""
    blocks = re.split(r"\n\s*\n", text.strip())
    if blocks[0].startswith("|"):
        return "", text
    if re.match(r"[-*] |\d+\. ", blocks[0]):
        items = [item.start() for item in re.finditer(r"\n(?=[-*] |\d+\. )", blocks[0])] + [len(blocks[0])]
        end = max([items[0], *(at for at in items if at <= MOST_PROJECTED)])
        return text.strip()[:end], text.strip()[end:].strip()
    if len(blocks[0]) > MOST_PROJECTED:
        ends = [end.end() for end in re.finditer(r"(?<!et al)[.?!][*_)\"”]*(?=\s+[^a-z\s])|[。？！]", blocks[0])]
        short = [blocks[0][:end] for end in ends if end <= MOST_PROJECTED]
        whole = [part for part in short if not any(part.count(mark) % 2 for mark in ("**", "*", "_", "$", "`"))]
        if whole:
            return whole[-1], text.strip()[len(whole[-1]) :].strip()
    open_ends = (":", "：", ",", "，")
    keep = next((n for n, block in enumerate(blocks, 1) if not block.rstrip().endswith(open_ends)), len(blocks))
    return "\n\n".join(blocks[:keep]), "\n\n".join(blocks[keep:])


def course_prose() -> list[list[str]]:
    """English prose of all lessons: each section a document, a list of its paragraphs, without markup."""
    documents = []
    for path in sorted(LESSONS.glob("*/en.md")):
        for section in re.split(r"^#+ .*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            blocks = (" ".join(block.split()) for block in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. )", section))
            lines = [re.sub(r"^(?:[-*]|\d+\.) |[*`]|\$[^$]*\$", "", block).strip() for block in blocks]
            if lines := [line for line in lines if line and "|" not in line]:
                documents.append(lines)
    return documents


def course_reviews(*parts: str) -> list[str]:
    """The texts of the course's reviews; parts: "train", "dev", "test"."""
    rows = [row for part in parts for row in (REVIEWS / f"{part}.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    return [row.split("\t")[0] for row in rows]


@st.fragment
def _ask(lesson: str, number: int, question: QuizQuestion, questions: int) -> None:
    """Question `number` of the lesson's `questions`; a pick is kept for the visitor."""
    key = f"quiz-{lesson}-{number}"
    before = picked(lesson, number)
    if key not in st.session_state and before is not None and before < len(question.choices):
        st.session_state[key] = before
    hold(key)  # the browser forgets the pick where the words of the choices change, with the language
    with st.container(border=True, key=f"{key}-box", width=_text_width(60)):
        now = st.radio(
            question.text,
            range(len(question.choices)),
            format_func=lambda index: question.choices[index].text,
            index=None,
            key=key,
        )
        if now is None:
            return
        choice = question.choices[now]
        note_answer(lesson, number, now, choice.correct, questions)
        if choice.correct:
            st.success(f"**{_('Right.')}** {choice.why}", icon=":material/check_circle:")
        else:
            st.error(f"**{_('Not quite.')}** {choice.why}", icon=":material/cancel:")


def load_quiz(path: Path, twin: Path | None = None) -> list[QuizQuestion]:
    """Read and check a quiz: `[[question]]` with `text` and, for each choice, `[[question.choice]]` with `text`, `why`
    and, on exactly one, `correct = true`. Choices are shuffled, seeded by the question's text. twin: the quiz in
    another language; its question whose `made_from` is the mark of one here is put in that one's place. Raises
    LessonError with the question's number."""
    twins = {one.get("made_from"): one for one in quiz_entries(twin)} if twin and twin.exists() else {}
    questions = []
    for entry in quiz_entries(path):
        shown = twins.get(mark_of(entry), entry)
        choices = [QuizChoice(**choice) for choice in shown["choice"]]
        if [one.correct for one in choices] != [one.get("correct", False) for one in entry["choice"]]:
            raise LessonError(f"{twin}: {shown['text']!r} needs the choices of the English question in the same order")
        random.Random(entry["text"]).shuffle(choices)  # files list the right one first; stable between visits
        questions.append(QuizQuestion(shown["text"], tuple(choices)))
    return questions


def quiz_entries(path: Path) -> list[dict]:
    """The tables of a quiz, checked."""
    if not path.exists():
        raise LessonError(f"{path}: there is no such quiz")
    data = _read_toml(path, _changed(path))
    if set(data) - {"question"}:
        raise LessonError(f"{path}: unknown entries {sorted(set(data) - {'question'})}; a quiz holds only [[question]]")
    for number, entry in enumerate(data.get("question", []), 1):
        where = f"{path}: question {number}"
        _check_entry(entry, where, required=("text",), optional=("choice", "made_from"))
        choices = entry.get("choice", [])
        for position, choice in enumerate(choices, 1):
            _check_entry(choice, f"{where}, choice {position}", required=("text", "why"), optional=("correct",))
            if not isinstance(choice.get("correct", False), bool):
                raise LessonError(f"{where}, choice {position}: `correct` must be true or false")
        if len(choices) < 2:
            raise LessonError(f"{where}: needs at least two [[question.choice]]")
        right = sum(choice.get("correct", False) for choice in choices)
        if right != 1:
            raise LessonError(f"{where}: exactly one choice must be `correct = true`, not {right}")
        if len({choice["text"] for choice in choices}) != len(choices):
            raise LessonError(f"{where}: two choices say the same")
    if not data.get("question"):
        raise LessonError(f"{path}: no [[question]]")
    return data["question"]


@lru_cache(maxsize=64)
def _load_quiz(path: Path, twin: Path, changed: int, twin_changed: int) -> list[QuizQuestion]:
    return load_quiz(path, twin)


def _check_entry(entry: dict, where: str, required: tuple[str, ...], optional: tuple[str, ...]) -> None:
    for name in required:
        if not (isinstance(entry.get(name), str) and entry[name].strip()):
            raise LessonError(f"{where}: needs a `{name}`")
    if unknown := set(entry) - {*required, *optional}:
        raise LessonError(f"{where}: unknown entries {sorted(unknown)}")


@lru_cache(maxsize=64)
def _read_toml(path: Path, changed: int) -> dict:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LessonError(f"{path}: {error}") from error


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def read_prose(path: Path) -> dict[str, ProseSection]:
    """English heading → section, in the order of the file; "" → title, and the text before the first section."""
    return _read_prose(path, _changed(path))


@lru_cache(maxsize=64)
def _read_prose(path: Path, changed: int) -> dict[str, ProseSection]:
    if not path.exists():
        raise LessonError(f"{path}: there is no such text")
    head, *rest = re.split(r"^## +(.+?)\s*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    title, _newline, lead = head.strip().partition("\n")
    if not title.startswith("# "):
        raise LessonError(f"{path}: must start with its title, `# …`")
    sections = [_section(title[2:], lead), *map(_section, rest[::2], rest[1::2])]
    named = {(one.of or one.heading) if at else "": one for at, one in enumerate(sections)}
    if len(named) != len(sections):
        raise LessonError(f"{path}: two sections have the same heading")
    return named


def _section(heading: str, text: str) -> ProseSection:
    """The heading of a twin ends with a comment: `<!-- English heading · mark -->`, the mark once it is done."""
    said, of, made_from = re.fullmatch(r"(.+?)\s*(?:<!-- (.+?)(?: · (\w+))? -->)?", heading.strip()).groups("")
    return ProseSection(said, text.strip(), of, made_from)


def in_language(prose: dict[str, ProseSection], twin: dict[str, ProseSection]) -> dict[str, ProseSection]:
    """The English sections, those with a twin made from just this text in its place."""
    return {
        name: twin[name] if name in twin and twin[name].made_from == section.mark else section
        for name, section in prose.items()
    }
