"""How long the inputs of a data set are, and which length is enough for a share of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from minibert.tasks.base import Task
from minibert.tasks.options import Options
from minibert.tokenizer import Tokenizer

UNLIMITED = 10**6  # tokens, more than any text has


def row_lengths(task: Task, tokenizer: Tokenizer, examples: Sequence, labels: Any, options: Options) -> list[int]:
    """Tokens per example without truncation, special tokens included; the longest row if there are several."""
    whole = replace(options, max_length=UNLIMITED, doc_stride=UNLIMITED, max_question=UNLIMITED, truncation="none")
    longest = [0] * len(examples)
    for row in task.features(tokenizer, examples, labels, whole):
        longest[row.example] = max(longest[row.example], row.length)
    return longest


def share_that_fits(lengths: Sequence[int], limit: int) -> float:
    """The share of the rows that lose nothing when `limit` tokens are read."""
    return sum(length <= limit for length in lengths) / len(lengths)


def length_for(lengths: Sequence[int], share: float) -> int:
    """The smallest limit at which at least this share of the rows fits."""
    return sorted(lengths)[max(0, math.ceil(share * len(lengths) - 1e-9) - 1)]
