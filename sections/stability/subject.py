"""The cells that are compared, their recorded results, and the user's own runs."""

import statistics
from dataclasses import dataclass
from functools import partial

from minibert.experiments.comparisons import cell
from minibert.experiments.derived import ABOVE_CHANCE
from minibert.experiments.results import by_arm
from ui.figures import figure
from ui.recorded import comparison
from ui.runs import own_runs
from ui.translations import _, ngettext

KIND = "stability"


@dataclass(frozen=True)
class Inputs:
    """records: of the chosen checkpoint · chance: accuracy of the majority class, in percent."""

    records: list[dict]
    chance: float | None


def correction_names() -> dict[bool, str]:
    return {True: _("with bias correction"), False: _("without")}


def epochs_in_words(epochs: int) -> str:
    return ngettext("{n} epoch", "{n} epochs", epochs).format(n=epochs)


def rate_in_words(rate: float) -> str:
    return f"{rate:.0e}".replace("e-0", "e-")


def name_of(epochs: int, rate: float, corrected: bool) -> str:
    return _(", ").join((epochs_in_words(epochs), rate_in_words(rate), correction_names()[corrected]))


def scores_of(records: list[dict]) -> dict[str, dict[int, float]]:
    return {
        arm: {seed: 100 * value for seed, value in sorted(seeds.items())}
        for arm, seeds in by_arm(records, "accuracy").items()
    }


def rates() -> list[float]:
    """Learning rates of the comparison from the chosen checkpoint."""
    return list(dict.fromkeys(rate for _epochs, rate, _corrected in every_cell()))


def every_cell() -> list[tuple[int, float, bool]]:
    made = comparison(KIND)
    values = (made.values(arm) for arm in made.arms)
    return [(one["epochs"], one["learning_rate"], one["bias_correction"]) for one in values]


def newest_runs() -> list:
    """The runs of the user's last click."""
    runs = own_runs(KIND)
    return [run for run in runs if run.kind == runs[0].kind] if runs else []


def scores_of_runs(runs: list) -> dict[str, dict[int, float]]:
    """Arm → seed → accuracy in percent, for finished runs."""
    scores: dict[str, dict[int, float]] = {}
    for run in runs:
        done, begun = run.latest("done"), run.latest("started")
        if run.state == "finished" and done and begun:
            settings = begun["settings"]
            name = cell(settings["epochs"], settings["optimization"]["learning_rate"], settings["bias_correction"])
            scores.setdefault(name, {})[settings["seed"]] = 100 * done["metrics"]["accuracy"]
    return scores


def draw_grid(
    scores: dict[str, dict[int, float]],
    chance: float | None,
    key: str,
    *,
    own: dict[str, dict[int, float]] | None = None,
    title: str = "",
) -> None:
    """scores, own: arm → seed → accuracy in percent, of the main runs and of the user's."""
    from plots.stability import Cell, grid

    names, cells, table = correction_names(), [], []
    for epochs, rate, corrected in every_cell():
        arm = cell(epochs, rate, corrected)
        drawn = scores.get(arm, {}), (own or {}).get(arm, {})
        cells.append(Cell(epochs_in_words(epochs), rate_in_words(rate), corrected, *drawn))
        if values := list(drawn[0].values()):
            table.append(
                {
                    _("epochs"): epochs,
                    _("learning rate"): rate_in_words(rate),
                    _("bias correction"): names[corrected],
                    _("mean"): f"{statistics.fmean(values):.1f}",
                    _("sd"): f"{statistics.stdev(values):.1f}" if len(values) > 1 else "–",
                    _("worst"): f"{min(values):.1f}",
                    _("best"): f"{max(values):.1f}",
                    _("failed"): "–"
                    if chance is None
                    else f"{sum(v <= chance + ABOVE_CHANCE for v in values)} / {len(values)}",
                }
            )
    words = _("commonest class"), _("seed"), title, _("your run"), _("learning rate")
    fig = partial(grid, cells, (names[True], names[False]), _("dev accuracy"), chance, *words)
    means = _("; ").join(
        _(", ").join(map(str, (row[_("epochs")], row[_("learning rate")], row[_("bias correction")])))
        + f"{_(': ')}{row[_('mean')]} ± {row[_('sd')]}"
        for row in table
    )
    alt = _("Dev accuracy by epochs, learning rate and bias correction, a dot a seed. Means: {words}.").format(
        words=means
    )
    figure(fig, alt, key=key, data=table)
