"""The chosen experiment and measure, with the recorded results beside the paper's."""

import statistics
from dataclasses import dataclass

import streamlit as st

from minibert.experiments import claims
from minibert.experiments.claims import Judged
from minibert.experiments.results import REQUIRED, share_of_way
from ui.claim import records_of, table_in_words
from ui.inputs import choice
from ui.runs import own_runs
from ui.translations import _, pgettext

KIND = "experiment/toy-world"  # of the runs that are begun here
SMALL = "toy-world"  # the experiment whose arms can be run here, in a minute


def experiment_names() -> dict[str, str]:
    return {
        "objectives": _("Objectives"),
        "masking": _("Masking split"),
        "size": _("Model size"),
        "steps": _("Training steps"),
        "formats": _("Input formats"),
    }


def metric_names() -> dict[str, str]:
    return {
        "mlm_perplexity": _("held-out MLM perplexity"),
        "determined": _("determined words guessed right"),
        "determined.after": _("words that later words determine"),
        "meant": _("who or what is meant, F1"),
        "meant_features": _("who or what is meant, F1, frozen encoder"),
    }


@dataclass(frozen=True)
class Measure:
    """One measure of an experiment. column: of the paper's table · found: arm → seed → score, in percent or as
    perplexity · floor: baseline without understanding · best: the best possible score."""

    key: str
    column: dict
    found: dict[str, dict[int, float]]
    floor: float | None
    best: float

    @property
    def log(self) -> bool:
        return self.key.endswith("perplexity")

    @property
    def share(self) -> float | None:
        """How far the best arm has come from `floor` to `best`; None without a floor."""
        if self.floor is None:
            return None
        means = [statistics.fmean(seeds.values()) for seeds in self.found.values()]
        reached = (min if self.log else max)(means)
        return share_of_way(reached, self.floor, self.best, log=self.log)


@dataclass(frozen=True)
class Inputs:
    """What is on the page. records: of the newest scale, all arms of the experiment · measures: all, in the table's
    order · chosen: the one drawn; None without records."""

    name: str
    records: list[dict]
    measures: dict[str, Measure]
    chosen: Measure | None

    @property
    def paper(self) -> dict:
        return paper_of(self.name)

    @property
    def base(self) -> str:
        return next(iter(self.paper["arms"]))

    @property
    def arms(self) -> list[str]:
        """Arms with results, in the paper's order."""
        return [arm for arm in self.paper["arms"] if self.chosen and arm in self.chosen.found]

    def compared(self, measure: Measure) -> list[Judged]:
        """The arms with results, each against the base or the arms that the table compares it with."""
        return claims.judged(self.name, self.records, measure.key)


def paper_of(name: str) -> dict:
    """The experiment's table of claims, in the reader's language."""
    return table_in_words(name)


def read() -> Inputs:
    """The experiment and the measure, both in the link."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="asked"):
        with st.container(width="content"):
            name = choice("experiment", _("Experiment"), experiment_names(), wrap=True, bare=True)
        records = _recorded(name)
        measures = {column["metric"]: _measured(name, column, records) for column in paper_of(name)["column"]}
        measures = {key: measure for key, measure in measures.items() if measure.found}
        chosen = None
        if measures:
            names = {key: metric_names()[key] for key in measures}
            chosen = measures[choice(f"measure-{name}", pgettext("a score", "Measure"), names, box=480, bare=True)]
    return Inputs(name, records, measures, chosen)


def own_scores(inputs: Inputs) -> dict[str, list[float]]:
    """Arm → scores of the user's own runs of it, in the chosen measure; {} where the recorded ones read longer."""
    scores: dict[str, list[float]] = {}
    if inputs.chosen and inputs.paper["results"] == SMALL:
        for run in own_runs(KIND):
            begun, done = run.latest("started"), run.latest("eval")
            if begun and done and inputs.chosen.key in done["metrics"]:
                value = claims.factor(inputs.chosen.key) * done["metrics"][inputs.chosen.key]
                scores.setdefault(begun["settings"]["arm"], []).append(value)
    return scores


def _measured(name: str, column: dict, records: list[dict]) -> Measure:
    key, without = column["metric"], column.get("without", ())
    found = {arm: seeds for arm, seeds in claims.values(records, key).items() if arm not in without}
    return Measure(key, column, found, *claims.levels(name, key, records))


def _recorded(name: str) -> list[dict]:
    """The experiment's records of the newest scale in the results file; [] without any."""
    return [record for record in records_of(name, REQUIRED) if record["arm"] in paper_of(name)["arms"]]
