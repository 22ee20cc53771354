"""Files read line by line: tab- or comma-separated tables, with a header or without; every bad line is reported."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from minibert.tasks.data import Problem, TaskDataError
from minibert.tasks.json_lines import is_json_lines, object_rows
from minibert.text.shortened import shortened

LARGEST_FILE = 100 * 2**20  # bytes
LONGEST_TEXT = 2**20  # characters of a line, or of a text in JSON; a model reads its first hundreds or thousands

SEPARATORS = "\t,;|"
EXCEL_SEPARATOR = re.compile(r'"?sep=(\\t|[^\w\s"]|\t)\1*"?', re.IGNORECASE)
QUOTED_CELL = re.compile(r'(?:\A|(?<=[\t\r\n]))"([^"]*(?:""[^"]*)*)"(?=[\t\r\n]|\Z)')
QUOTES_NEEDED = re.compile(r'[\t\r\n]|""')
ENCLOSED = re.compile(r'"[^"]*"|[-+]?[\d.]*')  # a quoted cell, a number or nothing
NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?")
ANSWERS = ("label", "labels")  # fields
MISSING = ("nan", "<na>")  # an answer, in lower case
WHOLE = re.compile(r"^(-?\d+)\.0+$")  # what pandas makes of whole numbers beside missing ones
LOOKED_AT = 200  # lines, for the separator
csv.field_size_limit(LARGEST_FILE)  # 131,072 characters otherwise; `table` has its own limit

COLUMN_NAME = re.compile(r"(?=.{1,30}$)[^\W\d][\w#()/.-]*( [\w#()/.-]+){0,2}")  # at most three words
FEWEST_BELOW = 3  # lines needed below a supposed header to tell it from data

TEXT_COLUMNS = ("sentence", "text", "review", "text_a")
LABEL_COLUMNS = ("label", "labels", "class", "sentiment", "gold_label", "quality")


@dataclass
class Source:
    """A file being read: its text, the files beside it, the declared labels, the columns that the user chose
    (`Task.parse`), and the problems found so far."""

    text: str
    name: str
    strict: bool = False
    declared: tuple[str, ...] | None = None
    beside: Mapping[str, bytes] = field(default_factory=dict)
    columns: Mapping[str, str | int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def problem(self, line: int | None, column: int | str | None, why: str) -> None:
        """Record a problem and go on; raise it when strict."""
        found = Problem(line, column, shortened(why))
        if self.strict:
            raise TaskDataError(f"{self.name}, {found}")
        self.problems.append(found)

    def pass_over(self, line: int | None, column: int | str | None, why: str) -> None:
        """Record an example that is rightly left out, which is no error even when strict."""
        self.problems.append(Problem(line, column, shortened(why)))

    def known(self, label: str, line: int | None, column: int | str | None) -> bool:
        """Whether the label is allowed; if labels were declared and this is none of them, record a problem."""
        if self.declared is None or label in self.declared:
            return True
        self.problem(line, column, f"{label!r} is none of the labels {', '.join(self.declared)}")
        return False

    def fail(self, why: str, line: int | None = None) -> TaskDataError:
        return TaskDataError(f"{self.name}{'' if line is None else f', line {line}'}: {why}")


Reader = Callable[[Source], list]


def decoded(content: bytes, name: str) -> str:
    """The content as text. TaskDataError if not UTF-8, blank, with a NUL or (unless JSON) too long a line."""
    check_size(name, len(content))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise TaskDataError(f"{name}, line {line}: not UTF-8 ({error.reason}). Save the file as UTF-8.") from error
    if "\n" not in text:
        text = text.replace("\r", "\n")  # line ends of old Macintoshes
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise TaskDataError(f"{name}, line {line}: a NUL byte; this is not a text file")
    if not text.strip():
        raise TaskDataError(f"{name} is empty")
    if not text.lstrip().startswith("{"):
        check_lines(text, name)
    return text


def check_lines(text: str, name: str) -> None:
    """Raise TaskDataError for a line above LONGEST_TEXT: the file is not text or has lost its line breaks."""
    start, number = 0, 1
    while (end := text.find("\n", start)) >= 0 or start < len(text):
        end = len(text) if end < 0 else end
        if end - start > LONGEST_TEXT:
            raise TaskDataError(
                f"{name}, line {number}: {end - start:,} characters; at most {LONGEST_TEXT:,} are read. Has the file "
                "lost its line breaks?"
            )
        start, number = end + 1, number + 1


def check_size(name: str, size: int) -> None:
    """Raise TaskDataError for more than LARGEST_FILE bytes."""
    if size > LARGEST_FILE:
        raise TaskDataError(f"{name} has {size / 2**20:.0f} MB; at most {LARGEST_FILE / 2**20:.0f} MB can be read")


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """(line number, line) of every line; only \n and \r\n end one."""
    for number, line in enumerate(text.split("\n"), 1):
        yield number, line.removesuffix("\r")


def any_lines(text: str) -> Iterator[str]:
    """Every line without its end, \\n, \\r\\n or \\r."""
    return (line.rstrip("\r\n") for line in io.StringIO(text, newline=""))


# --- tables: which separator, quoted or not ---------------------------------------------------------------------------


def table(text: str, name: str, source: Source | None = None) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of every non-blank line; TaskDataError if there is none. JSON lines: see `object_rows`.

    The separator is the one that Excel's first line `sep=;` names, else see `separator_of`. Cells may be quoted as the
    csv module quotes; in tab-separated files only where `tabs_are_quoted`. A line with wrong quotes or too long a cell
    is a problem and skipped; if it is the first, or a quote is never closed, the file is unusable (TaskDataError).
    """
    empty = True
    for number, cells in _rows(text, name, source):
        if (longest := max(map(len, cells))) > LONGEST_TEXT:
            why = f"a cell has {longest:,} characters; at most {LONGEST_TEXT:,} are read"
            if source is None:
                continue
            source.problem(number, None, why)
        elif any(cell.strip() for cell in cells):
            empty = False
            yield number, cells
    if empty:
        why = f"; {source.problems[0]}" if source is not None and source.problems else ""
        raise TaskDataError(f"{name} is empty: it has separators, but nothing between them{why}")


def _rows(text: str, name: str, source: Source | None) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells), the cells of any length."""
    if is_json_lines(text):
        return object_rows(text, lambda line, why: source.problem(line, None, why) if source else None)
    blank = len(text) - len(text.lstrip("\r\n"))
    first, _, rest = text[blank:].partition("\n")
    if declared := EXCEL_SEPARATOR.fullmatch(first.strip(" \r")):
        text = f"{text[:blank]}\n{rest}"  # a blank line in its place keeps the line numbers
        separator = "\t" if declared[1] == r"\t" else declared[1]
    else:
        separator = separator_of(text, name)
    quoted = separator != "\t" or tabs_are_quoted(text)
    return _quoted(text, separator, name, source) if quoted else _unquoted(text)


def _unquoted(text: str) -> Iterator[tuple[int, list[str]]]:
    """Tab-separated lines as GLUE has them, without quoting: a lone " is a character like any other."""
    return ((number, line.split("\t")) for number, line in lines_of(text) if line.strip())


def _quoted(text: str, separator: str, name: str, source: Source | None) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=separator)
    before, begun = 0, False
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            if "unexpected end" in str(error):
                why = f"{error}: a quote that opens here is never closed"
                raise TaskDataError(f"{name}, line {before + 1}: {why}") from error
            if not begun:
                raise TaskDataError(f"{name}, line {before + 1}: {error}") from error
            if source is not None:
                source.problem(before + 1, None, f"{error}; a quote inside quotes is written twice")
        else:
            if row is None:
                return
            if row:
                begun = True
                yield before + 1, row
        before = reader.line_num


def separator_of(text: str, name: str) -> str:
    """Tab, comma, semicolon or bar: of those in the first line the one that splits most lines into equally many cells.

    If several do: the one that leaves fewest distinct values in a column (labels recur), else the one that no space
    follows. In a .tsv or .txt a tab comes first, if half of the lines have one. TaskDataError if nothing decides.
    """
    lines = [line for line in islice(any_lines(text), 10 * LOOKED_AT) if line.strip()][:LOOKED_AT] or [""]
    candidates = [separator for separator in SEPARATORS if separator in lines[0] or '"' in lines[0]]
    tabs = sum("\t" in line for line in lines)
    if "\t" in candidates and not name.lower().endswith(".csv") and 2 * tabs >= len(lines):
        return "\t"
    fits = {separator: _fit(text, separator) for separator in candidates}
    best = max(fits.values(), default=(0.0, 0, 0))
    if best[0] == 0:
        return ","
    first, *others = [separator for separator in candidates if fits[separator] == best]
    if others:
        names = ", ".join(repr(separator) for separator in (first, *others))
        raise TaskDataError(
            f"{name}: its lines can be split at {names} alike: say which in a first line such as sep={others[0]}"
        )
    return first


def _fit(text: str, separator: str) -> tuple[float, int, int]:
    """How well a separator fits: the share of lines with the commonest number of cells above one; minus the fewest
    distinct values in a column of these; minus the number of separators before a space."""
    quoted = separator != "\t" or tabs_are_quoted(text)
    rows: list[list[str]] = []
    reader: Iterator[list[str]] = (line.split(separator) for line in any_lines(text))
    if quoted:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=separator)
    while len(rows) < LOOKED_AT:
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error:
            rows.append([""])
            continue
        if any(cell.strip() for cell in row):
            rows.append(row)
    widths = Counter(len(row) for row in rows if len(row) > 1)
    if not widths or len(rows[0]) < 2:
        return 0.0, 0, 0
    width, count = widths.most_common(1)[0]
    columns = list(zip(*(row for row in rows if len(row) == width), strict=True))
    spaces = sum(cell.startswith(" ") for column in columns[1:] for cell in column)
    return count / len(rows), -min(len(set(column)) for column in columns), -spaces


def tabs_are_quoted(text: str) -> bool:
    """Whether a tab-separated file is quoted as pandas and the csv module quote, which GLUE's files are not.

    It is if every quote that opens a cell closes one, and some cell needs its quotes (for a tab, a line break, a quote)
    or all have them, unless without quotes more lines would have the same number of cells.
    """
    if '"' not in text:
        return False
    quoted: Counter[int] = Counter()
    try:
        for row in csv.reader(io.StringIO(text, newline=""), strict=True, delimiter="\t"):
            if row:
                quoted[len(row)] += 1
    except csv.Error:
        return False
    rows = [line.split("\t") for line in any_lines(text) if line.strip()]
    raw = Counter(map(len, rows))
    insides = [match[1] for match in QUOTED_CELL.finditer(text)]
    if not any(QUOTES_NEEDED.search(inside) for inside in insides):
        return len(rows) > 1 and all(ENCLOSED.fullmatch(cell.strip()) for cells in rows for cell in cells)
    shares = [max(widths.values()) / widths.total() for widths in (quoted, raw)]
    several_lines = any("\n" in inside or "\r" in inside for inside in insides)
    return shares[0] > shares[1] or (shares[0] == shares[1] and not several_lines)


# --- tables: header and columns ---------------------------------------------------------------------------------------


def columns_found(cells: Sequence[str], needed: int) -> str:
    """For error messages: what a first line has instead of a known header, and how to go on."""
    if len(cells) < needed:
        return f"found {len(cells)} column{'s' if len(cells) != 1 else ''}"
    return f"found {len(cells)} columns: say which is which (--columns)"


def header_of(cells: Sequence[str]) -> list[str]:
    return [cell.strip().lower() for cell in cells]


def without_header(rows: list[tuple[int, list[str]]], label: int, source: Source) -> list[tuple[int, list[str]]]:
    """The lines without a header of unknown names; leaving one out is a problem. label: index of the label column.

    The first line is taken for a header if no other line has its label, although the other labels recur, and either all
    its cells could be names or its label is visibly none (`differs`).
    """
    (line, first), *rest = rows
    if source.declared is not None or len(first) <= label:
        return rows
    name = first[label].strip()
    labels = [cells[label].strip() for _, cells in rest if len(cells) > label]
    if name in labels or len(set(labels)) < 2 or len(labels) < 2 * len(set(labels)):
        return rows
    if not all(map(COLUMN_NAME.fullmatch, header_of(first))) and not differs(name, labels):
        return rows
    source.problem(line, label + 1, f"no other line has {name!r} as its label: taken for a header and passed over")
    return rows[1:]


def differs(name: str, below: Sequence[str]) -> bool:
    """Whether the first cell of a column is visibly of another kind than all below it: no number above numbers, of more
    words, or with other capitals."""
    if NUMBER.fullmatch(name) or name.endswith((".", "!", "?")):
        return False
    texts = [cell for cell in below if not NUMBER.fullmatch(cell)]
    capitals = {(cell.istitle(), cell.isupper()) for cell in texts}
    longest = max((len(cell.split()) for cell in texts), default=0)
    return len(name.split()) > longest or (name.istitle(), name.isupper()) not in capitals


def column(header: Sequence[str], names: Sequence[str]) -> int | None:
    """Index of the first of `names` that the header has; None if it has none of them."""
    return next((header.index(name) for name in names if name in header), None)


def unnamed(header: Sequence[str], width: int) -> bool:
    """Whether a first line has `width` cells and names no label column: the table has no header."""
    named = column(header, TEXT_COLUMNS) is not None and column(header, LABEL_COLUMNS) is not None
    return len(header) == width and not named and "label" not in header


def names_its_columns(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line seems to be a header with unknown names: none of its cells recurs in its column, and all
    could be names, or one stands above a column of numbers. In a table without a header, the label would recur."""
    first, *rest = rows
    cells = header_of(first)
    if len(rest) < FEWEST_BELOW or len(set(cells)) < len(cells):
        return False
    columns = list(zip(*(header_of(row) for row in rest if len(row) == len(cells)), strict=True))
    if any(cell in below for cell, below in zip(cells, columns, strict=False)):
        return False
    return all(map(COLUMN_NAME.fullmatch, cells)) or any(
        not NUMBER.fullmatch(cell) and all(map(NUMBER.fullmatch, below))
        for cell, below in zip(cells, columns, strict=False)
    )


def columns(header: Sequence[str], wanted: Mapping[str, Sequence[str]], source: Source) -> dict[str, int]:
    """Index of each wanted field's column: as `source.columns` says, else by its names in the header. TaskDataError
    if one is missing or two fields have the same column."""
    at = {}
    for what, names in wanted.items():
        said = source.columns.get(what)
        if isinstance(said, int):
            if not 1 <= said <= len(header):
                raise source.fail(f"there is no column {said} for the {what}: this line has {len(header)}", 1)
            at[what] = said - 1
            continue
        names = names if said is None else header_of([said])
        if (place := column(header_of(header), names)) is None:
            raise TaskDataError(
                f"{source.name}, line 1: the header has no {what} column ({', '.join(names)}); "
                f"it has {', '.join(repr(cell) for cell in header)}"
            )
        at[what] = place
    for place in set(at.values()):
        if len(both := [what for what in at if at[what] == place]) > 1:
            raise source.fail(f"column {place + 1} cannot be several at once: {', '.join(both)}", 1)
    return at


def named_columns(
    source: Source, wanted: Mapping[str, Sequence[str]], label: str
) -> tuple[list[tuple[int, list[str]]], dict[str, int], list[str]]:
    """(lines, index of each wanted field's column, header) of a table whose header names its columns. Without a header
    ([] is returned) if `source.columns` numbers every field. label: the field with few distinct values."""
    rows = list(table(source.text, source.name, source))
    first = rows[0][1]
    at = columns(first, wanted, source)
    if all(isinstance(source.columns.get(what), int) for what in wanted):
        return without_header(rows, at[label], source), at, []
    return rows[1:], at, first


def with_header(columns: Mapping[str, Sequence[str]], label: str, examples_of: Callable[..., list]) -> Reader:
    """The reader of tables whose header names their columns. examples_of: (lines, index of each field's column, source,
    header, columns a line has) → examples; label: the field with few distinct values."""

    def read(source: Source) -> list:
        rows, at, header = named_columns(source, columns, label)
        return examples_of(rows, at, source, header, len(header) or len(rows[0][1]))

    return read


def without_names(*fields: str, examples_of: Callable[..., list]) -> Reader:
    """The reader of tables without a header. fields: of the columns, in order, one of them "label"."""
    at = {name: place for place, name in enumerate(fields)}

    def read(source: Source) -> list:
        rows = list(table(source.text, source.name, source))
        return examples_of(without_header(rows, at["label"], source), at, source, (), len(fields))

    return read


def answer_in(cell: str, field: str, source: Source) -> str:
    """A cell, stripped. Of a column of answers also as pandas reads it: NaN is empty, 1.0 is 1."""
    cell = cell.strip()
    if field not in ANSWERS or (source.declared is not None and cell in source.declared):
        return cell
    if cell.lower() in MISSING:
        return ""
    return WHOLE.sub(r"\1", cell) if field == "label" else cell


@dataclass(frozen=True)
class Row:
    """A line of a table: the wanted cells, stripped, and the others by their column's name."""

    line: int
    cells: dict[str, str]
    extra: dict[str, str]


def rows_of(
    rows: Iterator[tuple[int, list[str]]] | Sequence[tuple[int, list[str]]],
    at: Mapping[str, int],
    source: Source,
    header: Sequence[str] = (),
    width: int | None = None,
    may_be_empty: Sequence[str] = (),
) -> Iterator[Row]:
    """The wanted cells of each line; a line with a wrong number of columns or an empty cell is a problem and skipped.

    width: columns a line must have exactly; None: at least as many as `at` needs.
    """
    needed = max(at.values()) + 1
    names = header_of(header)
    for line, cells in rows:
        if len(cells) < needed or (width is not None and len(cells) != width):
            expected = needed if width is None else width
            at_fault = min(len(cells), expected) + 1
            source.problem(line, at_fault, f"{len(cells)} column{'s' * (len(cells) > 1)} where {expected} are expected")
            continue
        wanted = {what: answer_in(cells[place], what, source) for what, place in at.items()}
        empty = next((what for what, cell in wanted.items() if not cell and what not in may_be_empty), None)
        if empty is not None:
            missing = cells[at[empty]].strip()
            source.problem(
                line, at[empty] + 1, f"the {empty} is missing: {missing}" if missing else f"the {empty} is empty"
            )
            continue
        used = set(at.values())
        extra = {name: cells[i] for i, name in enumerate(names) if i < len(cells) and i not in used and name}
        yield Row(line, wanted, extra)
