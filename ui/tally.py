"""What a room has guessed: counts on the server, no names. Kept in memory; the oldest questions go first."""

import time
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from threading import Lock

MOST_QUESTIONS, MOST_VOTERS = 1_000, 2_000
LONGEST_HOLD = 600.0  # seconds: a teacher who has gone keeps nobody waiting


@dataclass
class _Votes:
    by_voter: dict[str, str] = field(default_factory=dict)
    held_until: float = 0.0


class Tally:
    """Guesses by question. A voter is told apart by an opaque word; the last guess of each counts."""

    def __init__(self) -> None:
        self._questions: OrderedDict[str, _Votes] = OrderedDict()
        self._lock = Lock()

    def vote(self, question: str, voter: str, guess: str) -> None:
        with self._lock:
            votes = self._of(question).by_voter
            if voter in votes or len(votes) < MOST_VOTERS:
                votes[voter] = guess

    def counts(self, question: str) -> Counter[str]:
        """guess → how many made it."""
        with self._lock:
            votes = self._questions.get(question)
            return Counter(votes.by_voter.values() if votes else ())

    def hold(self, question: str) -> None:
        """Until `release`, or LONGEST_HOLD, nobody who has guessed is shown what is right."""
        with self._lock:
            self._of(question).held_until = time.monotonic() + LONGEST_HOLD

    def release(self, question: str) -> None:
        with self._lock:
            self._of(question).held_until = 0.0

    def held(self, question: str) -> bool:
        with self._lock:
            votes = self._questions.get(question)
            return votes is not None and time.monotonic() < votes.held_until

    def _of(self, question: str) -> _Votes:
        votes = self._questions.setdefault(question, _Votes())
        self._questions.move_to_end(question)
        if len(self._questions) > MOST_QUESTIONS:
            self._questions.popitem(last=False)
        return votes
