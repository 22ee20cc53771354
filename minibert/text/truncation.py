"""Which tokens stay when the input is longer than the model can read."""

from collections.abc import Sequence

TRUNCATIONS = ("longest_first", "head", "tail", "head_tail", "budget", "none")


def keep(
    lengths: Sequence[int], room: int | None, truncation: str = "longest_first", budgets: Sequence[int] | None = None
) -> list[Sequence[int]]:
    """For each text the indices of its tokens that stay, at most `room` in all.

    longest_first: the longest text loses its end, once as long as the next both do (odd tokens go to the longest, then
    the last)
    head, tail: the first or the last `room` tokens of the concatenated texts, so one text may lose everything
    head_tail: of these a quarter from the start, the rest from the end (Sun et al. 2019: 128 + 382 of 510)
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
        return [range(share) for share in longest_first(lengths, room)]
    head = {"head": room, "tail": 0, "head_tail": room * 128 // 510}[truncation]
    stays = [*range(head), *range(total - room + head, total)]
    starts = [sum(lengths[:n]) for n in range(len(lengths))]
    return [
        [i - start for i in stays if start <= i < start + length] for start, length in zip(starts, lengths, strict=True)
    ]


def longest_first(lengths: Sequence[int], room: int) -> list[int]:
    """How many tokens of each text stay: all of the short texts, and about equally many of the others."""
    shares, left = [0] * len(lengths), room
    for place, n in enumerate(order := sorted(range(len(lengths)), key=lambda n: (lengths[n], n))):
        shares[n] = min(lengths[n], left // (len(order) - place))
        left -= shares[n]
    return shares
