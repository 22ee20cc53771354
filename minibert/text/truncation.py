"""Which tokens stay when the input is longer than the model can read."""

from collections.abc import Sequence

TRUNCATIONS = ("longest_first", "head", "tail", "head_tail", "budget", "none")


def keep(
    lengths: Sequence[int], room: int | None, truncation: str = "longest_first", budgets: Sequence[int] | None = None
) -> list[Sequence[int]]:
    """For each of one or two texts the indices of its tokens that stay, when together they have `room` places.

    longest_first: the longer text loses its end, then both alike (an odd place goes to the longer one, or the second)
    head, tail: the first or the last `room` tokens of the texts in a row, so one text may lose everything
    head_tail: of the texts in a row a quarter from the start, the rest from the end (Sun et al. 2019: 128 + 382 of 510)
    budget: the first budgets[n] tokens of text n · none: everything, however long

    room None: no limit. Raises ValueError for an unknown name and for budgets that are missing or exceed the room.
    """
    if truncation not in TRUNCATIONS:
        raise ValueError(f"truncation is {truncation!r}; it can be {', '.join(TRUNCATIONS)}")
    if truncation == "budget":
        if budgets is None or len(budgets) < len(lengths) or min(budgets) < 0:
            raise ValueError(f"truncation by budget needs {len(lengths)} budgets of 0 or more tokens, not {budgets}")
        budgets = budgets[: len(lengths)]
        if room is not None and sum(budgets) > room:
            raise ValueError(f"budgets of {' + '.join(map(str, budgets))} tokens do not fit into {room} places")
        return [range(min(length, budget)) for length, budget in zip(lengths, budgets, strict=True)]
    total = sum(lengths)
    if truncation == "none" or room is None or total <= room:
        return [range(length) for length in lengths]
    if truncation == "longest_first":
        if len(lengths) == 1:
            return [range(room)]
        shorter = min(min(lengths), max(room // 2, room - max(lengths)))
        longer = room - shorter
        return [range(longer), range(shorter)] if lengths[0] > lengths[1] else [range(shorter), range(longer)]
    head = {"head": room, "tail": 0, "head_tail": room * 128 // 510}[truncation]
    stays = [*range(head), *range(total - room + head, total)]
    first = lengths[0]
    return [[i for i in stays if i < first], [i - first for i in stays if i >= first]][: len(lengths)]
