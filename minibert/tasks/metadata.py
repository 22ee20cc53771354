"""Metadata columns beside the text: each value becomes an index for an embedding, or a special token in front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from minibert.tasks.data import TaskData
from minibert.tasks.options import Options


def metadata_numbers(extra: Mapping[str, str], options: Options) -> tuple[int, ...]:
    """The index of the value in each metadata column, from 1; 0 if training did not contain it."""
    if options.metadata_as == "token":
        return ()
    return tuple(
        0 if value is None else options.metadata_values[name].index(value) + 1
        for name, value in metadata_read(extra, options).items()
    )


def metadata_read(extra: Mapping[str, str], options: Options) -> dict[str, str | None]:
    """The value of each metadata column; None if training did not contain it."""
    known = options.metadata_values
    return {name: extra[name] if extra.get(name) in known.get(name, ()) else None for name in options.metadata}


def metadata_token(column: str, value: str) -> str:
    """`[KIND=IRONY]`: one special token for a value of a column."""
    return f"[{column}={value}]".upper()


def metadata_prefix(extra: Mapping[str, str], options: Options) -> str:
    """The special tokens of the example's known values, to stand in front of its text."""
    if options.metadata_as != "token":
        return ""
    return "".join(
        metadata_token(name, value) + " " for name, value in metadata_read(extra, options).items() if value is not None
    )


def texts_read(extra: Mapping[str, str], options: Options) -> tuple[str, ...]:
    """The further texts of an example; one that is missing is empty."""
    return tuple(extra.get(name, "") for name in options.texts_beside)


def check_texts(data: TaskData, columns: Sequence[str]) -> None:
    """Raise ValueError for a column of texts the data does not have."""
    for column in columns:
        if not any(example.extra.get(column) for example in data.examples):
            raise ValueError(no_column(data, column, "to read as a text"))


def no_column(data: TaskData, column: str, use: str) -> str:
    has = sorted({name for example in data.examples for name in example.extra})
    return f"{data.name or 'the data'} has no column {column!r} {use}; it has {', '.join(has) or 'no further column'}"


def metadata_values(data: TaskData, columns: Sequence[str]) -> dict[str, list[str]]:
    """The values of each metadata column, sorted. Raises ValueError for a column the data does not have."""
    values = {}
    for column in columns:
        found = {example.extra[column] for example in data.examples if example.extra.get(column)}
        if not found:
            raise ValueError(no_column(data, column, "to use as metadata"))
        values[column] = sorted(found)
    return values
