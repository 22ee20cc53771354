"""Shows the source code of running functions on a page."""

import html
import inspect
import io
import keyword
import tokenize
from functools import lru_cache
from pathlib import Path

import streamlit as st

from minibert.folders import PACKAGE, ROOT
from minibert.text.parsing import undisturbed
from ui.projector import projecting
from ui.translations import _


def show_source(obj, find: str | None = None, *, label: str | None = None, expanded: bool = False) -> None:
    """An expander with the source of a function, method, class or module, with file name and line numbers.

    Lines that contain `find` are highlighted, and the view scrolls to the first. Left out in projector mode.
    """
    if projecting():
        return
    lines, start, path = source_of(obj)
    name = getattr(obj, "__qualname__", getattr(obj, "__name__", str(obj)))
    where = f"{path}:{start}"
    title = label or _("The code that computed this: `{name}` in `{where}`").format(name=name, where=where)
    with st.expander(title, expanded=expanded, icon=":material/code:"):
        st.html(_html(tuple(lines), start, find, f"{name}, {where}"))


@lru_cache(maxsize=512)
def _html(lines: tuple[str, ...], start: int, find: str | None, label: str) -> str:
    return source_html(list(lines), start, find, label=label)


@lru_cache(maxsize=512)
def source_of(obj) -> tuple[list[str], int, str]:
    """(lines, number of the first line, file relative to the repository) of the running code of `obj`."""
    obj = inspect.unwrap(obj)
    lines, start = undisturbed(inspect.getsourcelines, obj)  # which parses the file of a class
    path = Path(inspect.getsourcefile(obj)).resolve()
    above = next((folder for folder in (ROOT, PACKAGE.parent) if path.is_relative_to(folder)), path.parent)
    return [line.rstrip("\n") for line in lines], max(start, 1), str(path.relative_to(above))


def source_html(lines: list[str], start: int, find: str | None = None, *, label: str = "") -> str:
    """Numbered, coloured source as safe HTML; lines that contain `find` are highlighted."""
    codes = coloured(lines)
    rows = []
    for offset, (line, code) in enumerate(zip(lines, codes, strict=True)):
        marked = find is not None and find in line
        first = marked and not any("mb-first" in row for row in rows)
        css = f' class="mb-marked{" mb-first" if first else ""}"' if marked else ""
        text = f"<mark>{code or ' '}</mark>" if marked else code or " "
        rows.append(f'<tr{css}><td class="mb-line" aria-hidden="true">{start + offset}</td><td>{text}</td></tr>')
    return (
        f'<div class="mb-source" role="region" tabindex="0" aria-label="{html.escape(label)}">'
        f"<table><tbody>{''.join(rows)}</tbody></table></div>"
    )


def coloured(lines: list[str]) -> list[str]:
    """Each line as HTML, with keywords, strings, comments, numbers and definitions in spans."""
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    marks: list[list[tuple[int, int, str]]] = [[] for _line in lines]
    text = "\n".join(line[indent:] for line in lines) + "\n"
    after = ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = _kind(token, after)
            after = token.string
            if kind:
                for row in range(token.start[0], token.end[0] + 1):
                    first = token.start[1] if row == token.start[0] else 0
                    last = token.end[1] if row == token.end[0] else len(lines[row - 1]) - indent
                    if first < last:
                        marks[row - 1].append((first + indent, last + indent, kind))
    except (tokenize.TokenError, IndentationError):
        pass  # incomplete Python is left uncoloured from there on
    result = []
    for line, spans in zip(lines, marks, strict=True):
        parts, at = [], 0
        for first, last, kind in spans:
            parts += [html.escape(line[at:first]), f'<span class="mb-{kind}">{html.escape(line[first:last])}</span>']
            at = last
        result.append("".join(parts) + html.escape(line[at:]))
    return result


def _kind(token: tokenize.TokenInfo, after: str) -> str | None:
    if token.type == tokenize.NAME and keyword.iskeyword(token.string):
        return "keyword"
    if token.type == tokenize.NAME and after in ("def", "class"):
        return "name"
    strings = (tokenize.STRING, getattr(tokenize, "FSTRING_START", -1), getattr(tokenize, "FSTRING_MIDDLE", -1))
    if token.type in strings or token.type == getattr(tokenize, "FSTRING_END", -1):
        return "string"
    return {tokenize.COMMENT: "comment", tokenize.NUMBER: "number"}.get(token.type)
