"""An evenly spread sample of labelled data that keeps every label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from minibert.tasks.data import Problem, TaskData

MOST_PROBLEMS = 1_000


def spread(count: int, most: int) -> list[int]:
    """At most `most` of `count` indices, evenly spread, in order."""
    return list(range(count)) if count <= most else [i * count // most for i in range(most)]


def even_sample(data: TaskData, indices: Sequence[int], most: int) -> list[int]:
    """At most `most` of the indices, evenly spread; every label keeps its first example, however rare it is."""
    if len(indices) <= most:
        return list(indices)
    first: dict[str, int] = {}
    for i in indices:
        for mark in data.examples[i].marks:
            first.setdefault(mark, i)
    kept = set(sorted(first.values())[:most])
    others = [i for i in indices if i not in kept]
    return sorted(kept | {others[j] for j in spread(len(others), most - len(kept))})


def read_sample(
    path: Path,
    name: str,
    task: str,
    format: str,
    *,
    most: int,
    columns: Mapping[str, str | int] | None = None,
    beside: Mapping[str, bytes] | None = None,
) -> tuple[TaskData, int]:
    """An even sample of the file's examples, with at most MOST_PROBLEMS problems, and the number of all examples.
    Raises like `Task.parse` and `Task.check`."""
    from minibert.tasks import task_named  # not at the top: minibert.tasks imports this file

    data = task_named(task).parse(Path(path).read_bytes(), name, format=format, beside=beside, columns=columns)
    task_named(task).check(data)
    sample = data.take(even_sample(data, range(len(data.examples)), most))
    if (more := len(data.problems) - MOST_PROBLEMS) > 0:
        others = Problem(None, None, f"{more:,} more places are not as they should be")
        sample = replace(sample, problems=[*data.problems[:MOST_PROBLEMS], others])
    return sample, len(data.examples)
