"""Views of tokenization: changes by each step, WordPiece's tries as a ladder, the origin of each token.

Views of text are HTML, so that text can be selected, searched and read aloud. All text is escaped. A page that shows
them includes `STYLE` once. Characters are passed as they should be displayed (by `ui.text.visible`), so that invisible
ones can be shown by name.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from minibert.tokenizer import Try
from plots.theme import BLUE, GREEN, GREY, ORANGE, SMALL, VERMILION

# Tints of the palette in plots/theme.py; kinds differ by border or line as well as by colour.
STYLE = """<style>
.tk { --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", "Noto Sans Mono CJK SC",
  monospace; font-size: 1.3rem; line-height: 1.9; margin: 0.15rem 0; }
.tk p { margin: 0; font-size: inherit; }
.tk-text { font-family: var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; }
.tk-flow { display: flex; flex-wrap: wrap; gap: 0.6rem 0.7rem; align-items: stretch; }
.tk-c { border-radius: 0.3rem; padding: 0.05em 0.15em; white-space: pre; }
.tk-out { background: rgba(213, 94, 0, 0.22); outline: 2px solid rgb(213, 94, 0); text-decoration: line-through;
  text-decoration-thickness: 2px; margin: 0 0.2em; }
.tk-new { background: rgba(0, 114, 178, 0.2); outline: 2px dashed rgb(0, 114, 178); margin: 0 0.2em; }
.tk-cut { color: rgb(0, 114, 178); font-weight: 700; opacity: 0.85; }
.tk-changed { background: rgba(0, 158, 115, 0.28); border-bottom: 3px solid rgb(0, 158, 115); border-radius: 0.2rem; }
.tk-box { font-family: var(--mono); border: 2px solid rgba(128, 134, 145, 0.6); background: rgba(128, 134, 145, 0.1);
  border-radius: 0.5rem; padding: 0.1rem 0.6rem; white-space: pre-wrap; overflow-wrap: anywhere; max-width: 100%;
  display: inline-flex; flex-direction: column; align-items: center; justify-content: center; }
.tk-box small, .tk-note { font-size: 1rem; line-height: 1.4; font-family: inherit; }
.tk-cjk { border-color: rgb(0, 114, 178); background: rgba(0, 114, 178, 0.14); }
.tk-punct { border: 3px double rgba(128, 134, 145, 0.9); background: rgba(128, 134, 145, 0.22); }
.tk-piece { border: 2px dashed rgb(0, 158, 115); background: rgba(0, 158, 115, 0.14); }
.tk-unk { border: 3px dotted rgb(213, 94, 0); background: rgba(213, 94, 0, 0.16); }
.tk-special { border: 4px double rgb(0, 114, 178); background: rgba(0, 114, 178, 0.1); }
.tk-group { display: inline-flex; flex-wrap: wrap; gap: 0.25rem; padding: 0.3rem; border-radius: 0.7rem;
  background: rgba(128, 134, 145, 0.14); max-width: 100%; align-items: center; }
.tk-card { border: 2px solid rgba(0, 158, 115, 0.75); border-radius: 0.6rem; padding: 0.2rem 0.8rem; max-width: 100%;
  font-family: var(--mono); overflow-wrap: anywhere; }
.tk-card div + div::before { content: "→ "; opacity: 0.7; font-size: 1.05rem; }
.tk-card small { font-size: 1rem; font-family: system-ui, sans-serif; opacity: 0.85; }
.tk .tk-mark { font-family: system-ui, "DejaVu Sans", sans-serif; }  /* many fixed-width fonts misplace lone marks */
.tk-card .tk-out { text-decoration: none; }
.tk-scroll { overflow: auto; max-height: 40rem; }
.tk-ladder { border-collapse: separate; border-spacing: 0 3px; font-size: 1.3rem; line-height: 1.5; width: auto; }
.tk-ladder td, .tk-ladder th { border: 0; padding: 0; font-weight: 400; }
.tk-ladder .tk-l { font-family: var(--mono, monospace); min-width: 1.75rem; text-align: center; white-space: pre;
  border-block: 2px solid transparent; }
.tk-ladder .tk-verdict { text-align: start; white-space: nowrap; padding-inline-end: 1.1rem; font-size: 1.1rem; }
.tk-ladder .tk-no .tk-in { background: rgba(128, 134, 145, 0.18); }
.tk-ladder .tk-no .tk-verdict b { color: rgb(213, 94, 0); }
.tk-ladder .tk-yes .tk-in { background: rgba(0, 158, 115, 0.3); border-color: rgb(0, 158, 115); font-weight: 700; }
.tk-ladder .tk-yes .tk-verdict { font-weight: 650; }
.tk-ladder .tk-yes .tk-verdict b { color: rgb(0, 158, 115); }
.tk-ladder .tk-fail .tk-in { background: rgba(213, 94, 0, 0.18); border-color: rgb(213, 94, 0); border-style: dotted; }
.tk-ladder .tk-done { opacity: 0.45; }
.tk-ladder .tk-skip td { font-size: 1.05rem; padding: 0.1rem 0; }
.tk-ladder .tk-first { border-inline-start: 2px solid transparent; border-start-start-radius: 0.4rem;
  border-end-start-radius: 0.4rem; }
.tk-ladder .tk-last { border-inline-end: 2px solid transparent; border-start-end-radius: 0.4rem;
  border-end-end-radius: 0.4rem; }
.tk-ladder .tk-yes .tk-first, .tk-ladder .tk-yes .tk-last { border-color: rgb(0, 158, 115); }
.tk-ladder .tk-fail .tk-first, .tk-ladder .tk-fail .tk-last { border-color: rgb(213, 94, 0); }
.tk-from { border-bottom: 3px solid rgba(128, 134, 145, 0.7); border-radius: 0.25rem 0.25rem 0 0; cursor: default;
  padding: 0.1em 0.05em; margin-inline-end: 2px; }
.tk-none { opacity: 0.7; }
.tk ol.tk-tokens { display: flex; flex-wrap: wrap; gap: 0.45rem; margin: 0.8rem 0 0 !important; padding: 0 !important;
  list-style: none; }
.tk-tokens li { margin: 0; cursor: default; }
.tk-here { background: rgba(128, 134, 145, 0.35) !important; outline: 3px solid currentColor; }
</style>"""

RUN = 6  # in a long ladder, longer sequences of failed tries are shortened
FULL = 36  # ladders of up to this many tries are drawn in full
MOST = 90  # rungs drawn at most


def glyph(shown: str) -> str:
    """A single character as HTML; a combining mark is placed on a space."""
    alone = len(shown) == 1 and unicodedata.category(shown).startswith("M")
    if alone:
        return f'<bdi class="tk-mark">&nbsp;{html.escape(shown)}&nbsp;</bdi>'
    return f"<bdi>{html.escape(shown)}</bdi>"


def direction(text: str) -> str:
    """ "rtl" if the first character with a strong direction is right-to-left, else "ltr"."""
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind in ("L", "R", "AL"):
            return "ltr" if kind == "L" else "rtl"
    return "ltr"


# ---- steps one to four ---------------------------------------------------------------------------------------------


def marked_text(runs: Sequence[tuple[str, str, str]]) -> str:
    """Text with marked spans. runs: (displayed text, "" or a kind: out, new, cut, changed; title)."""
    parts = []
    for shown, kind, title in runs:
        if not kind:
            parts.append(html.escape(shown))
            continue
        name = f' title="{html.escape(title)}"' if title else ""
        tag = {"out": "del", "new": "ins"}.get(kind, "span")
        parts.append(f'<{tag} class="tk-c tk-{kind}"{name}>{html.escape(shown)}</{tag}>')
    return f'<div class="tk tk-text" dir="auto">{"".join(parts)}</div>'


def boxes(groups: Sequence[Sequence[tuple[str, str]]], more: str = "") -> str:
    """Groups of boxes in reading order. groups: (displayed text, kind)s of each · more: note at the end.

    Kinds: "" (plain), cjk, punct, piece, unk, special.
    """
    rows = []
    for group in groups:
        inner = "".join(
            f'<span class="tk-box tk-{kind or "plain"}"><bdi>{html.escape(t)}</bdi></span>' for t, kind in group
        )
        rows.append(f'<span class="tk-group">{inner}</span>' if len(group) > 1 else inner)
    return _flow(rows, more)


@dataclass(frozen=True)
class ChangedWord:
    """A word after a change: its displayed characters, which of them changed or were lost, and a note on the change."""

    characters: Sequence[str]
    marks: Mapping[int, str]  # index → "changed" or "out"
    note: str = ""


def _marked(character: str, mark: str | None) -> str:
    if mark is None:
        return html.escape(character)
    tag = "del" if mark == "out" else "span"
    return f'<{tag} class="tk-c tk-{mark}">{glyph(character)}</{tag}>'


def cards(words: Sequence[Sequence[ChangedWord]], more: str = "") -> str:
    """Each word as a card with its stages below each other; a word with a single stage is unchanged and stays a box."""
    parts = []
    for lines in words:
        rows = []
        for line in lines:
            text = "".join(_marked(c, line.marks.get(n)) for n, c in enumerate(line.characters))
            note = f" <small>{html.escape(line.note)}</small>" if line.note else ""
            rows.append(f"<div><bdi>{text}</bdi>{note}</div>")
        kind = "tk-card" if len(lines) > 1 else "tk-box"
        parts.append(f'<div class="{kind}">{"".join(rows)}</div>')
    return _flow(parts, more)


def _flow(parts: Sequence[str], more: str) -> str:
    rest = f'<span class="tk-note">{html.escape(more)}</span>' if more else ""
    return f'<div class="tk tk-flow" dir="auto">{"".join(parts)}{rest}</div>'


# ---- WordPiece -----------------------------------------------------------------------------------------------------


def rungs(tries: Sequence[Try], full: int = FULL, run: int = RUN, most: int = MOST) -> list[Try | int]:
    """The tries that a ladder draws; an int stands for that many omitted ones.

    All of them up to `full`. Beyond that, of more than `run` successive failures from the same start only the first
    three and the last two; and at most `most` rungs, the last of which is the last try.
    """
    if len(tries) <= full:
        return list(tries)
    drawn: list[Try | int] = []
    failed: list[Try] = []

    def flush() -> None:
        if len(failed) > run:
            drawn.extend([*failed[:3], len(failed) - 5, *failed[-2:]])
        else:
            drawn.extend(failed)
        failed.clear()

    for one in tries:
        if failed and failed[-1].start != one.start:
            flush()
        if one.found:
            flush()
            drawn.append(one)
        else:
            failed.append(one)
    flush()
    if len(drawn) > most:
        left_out = sum(one if isinstance(one, int) else 1 for one in drawn[most - 1 : -1])
        drawn = [*drawn[: most - 1], left_out, drawn[-1]]
    return drawn


def ladder(
    characters: Sequence[str],
    tries: Sequence[Try],
    *,
    ids: Mapping[str, int],
    words: Mapping[str, str],
    unknown: str = "",
    label: str = "",
) -> str:
    """Longest match first, one row per try, aligned with the characters it covers; matches in green with their id.

    characters: of the word, as displayed · ids: piece → id, for found ones · words: labels of "yes" ("in the
    vocabulary: id {id}"), "no", "skipped" ("{n} more …"), "unk" · unknown: why the word became [UNK], if it did.
    """
    width = len(characters)
    rows = []

    def row(kind: str, verdict: str, start: int, end: int) -> str:
        cells = []
        for n in range(width):
            if n == start - 1:
                cells.append('<td class="tk-l tk-in tk-first">##</td>')
            elif not start <= n < end:
                cells.append('<td class="tk-l"></td>')
            else:
                edge = (" tk-first" if n == 0 else "") + (" tk-last" if n == end - 1 else "")
                cells.append(f'<td class="tk-l tk-in{edge}">{glyph(characters[n])}</td>')
        return f'<tr class="tk-{kind}"><th scope="row" class="tk-verdict">{verdict}</th>{"".join(cells)}</tr>'

    for one in rungs(tries):
        if isinstance(one, int):
            phrase = html.escape(words["skipped"].format(n=one))
            rows.append(f'<tr class="tk-skip"><td></td><td colspan="{max(width, 1)}">⋮ {phrase}</td></tr>')
        elif one.found:
            phrase = html.escape(words["yes"].format(id=ids[one.piece]))
            rows.append(row("yes", f"<b>✓</b> {phrase}", one.start, one.end))
        else:
            rows.append(row("no", f"<b>✗</b> {html.escape(words['no'])}", one.start, one.end))
    if unknown:
        rows.append(row("fail", f"<b>[UNK]</b> {html.escape(words['unk'])}", 0, width))
    name = f' aria-label="{html.escape(label)}"' if label else ""
    note = f'<p class="tk-note">{html.escape(unknown)}</p>' if unknown else ""
    way = direction("".join(characters))
    return (
        f'<div class="tk tk-scroll" dir="{way}" role="region" tabindex="0"{name}>'
        f'<table class="tk-ladder"><tbody>{"".join(rows)}</tbody></table>{note}</div>'
    )


# ---- where a token comes from --------------------------------------------------------------------------------------


def runs_of(length: int, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int, tuple[int, ...]]]:
    """Split a text of `length` characters into spans that belong to the same tokens: (start, end, token indices)."""
    owners: list[list[int]] = [[] for _ in range(length)]
    for token, (start, end) in enumerate(offsets):
        for position in range(start, min(end, length)):
            owners[position].append(token)
    runs: list[tuple[int, int, tuple[int, ...]]] = []
    for position, owner in enumerate(map(tuple, owners)):
        if runs and runs[-1][2] == owner:
            runs[-1] = (runs[-1][0], position + 1, owner)
        else:
            runs.append((position, position + 1, owner))
    return runs


def origins(
    characters: Sequence[str],
    tokens: Sequence[str],
    kinds: Sequence[str],
    offsets: Sequence[tuple[int, int]],
    under: Sequence[object],
    *,
    chosen: int | None = None,
    more: str = "",
    labels: tuple[str, str] = ("", ""),
) -> str:
    """The text above its tokens; hovering over one highlights the other; `chosen` is always highlighted.

    characters, tokens: as displayed · kinds: see `boxes` · under: printed below each token, such as its id · labels:
    names of the text and of the tokens for screen readers. Uses CSS only, so there is no round trip to the server.
    """
    spans = []
    for start, end, owner in runs_of(len(characters), offsets):
        shown = html.escape("".join(characters[start:end]))
        names = " ".join(f"tk-o{token}" for token in owner)
        here = " tk-here" if chosen in owner else ""
        spans.append(f'<span class="{"tk-from " + names if owner else "tk-none"}{here}">{shown}</span>')
    items = []
    for token, (text, kind) in enumerate(zip(tokens, kinds, strict=True)):
        current = ' aria-current="true"' if token == chosen else ""
        here = " tk-here" if token == chosen else ""
        items.append(
            f'<li class="tk-box tk-{kind or "plain"} tk-t{token}{here}"{current}>'
            f"<bdi>{html.escape(text) or '∅'}</bdi><small>{html.escape(str(under[token]))}</small></li>"
        )
    rest = f'<li class="tk-note">{html.escape(more)}</li>' if more else ""
    lit = "{background:rgba(128,134,145,.35);outline:3px solid currentColor}"
    rules = "".join(
        f".tk-origins:has(.tk-t{n}:hover) .tk-o{n},.tk-origins:has(.tk-o{n}:hover) .tk-t{n}{lit}"
        for n in range(len(tokens))
    )
    names = [f' aria-label="{html.escape(name)}"' if name else "" for name in labels]
    return (
        f'<style>{rules}</style><div class="tk tk-origins"><p class="tk-text" dir="auto"{names[0]}>{"".join(spans)}</p>'
        f'<ol class="tk-tokens" dir="auto"{names[1]}>{"".join(items)}{rest}</ol></div>'
    )


# ---- vocabulary size against sequence length -----------------------------------------------------------------------


def size_against_length(
    points: Mapping[str, tuple[int, int]],
    curve: Sequence[tuple[int, int]] = (),
    *,
    curve_name: str = "",
    here: tuple[int, int, str] | None = None,
    limit: tuple[int, str] | None = None,
    x_title: str = "",
    y_title: str = "",
    title: str = "",
) -> go.Figure:
    """Number of tokens of a text (y) over the size of the vocabulary (x, logarithmic).

    points: name → (entries, tokens), one mark each: characters, words, and optionally a third · curve: (entries,
    tokens)s of growing WordPiece vocabularies · here: (entries, tokens, label) · limit: (tokens, label) of a line.
    """
    fig = go.Figure()
    if curve:
        fig.add_scatter(
            x=[x for x, _y in curve],
            y=[y for _x, y in curve],
            mode="lines",
            line={"color": GREEN, "width": 4},
            name=curve_name,
            hovertemplate=f"{curve_name}: %{{x:,}} → %{{y:,}}<extra></extra>",
        )
    for (name, (x, y)), colour, symbol in zip(
        points.items(), (BLUE, VERMILION, ORANGE), ("square", "diamond", "circle"), strict=False
    ):
        fig.add_scatter(
            x=[x],
            y=[y],
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 18, "line": {"color": "white", "width": 2}},
            name=f"{name} · {x:,} → {y:,}",
            hovertemplate=f"{name}: %{{x:,}} → %{{y:,}}<extra></extra>",
        )
    if here:
        fig.add_scatter(
            x=[here[0]],
            y=[here[1]],
            mode="markers",
            marker={"color": GREEN, "size": 20, "symbol": "circle", "line": {"color": GREY, "width": 3}},
            name=f"{here[2]} · {here[0]:,} → {here[1]:,}",
            hovertemplate=f"{here[2]}: %{{x:,}} → %{{y:,}}<extra></extra>",
        )
    top = max([y for _x, y in [*points.values(), *curve]], default=1)
    if limit and limit[0] <= 1.5 * top:
        fig.add_hline(
            y=limit[0],
            line={"color": GREY, "dash": "dash", "width": 2},
            annotation={"text": limit[1], "font": {"size": SMALL}, "xanchor": "right"},
        )
    entries = [x for x, _y in [*points.values(), *curve]] or [1]
    digits = (1, 3) if max(entries) > 20 * min(entries) else (1, 2, 5)  # as many as a phone has room for
    ticks = [digit * 10**power for power in range(7) for digit in digits]
    fig.update_xaxes(type="log", title=x_title, tickvals=ticks, ticktext=[f"{tick:,}" for tick in ticks])
    fig.update_yaxes(title=y_title, rangemode="tozero", tickformat=",")
    fig.update_layout(title=title, height=440, legend={"orientation": "h", "y": -0.28, "x": 0, "yanchor": "top"})
    return fig


def growth_of_vocabulary(
    read: Sequence[int], kinds: Mapping[str, Sequence[int]], *, x_title: str = "", y_title: str = "", title: str = ""
) -> go.Figure:
    """Number of distinct units in the first n words of a text. read: values of n · kinds: name → one number per n."""
    fig = go.Figure()
    for (name, values), colour, dash in zip(
        kinds.items(), (VERMILION, GREEN, BLUE), ("solid", "dash", "dot"), strict=False
    ):
        fig.add_scatter(
            x=list(read),
            y=list(values),
            mode="lines",
            line={"color": colour, "dash": dash, "width": 4},
            name=name,
            hovertemplate=f"{name}: %{{y:,}}<extra></extra>",
        )
        note = {"text": f"{values[-1]:,}", "showarrow": False, "xanchor": "left", "xshift": 6, "font": {"size": SMALL}}
        fig.add_annotation(x=read[-1], y=values[-1], **note)
    fig.update_xaxes(title=x_title, tickformat=",")
    fig.update_yaxes(title=y_title, rangemode="tozero", tickformat=",")
    fig.update_layout(
        title=title,
        height=440,
        hovermode="x unified",
        legend={"orientation": "h", "y": -0.28, "x": 0, "yanchor": "top"},
        margin={"r": 70},
    )
    return fig
