"""Which experiment is asked about, in which measure, and what was recorded of it beside the paper's numbers."""

import os
import statistics
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st

from minibert.experiments.results import (
    LEAST_LEARNED,
    Difference,
    ResultsError,
    by_arm,
    paired_difference,
    read_records,
    share_of_way,
    verdict,
)
from ui.inputs import choice
from ui.lesson import LESSONS
from ui.text import literal
from ui.translations import _

KIND = "experiment"


@cache
def papers() -> dict:
    """What the papers report, and what needs no understanding."""
    return tomllib.loads((LESSONS / "experiments" / "paper.toml").read_text(encoding="utf-8"))


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
        "sst2": _("SST-2 accuracy"),
        "mrpc": _("MRPC accuracy"),
        "ner": _("CoNLL-2003 NER, F1"),
        "ner_features": _("CoNLL-2003 NER, F1, frozen encoder"),
        "mlm_perplexity": _("held-out MLM perplexity"),
    }


@dataclass(frozen=True)
class Compared:
    """An arm beside another: our difference, the paper's as printed, if it is, and one of VERDICTS."""

    arm: str
    other: str
    ours: Difference | None
    printed: float | None
    direction: float | None
    verdict: str


@dataclass(frozen=True)
class Measured:
    """One measure of an experiment. column: of paper.toml · found: arm → seed → score, in percent or a perplexity."""

    key: str
    column: dict
    found: dict[str, dict[int, float]]
    floor: float | None

    @property
    def log(self) -> bool:
        return self.key.endswith("perplexity")

    @property
    def share(self) -> float | None:
        """How far the best arm has come from knowing nothing to BERT base."""
        if self.floor is None:
            return None
        means = [statistics.fmean(seeds.values()) for seeds in self.found.values()]
        best = (min if self.log else max)(means)
        return share_of_way(best, self.floor, papers()["bert_base"][self.key], log=self.log)

    @property
    def doubt(self) -> str | None:
        """Why no verdict can be had, one of NO_VERDICT."""
        if self.share is not None and self.share < LEAST_LEARNED:
            return "too little learned"
        return "another task" if self.column.get("other_task") else None


@dataclass(frozen=True)
class Shown:
    """What is on the page. records: of the newest scale and text · measures: all of them, in the order of paper.toml ·
    chosen: the measure that is drawn; None where nothing has been recorded."""

    name: str
    records: list[dict]
    measures: dict[str, Measured]
    chosen: Measured | None

    @property
    def paper(self) -> dict:
        return papers()[self.name]

    @property
    def arms(self) -> list[str]:
        """Those that have been run, in the paper's order."""
        return [arm for arm in self.paper["arms"] if self.chosen and arm in self.chosen.found]

    def compared(self, measure: Measured) -> list[Compared]:
        """The arms that were run, each beside the base or those that paper.toml sets it against."""
        found, column = measure.found, measure.column
        base, values, rows = next(iter(self.paper["arms"])), column.get("values", {}), []
        for arm in self.paper["arms"]:
            for other in self.paper.get("against", {}).get(arm, [base]):
                if arm == other or arm not in found or other not in found:
                    continue
                ours = paired_difference(found[arm], found[other])
                printed = round(values[arm] - values[other], 2) if arm in values and other in values else None
                direction = column.get("signs", {}).get(arm) if printed is None else printed
                said = verdict(ours, direction, measure.doubt)
                rows.append(Compared(arm, other, ours, printed, direction, said))
        return rows


def read() -> Shown:
    """One row: the experiment and the measure, both in the link."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="asked"):
        name = choice("experiment", _("Experiment"), experiment_names(), wrap=True)
        records = _recorded(name)
        measures = {}
        for column in papers()[name]["column"]:
            key = column["ours"]
            if any(key in record["metrics"] for record in records):
                found = _in_points(key, by_arm(records, key))
                measures[key] = Measured(key, column, found, _floor_of(key, records[-1]))
        chosen = None
        if measures:
            names = {key: metric_names()[key] for key in measures}
            chosen = measures[choice(f"measure-{name}", _("Measure"), names, wrap=True)]
    return Shown(name, records, measures, chosen)


def _recorded(name: str) -> list[dict]:
    """The records of the newest scale and text in the results file; where there are none, the picture says so."""
    folder = Path(os.environ.get("MINIBERT_RESULTS") or LESSONS / "results")
    try:
        records = read_records(folder / f"{name}.jsonl")
    except (ResultsError, OSError) as error:
        st.error(literal(error), icon=":material/error:")
        return []
    return [record for record in records if all(record[name] == records[-1][name] for name in ("scale", "data"))]


def _in_points(metric: str, values: dict) -> dict:
    """Shares in percent, as the papers print them; perplexities as they are."""
    factor = 1 if metric.endswith("perplexity") else 100
    return {arm: {seed: factor * value for seed, value in seeds.items()} for arm, seeds in values.items()}


def _floor_of(measure: str, record: dict) -> float | None:
    """What needs no understanding; None where it was not counted on what the record was measured on."""
    floor = papers()["floor"].get(measure)
    if floor is None or "--tasks" in record["command"] or "--heldout" in record["command"]:
        return None
    facts = {"data": record["data"], **record["scale"]}
    facts |= {name: record[name].get(measure) for name in ("measured_on", "examples") if measure in record[name]}
    return floor["value"] if all(facts.get(name) == fact for name, fact in floor["of"].items()) else None
