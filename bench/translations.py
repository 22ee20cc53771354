"""What is translated, what is missing, and what was made from English that has changed since.

python -m bench.translations                    # how much of each lesson, and what to look at again
python -m bench.translations through shared     # each missing text of these lessons; `shared`: strings of several
python -m bench.translations update through     # write the lesson's strings into the catalogue, changed ones as fuzzy
python -m bench.translations done through       # mark the lesson's sections and questions as made from today's English
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

from minibert.experiments import claims
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.folders import LESSONS, ROOT
from minibert.inside.relatives.family import family
from minibert.relatives import model_types, relative_named
from minibert.text.parsing import undisturbed
from minibert.text.twins import mark_of
from minibert.toy.world import KINDS
from ui import translations
from ui.lesson import quiz_entries, read_prose

HOMES = ("pages", "sections", "ui", "examination")
FROM_DATA = {  # what goes through `_()` and is no literal: `template` knows where its texts stand
    ("sections/family/table.py", "_(member.what)"),
    ("sections/family/teaches.py", "_(one['name'])"),
    ("sections/family/tree.py", "_(member.what)"),
    ("sections/pretraining/recipe.py", "_(row['what'])"),
    ("sections/pretraining/recipe.py", "_(row['paper'])"),
    ("sections/pretraining/texts.py", "_(what)"),
    ("ui/claim.py", "pgettext('of a paper', text)"),
    ("ui/model_registry.py", "_(relative.about)"),
}
# Whose errors a page shows (`ui.errors`), as they refuse what a learner gives: a file, a pattern, a model's folder.
ERRORS = {
    "jobs": "manager remote run sandbox",
    "minibert": "checkpoint checkpoint_files config count diet few_labels finetune heads pretrain pruning "
    "sentence_vectors tasks tokenizer train",
    "minibert/inside/probes": "tasks",
    "minibert/relatives": "__init__",
    "minibert/seq2seq": "bart",
    "minibert/service": "export server",
    "minibert/text": "batches byte_tokenizer characters documents json_values store tokenizer_files truncation "
    "unigram_tokenizer vocab",
    "minibert/toy": "continual corrections denoising files large_batches pretrain roles segments world",
    "minibert/training": "resume snapshots",
}
# A part of an error that is words itself, or an error: `{why1}`, not `{1}`.
SAYS = re.compile(r"\b(called|columns_found|damaged|error|expected|skipped|use|where|why)\b(?!\.)")
SHARED = "shared"
LESSON_NAMES = {path.parent.name for path in LESSONS.glob("*/en.md")}
# Entries of a question that are no text.
NAMES = {"id", "kind", "lesson", "query", "what", "form", "made_from", "options"}
WIDTH = 110  # of the catalogue's lines


@dataclass(frozen=True)
class Twin:
    """An English text and what there is of it in another language, "" where nothing is. current: whether that was made
    from just this text."""

    lesson: str
    kind: str
    name: str
    english: str
    other: str = ""
    current: bool = True

    @property
    def state(self) -> str:
        return "missing" if not self.other else "done" if self.current else "changed"

    @property
    def words(self) -> int:
        return len(self.english.split())


# --- strings in code --------------------------------------------------------------------------------------------------


def template() -> Catalog:
    """All strings that go through `_()`, within f-strings too, those that reach it from data, and errors."""
    found = Catalog(project="minibert", fuzzy=False)
    for path in [ROOT / "course.py", *(path for home in HOMES for path in sorted((ROOT / home).rglob("*.py")))]:
        place = path.relative_to(ROOT).as_posix()
        for call in ast.walk(undisturbed(ast.parse, path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("_", "ngettext", "pgettext"):
                texts = tuple(one.value for one in call.args if isinstance(one, ast.Constant))
                match call.func.id, texts:
                    case "_", (message,):
                        found.add(message, locations=[(place, 0)])
                    case "ngettext", (singular, plural):
                        found.add((singular, plural), locations=[(place, 0)])
                    case "pgettext", (context, message):
                        found.add(message, locations=[(place, 0)], context=context)
                    case _, _:
                        if (place, ast.unparse(call)) not in FROM_DATA:
                            raise SystemExit(f"{place}: {ast.unparse(call)} cannot be translated: it is no literal")
    paper, recipe = _table("family", "paper"), _table("pretraining", "recipe")["row"]
    data = {
        "sections/family/tree.py": [member.what for member in family(LESSONS / "family" / "models.toml").values()],
        "sections/family/teaches.py": [row["name"] for row in paper["row"]],
        "ui/model_registry.py": [relative_named(name).about for name in model_types()],
        "sections/pretraining/texts.py": KINDS.values(),
        "sections/pretraining/recipe.py": [row[name] for row in recipe for name in ("what", "paper")],
    }
    for place, messages in data.items():
        for message in messages:
            found.add(message, locations=[(place, 0)])
    for place, messages in of_papers().items():
        for message in filter(has_words, messages):
            found.add(message, locations=[(place, 0)], context="of a paper")
    for path in [ROOT / home / name for home, names in ERRORS.items() for name in names.split()]:
        for file in sorted(path.rglob("*.py")) or [path.with_suffix(".py")]:
            for message in errors_of(undisturbed(ast.parse, file.read_text(encoding="utf-8"))):
                found.add(message, locations=[(file.relative_to(ROOT).as_posix(), 0)], context="an error")
    return found


def errors_of(tree: ast.Module) -> Iterator[str]:
    """What functions say in several words, f-strings with `{0}`, `{1}` … in them, and the module's own sentences."""
    for node in ast.walk(tree):
        sentence = isinstance(node, ast.Assign) and ast.unparse(node).endswith((".'", '."'))
        if sentence or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for text in _sentences(node):
                least = 1 if re.search(r"{|^an? |^the ", text) else 2
                if len(text.split()) > least and re.search("[a-z]{2}", re.sub(r"{\w+}", "", text)):
                    yield text


def _sentences(node: ast.AST) -> Iterator[str]:
    below = list(ast.iter_child_nodes(node))
    match node:
        case ast.Expr(value=ast.Constant()):  # a docstring
            return
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            below = [one.value for one in values if isinstance(one, ast.FormattedValue)]
            parts = (_named(part, number) for number, part in enumerate(below))
            yield "".join(one.value if isinstance(one, ast.Constant) else next(parts) for one in values)
    for one in below:
        yield from _sentences(one)


def _named(part: ast.AST, number: int) -> str:
    texts = [one.value for one in ast.walk(part) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    says = SAYS.search(ast.unparse(part)) or any(re.search("[a-z] [a-z]", text) for text in texts)
    return "(s)" if "s" in texts else f"{{why{number}}}" if says else f"{{{number}}}"


def of_papers() -> dict[str, list[str]]:
    """What `ui.claim.in_words` is given, by where it is shown: the claims, the titles of their experiments, and
    the lessons' tables of papers."""
    found: dict[str, list[str]] = defaultdict(list)
    for table in claims.tables().values():
        if not {"column", "direction"} & set(table):
            continue  # floors and ceilings
        found["ui/claim.py"] += [table[field] for field in ("source", "title", "axis") if field in table]
        found["ui/claim.py"] += [*table.get("arms", {}).values(), *table.get("measures", {}).values()]
        found["ui/claim.py"] += [column["name"] for column in table.get("column", ())]
        found["ui/claim.py"] += [one[field] for one in table.get("direction", ()) for field in ("what", "source")]
    found["ui/claim.py"] += [experiment.title for experiment in RELATIVE_EXPERIMENTS.values()]
    for table in _table("experiments", "paper").values():
        found["sections/experiments/one_scale.py"] += [table["source"], *table["columns"], *_names(table)]
    for row in _table("experiments", "results")["row"]:
        found["sections/experiments/reached.py"] += [row[field] for field in ("name", "measure", "split", "where")]
    for table in _table("what_to_hide", "paper")["nsp"]:
        found["sections/what_to_hide/nsp.py"] += [table["title"], table["source"], *_names(table)]
    table = _table("xlnet", "paper")["table"]
    found["sections/xlnet/claim.py"] += [table["source"], *_names(table)]
    return found


def _table(lesson: str, name: str) -> dict:
    return tomllib.loads((LESSONS / lesson / f"{name}.toml").read_text(encoding="utf-8"))


def _names(table: dict) -> list[str]:
    return [row["name"] for row in table["rows"]]


def has_words(text: str) -> bool:
    """Whether there is anything to translate: names of models, numbers and "Devlin et al. 2019" are the same in every
    language."""
    return bool(re.search(r"(?<![\w-])[a-z]{2,}", text.replace("et al.", "")))


def lesson_of(message: Message) -> str:
    """The lesson where a string stands; `shared` if it stands in several, or in none."""
    homes = [Path(place).parts for place, _line in message.locations]
    lessons = {Path(one[1]).stem if one[0] in ("pages", "sections") else one[0] for one in homes}
    return lessons.pop() if len(lessons) == 1 and lessons <= LESSON_NAMES else SHARED


def catalogue(lang: str) -> Catalog:
    path = translations.LOCALE / lang / "LC_MESSAGES" / "minibert.po"
    with path.open("rb") as file:
        found = read_po(file, lang)
    for message in found:  # lines are not kept, and None cannot be sorted beside others
        message.locations = [(place, 0) for place, _line in message.locations]
    return found


def _bring(known: Catalog, wanted: Catalog) -> None:
    """What the code no longer says becomes the fuzzy translation of the string most like it that is new."""
    known.update(wanted, no_fuzzy_matching=True)
    for gone in known.obsolete.values():
        new = {str(one.id): one for one in known if one.pluralizable == gone.pluralizable and not _forms(one)}
        for like in get_close_matches(str(gone.id), new, 1):
            new[like].string = gone.string
            new[like].flags.add("fuzzy")


def _forms(message: Message) -> tuple[str, ...]:
    """The translation, in all its forms; () if one is missing."""
    forms = message.string if message.pluralizable else (message.string,)
    return tuple(forms) if all(forms) else ()


def update(lang: str, lessons: list[str]) -> None:
    """Bring the catalogue to what the code of these lessons says; the strings of others stay as they are."""
    known = catalogue(lang)
    wanted = Catalog(creation_date=known.creation_date, fuzzy=False)
    here = [message for message in template() if lesson_of(message) in lessons]
    for message in [*here, *(message for message in known if message.id and lesson_of(message) not in lessons)]:
        wanted.add(message.id, locations=message.locations, flags=message.flags, context=message.context)
    _bring(known, wanted)
    path = translations.LOCALE / lang / "LC_MESSAGES" / "minibert.po"
    written = BytesIO()  # whole, before the file is touched
    write_po(written, known, width=WIDTH, include_lineno=False, ignore_obsolete=True, sort_by_file=True)
    path.write_bytes(written.getvalue())


def strings(lang: str) -> Iterator[Twin]:
    known = catalogue(lang)
    _bring(known, template())
    for message in known:
        if message.id:
            english = message.id[1] if message.pluralizable else message.id
            yield Twin(
                lesson_of(message), "string", shorten(english), english, "\n".join(_forms(message)), not message.fuzzy
            )


# --- files beside the English ones ------------------------------------------------------------------------------------


def prose(lang: str) -> Iterator[Twin]:
    for path in sorted(LESSONS.glob("*/en.md")):
        there = path.with_name(f"{lang}.md")
        twins = read_prose(there) if there.exists() else {}
        for name, section in read_prose(path).items():
            twin = twins.get(name)
            other = f"{twin.heading}\n{twin.prose}" if twin else ""
            yield Twin(
                path.parent.name,
                "section",
                section.heading,
                f"{section.heading}\n{section.prose}",
                other,
                twin is None or twin.made_from == section.mark,
            )


def quizzes(lang: str) -> Iterator[Twin]:
    for path in sorted(LESSONS.glob("*/quiz.toml")):
        there = path.with_name(f"quiz.{lang}.toml")
        twins = quiz_entries(there) if there.exists() else []
        yield from _questions(path.parent.name, quiz_entries(path), twins)


def examination(lang: str) -> Iterator[Twin]:
    for path in sorted(LESSONS.glob("examination/*.toml")):
        if path.name.count(".") == 1:
            there = path.with_suffix(f".{lang}.toml")
            twins = {one["id"]: one for one in _tables(there)} if there.exists() else {}
            entries = _tables(path)
            yield from _questions("examination", entries, [twins.get(one["id"], {}) for one in entries])


def _tables(path: Path) -> list[dict]:
    return tomllib.loads(path.read_text(encoding="utf-8"))["question"]


def _questions(lesson: str, entries: list[dict], twins: list[dict]) -> Iterator[Twin]:
    """A twin is known by its mark; one that has none, or an old one, by its place."""
    marked = {one.get("made_from"): one for one in twins}
    for entry, there in zip_longest(entries, twins[: len(entries)], fillvalue={}):
        mark = mark_of(entry)
        twin = marked.get(mark, there)
        name = entry.get("id", shorten(entry["text"]))
        yield Twin(lesson, "question", name, _texts(entry), _texts(twin), twin.get("made_from") == mark)


def _texts(value: Any) -> str:
    """The texts of a table, line by line, without what names things."""
    if isinstance(value, dict):
        value = [one for name, one in value.items() if name not in NAMES]
    if isinstance(value, list):
        return "\n".join(filter(None, map(_texts, value)))
    return value if isinstance(value, str) else ""


def notebooks(lang: str) -> Iterator[Twin]:
    for path in sorted(LESSONS.glob("*/exercise.ipynb")):
        there = path.with_name(f"exercise.{lang}.ipynb")
        twin = json.loads(there.read_text(encoding="utf-8")) if there.exists() else {"cells": [], "metadata": {}}
        english = _said(json.loads(path.read_text(encoding="utf-8")))
        yield Twin(
            path.parent.name,
            "notebook",
            path.name,
            english,
            _said(twin),
            twin["metadata"].get("made_from") == mark_of(english),
        )


def _said(notebook: dict) -> str:
    return "\n\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")


def twins(lang: str) -> list[Twin]:
    return [*strings(lang), *prose(lang), *quizzes(lang), *examination(lang), *notebooks(lang)]


# --- marks ------------------------------------------------------------------------------------------------------------


def done(lang: str, lesson: str) -> None:
    """Write the marks of today's English into the lesson's twins; a section without one is the English one at its
    place."""
    folder = LESSONS / lesson
    if (there := folder / f"{lang}.md").exists():
        english, own = read_prose(folder / "en.md"), read_prose(there)
        headings = []
        for at, section in enumerate(own.values()):
            name = "" if not at else section.of or list(english)[at]
            if name not in english:
                raise SystemExit(f"{there}: the English text has no section {name!r}")
            of = english[name]
            headings.append(f"{'##' if at else '#'} {section.heading} <!-- {of.heading} · {of.mark} -->")
        _rewrite(there, r"(?m)\A# .+$|^## .+$", headings)
    for there in sorted(folder.glob(f"*.{lang}.toml")):
        entries, own = _tables(folder / there.name.replace(f".{lang}.", ".")), _tables(there)
        named = {entry.get("id", at): mark_of(entry) for at, entry in enumerate(entries)}
        marks = [named.get(entry.get("id", at)) for at, entry in enumerate(own)]
        if None in marks:
            raise SystemExit(f"{there}: question {marks.index(None) + 1} has no English one")
        lines = [f'[[question]]\nmade_from = "{mark}"\n' for mark in marks]
        _rewrite(there, r"(?m)^\[\[question\]\]\n(?:made_from = .*\n)?", lines)
    if (there := folder / f"exercise.{lang}.ipynb").exists():
        notebook = json.loads(there.read_text(encoding="utf-8"))
        english = json.loads((folder / "exercise.ipynb").read_text(encoding="utf-8"))
        notebook["metadata"]["made_from"] = mark_of(_said(english))
        there.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _rewrite(path: Path, pattern: str, replacements: list[str]) -> None:
    left = iter(replacements)
    path.write_text(re.sub(pattern, lambda _found: next(left), path.read_text(encoding="utf-8")), encoding="utf-8")


# --- what is said -----------------------------------------------------------------------------------------------------


def shorten(text: str, width: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def report(lang: str, lessons: list[str]) -> None:
    found = twins(lang)
    words: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        words[one.lesson][one.state] += one.words
    print(f"{lang}, words of English\n{'lesson':20} {'done':>8} {'changed':>8} {'missing':>8}")
    for lesson, counts in [*sorted(words.items()), ("all", sum(words.values(), Counter()))]:
        print(f"{lesson:20} {counts['done']:8,} {counts['changed']:8,} {counts['missing']:8,}")
    for one in found:
        if one.state == "changed" or (one.state == "missing" and one.lesson in lessons):
            print(f"{one.state}: {one.lesson}, {one.kind} {one.name!r}")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD", help="update, done, and names of lessons")
    words = parser.parse_args(arguments).words
    what, lessons = (words[0], words[1:]) if words[:1] in (["update"], ["done"]) else ("report", words)
    if unknown := [one for one in lessons if one not in LESSON_NAMES | {SHARED}]:
        parser.error(f"no lesson {', '.join(unknown)}")
    for lang in translations.languages()[1:]:
        if what == "update":
            update(lang, lessons or [*LESSON_NAMES, SHARED])
        elif what == "done":
            for lesson in lessons:
                done(lang, lesson)
        else:
            report(lang, lessons)


if __name__ == "__main__":
    main(sys.argv[1:])
