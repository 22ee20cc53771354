"""Large batches, recorded: AdamW and LAMB after the same number of rows, by batch size."""

import statistics
from functools import partial

from minibert.experiments import claims
from minibert.experiments.results import by_arm
from ui.claim import caption_records, mean_and_sd, recorded_or_hint, show_verdicts
from ui.figures import figure
from ui.page import picture
from ui.translations import _

EXPERIMENT, NAMES = "lamb", {"adamw": "AdamW", "lamb": "LAMB"}


def lamb_against_adamw() -> None:
    """The verdicts on LAMB against AdamW."""
    if records := recorded_or_hint(EXPERIMENT):
        show_verdicts(_judged(records, "adamw"), by_arm(records, "loss"))
        caption_records(records, _("Batches of 32 to 512 rows, {n}: see *large batches*."))


def over_batches() -> None:
    """The loss by batch size, and the verdict on what a larger batch costs."""
    from plots.nezha import over_lengths
    from plots.training_options import OPTIMIZERS

    if not (records := recorded_or_hint(EXPERIMENT)):
        return
    results, arms = by_arm(records, "loss"), {}
    for arm, seeds in results.items():
        arms.setdefault(_title(arm), {})[rows_of(arm)] = list(seeds.values())
    table = [
        {
            _("optimizer"): name,
            **{f"{rows:,}": mean_and_sd(some, 2) for rows, some in points.items()},
        }
        for name, points in arms.items()
    ]
    listed = _("; ").join(
        f"{name}{_(': ')}{_(', ').join(f'{rows:,} {statistics.fmean(values):.2f}' for rows, values in points.items())}"
        for name, points in arms.items()
    )
    axes = _("rows a batch"), _("loss on stories not read, nats a word")
    with picture():
        figure(
            partial(over_lengths, arms, None, axes, number=".2f", looks=OPTIMIZERS),
            _("The loss at the end, after as many rows, as the batch grows. {told}.").format(told=listed),
            "batches-recorded",
            data=table,
        )
    show_verdicts(_judged(records, "lamb"), results)
    words = _(
        "A dot a seed, mean and standard deviation, {n}. Every arm read {read:,} rows of at most 32 tokens. By the "
        "rule the rate is √(rows / 32) times the best in batches of 32; searched for again, it is the best in batches "
        "of 512. Each search tries four rates, a factor of 2 apart, for each optimizer."
    )
    caption_records(records, words, read=records[-1]["scale"]["rows_read"])


def _judged(records: list[dict], base: str) -> list[claims.Judged]:
    """The claims about a difference to this optimizer."""
    return [one for one in claims.judged(EXPERIMENT, records) if str(one.claim.base).startswith(base)]


def rows_of(arm: str) -> int:
    return int(arm.split("-")[1])


def _title(arm: str) -> str:
    optimizer, _rows, *how = arm.split("-")
    return _("{optimizer}, rate searched for anew").format(optimizer=NAMES[optimizer]) if how else NAMES[optimizer]
