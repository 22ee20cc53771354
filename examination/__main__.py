"""Check the bank: `python -m examination`. Reads every file, draws every question, and prints how many there are."""

import sys
from collections import Counter
from pathlib import Path

from examination.bank import BANK, load_bank
from examination.entry import BankError
from examination.kinds import KINDS, generate, mark

SEEDS = 20


def check(folder: Path) -> str:
    """A table of questions by part and kind. Raises BankError for the first thing that is wrong."""
    bank = load_bank(folder)
    lines = [f"{'part':<14}" + "".join(f"{kind:>9}" for kind in KINDS) + f"{'all':>6}"]
    for part in bank:
        for question in part.questions:
            for seed in range(SEEDS):
                task = generate(question, seed)
                if not mark(task, task.right).right:
                    raise BankError(f"{question.where}: its own answer earns no full points (sheet {seed})")
                if full := [wrong.what for wrong in task.wrong if mark(task, wrong.answer).right]:
                    raise BankError(f"{question.where}: a wrong answer earns full points (sheet {seed}): {full[0]}")
        counts = Counter(question.kind for question in part.questions)
        lines.append(f"{part.name:<14}" + "".join(f"{counts[kind]:>9}" for kind in KINDS) + f"{counts.total():>6}")
    return "\n".join(lines)


if __name__ == "__main__":
    try:
        print(check(Path(sys.argv[1]) if len(sys.argv) > 1 else BANK))
    except BankError as error:
        sys.exit(str(error))
