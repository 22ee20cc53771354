"""The score sheet: one self-contained HTML file. Everything a student typed is escaped."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import mistune
from latex2mathml.converter import convert

from examination.kinds import as_text, titles
from examination.sheet import SheetSection, SheetSettings, totals
from examination.task import Mark, points_text
from ui.text import visible
from ui.translations import _, language, pgettext

_STYLE = """body { font: 16px/1.5 system-ui, "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif;
max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { border: 1px solid #999; padding: 0.3rem 0.7rem; text-align: start; }
td.points { text-align: end; } article { border-top: 1px solid #999; margin-top: 1.2rem; padding-top: 0.4rem;
break-inside: avoid; } pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f2f0eb; padding: 0.5rem; }
h1, h2, h3 { line-height: 1.25; } @media (prefers-color-scheme: dark) { body { background: #14171c; color: #e9e7e2; }
pre { background: #1f242c; } }"""


@dataclass(frozen=True)
class SubmittedSheet:
    """A handed-in sheet. marks: task id → mark · answers: task id → answer."""

    settings: SheetSettings
    sections: tuple[SheetSection, ...]
    answers: Mapping[str, object]
    marks: Mapping[str, Mark]
    when: datetime
    name: str = ""

    def of(self, sections: Sequence[SheetSection]) -> list[Mark]:
        return [self.marks[task.id] for section in sections for task in section.tasks]


def score_rows(handed: SubmittedSheet) -> list[tuple[str, str, str]]:
    """Part, points by the program, points by the student: "3 of 6", "–" for none; the sum last."""
    rows = []
    groups = [(f"{one.number} {one.part.title}", [one]) for one in handed.sections]
    for title, sections in [*groups, (_("together"), list(handed.sections))]:
        cells = [totals(handed.of(sections), by_student=by_student) for by_student in (False, True)]
        rows.append((title, *(_of(points, of) if of else "–" for points, of in cells)))
    return rows


def _of(points: float, of: int) -> str:
    return _("{points} of {of}").format(points=points_text(points), of=of)


def score_html(handed: SubmittedSheet) -> str:
    """The score sheet as HTML."""
    title = _("Examination, sheet {n}").format(n=handed.settings.seed)
    about = [
        (_("Name"), handed.name or "–"),
        (_("Sheet"), str(handed.settings.seed)),
        (_("Questions a part"), str(handed.settings.count)),
        (_("Handed in"), handed.when.strftime("%Y-%m-%d %H:%M")),
    ]
    head = (_("Part"), pgettext("of an examination", "Points"), _("Self-marked points"))
    table = "".join(
        f'<tr><td>{_text(part)}</td><td class="points">{_text(points)}</td><td class="points">{_text(own)}</td></tr>'
        for part, points, own in score_rows(handed)
    )
    parts = [
        f"<h1>{_text(title)}</h1>",
        "<p>" + "<br>".join(f"{_text(name)}{_(': ')}{_text(value)}" for name, value in about) + "</p>",
        f"<table><thead><tr>{''.join(f'<th>{_text(name)}</th>' for name in head)}</tr></thead>",
        f"<tbody>{table}</tbody></table>",
    ]
    for section in handed.sections:
        parts.append(f"<h2>{section.number} {_text(section.part.title)}</h2>")
        parts += [_article(handed, section, number) for number in range(len(section.tasks))]
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="{language()}">\n<meta charset="utf-8">\n<title>{_text(title)}</title>\n'
        f"<style>{_STYLE}</style>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _article(handed: SubmittedSheet, section: SheetSection, number: int) -> str:
    task = section.tasks[number]
    mark = handed.marks[task.id]
    answer = as_text(task, handed.answers.get(task.id)) or _("no answer")
    points = _of(mark.points, mark.of) + (_(", ") + _("self-marked") if mark.by_student else "")
    feedback = "".join(map(_markdown, mark.comments))
    return (
        f"<article><h3>{section.number}.{number + 1} {_text(titles()[task.question.kind])}{_(': ')}{_text(points)}</h3>"
        f"{_markdown(task.text)}<pre>{_text(answer)}</pre>{feedback}</article>"
    )


class _Renderer(mistune.HTMLRenderer):
    """Renders formulas as MathML, which browsers draw themselves; HTML tags and links become plain text."""

    def __init__(self) -> None:
        super().__init__(escape=True)

    def text(self, text: str) -> str:
        return html.escape(html.unescape(text))  # student input arrives as numeric entities

    def inline_math(self, text: str) -> str:
        return convert(text)

    def block_math(self, text: str) -> str:
        return convert(text, display="block")

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return html.escape(text)

    def link(self, text: str, url: str, title: str | None = None) -> str:
        return text


_render = mistune.Markdown(_Renderer(), plugins=[mistune.plugins.import_plugin(name) for name in ("math", "table")])


def _markdown(text: str) -> str:
    """The bank's Markdown, or ours, with its formulas, as HTML."""
    return _render(text)


def _text(text: str) -> str:
    """Escape, and make invisible characters visible; line breaks stay."""
    return html.escape("\n".join(visible(line, spaces=False) for line in text.split("\n")))
