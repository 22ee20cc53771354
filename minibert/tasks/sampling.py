"""An evenly spread sample of labelled data that keeps every label."""

from __future__ import annotations

from collections.abc import Sequence

from minibert.tasks.data import TaskData


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
    chosen = set(sorted(first.values())[:most])
    others = [i for i in indices if i not in chosen]
    return sorted(chosen | {others[j] for j in spread(len(others), most - len(chosen))})
