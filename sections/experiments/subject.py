"""The chosen experiment, text and measure, with the recorded results beside the paper's."""

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
from minibert.folders import results_to_read
from ui.inputs import choice
from ui.lesson import LESSONS
from ui.runs import own_runs
from ui.text import literal
from ui.translations import _

KIND = "experiment/toy-world"
TOY, REAL = "toy", "real"
TOY_RESULTS = "toy-world"  # one experiment holds all arms on the toy world


@cache
def papers() -> dict:
    """The papers' results, and the baselines without understanding."""
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
        "determined": _("determined words guessed right"),
        "meant": _("who or what is meant, F1"),
        "meant_features": _("who or what is meant, F1, frozen encoder"),
    }


@dataclass(frozen=True)
class Compared:
    """An arm against another: our difference, the paper's as printed (None if not printed), and one of VERDICTS."""

    arm: str
    other: str
    ours: Difference | None
    printed: float | None
    direction: float | None
    verdict: str


@dataclass(frozen=True)
class Measured:
    """One measure of an experiment. column: of paper.toml · found: arm → seed → score, in percent or as perplexity ·
    floor: baseline without understanding · best: BERT base's score, or the best possible one on the toy world."""

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

    @property
    def doubt(self) -> str | None:
        """Why there can be no verdict, one of NO_VERDICT; None if there can."""
        if self.share is not None and self.share < LEAST_LEARNED:
            return "too little learned"
        return "another task" if self.column.get("other_task") else None


@dataclass(frozen=True)
class Shown:
    """What is on the page. text: TOY or REAL · records: of the newest scale and text, all arms of the experiment ·
    measures: all, in the order of paper.toml · chosen: the one drawn; None without records."""

    name: str
    text: str
    records: list[dict]
    measures: dict[str, Measured]
    chosen: Measured | None

    @property
    def paper(self) -> dict:
        return paper_of(self.name, self.text)

    @property
    def base(self) -> str:
        return next(iter(self.paper["arms"]))

    @property
    def arms(self) -> list[str]:
        """Arms with results, in the paper's order."""
        return [arm for arm in self.paper["arms"] if self.chosen and arm in self.chosen.found]

    def compared(self, measure: Measured) -> list[Compared]:
        """The arms with results, each against the base or the arms that paper.toml compares it with."""
        found, column, rows = measure.found, measure.column, []
        values = column.get("values", {})
        for arm in self.paper["arms"]:
            for other in self.paper.get("against", {}).get(arm, [self.base]):
                if arm == other or arm not in found or other not in found:
                    continue
                ours = paired_difference(found[arm], found[other])
                printed = round(values[arm] - values[other], 2) if arm in values and other in values else None
                direction = column.get("signs", {}).get(arm) if printed is None else printed
                said = verdict(ours, direction, measure.doubt)
                rows.append(Compared(arm, other, ours, printed, direction, said))
        return rows


def paper_of(name: str, text: str) -> dict:
    return papers()["toy"][name] if text == TOY else papers()[name]


def read() -> Shown:
    """The experiment, the text and the measure, all in the link. A link with parameters but no text is older than the
    toy world and means real text."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="asked"):
        left = st.container(width="content", key="asked-experiment")
        texts = {REAL: _("on real text"), TOY: _("on the toy world")}
        # Run this first: it must see the link before other widgets remove their defaults from it.
        text = choice("text", _("On"), texts, wrap=True, usual=TOY, bare=True)
        with left:
            name = choice("experiment", _("Experiment"), experiment_names(), wrap=True, bare=True)
        records = _recorded(name, text)
        measures = {column["ours"]: _measured(column, records) for column in paper_of(name, text)["column"]}
        measures = {key: measure for key, measure in measures.items() if measure.found}
        chosen = None
        if measures:
            names = {key: metric_names()[key] for key in measures}
            link = f"measure-{name}" if text == REAL else f"toy-{name}"
            chosen = measures[choice(link, _("Measure"), names, box=480, bare=True)]
    return Shown(name, text, records, measures, chosen)


def own_scores(shown: Shown) -> dict[str, list[float]]:
    """Arm → scores of the user's own runs of it on the toy world, in the chosen measure."""
    scores: dict[str, list[float]] = {}
    if shown.text == TOY and shown.chosen:
        for run in own_runs(KIND):
            begun, done = run.latest("started"), run.latest("eval")
            if begun and done and shown.chosen.key in done["metrics"]:
                value = _factor(shown.chosen.key) * done["metrics"][shown.chosen.key]
                scores.setdefault(begun["settings"]["arm"], []).append(value)
    return scores


def _measured(column: dict, records: list[dict]) -> Measured:
    key, without = column["ours"], column.get("without", ())
    values = {arm: seeds for arm, seeds in by_arm(records, key).items() if arm not in without}
    found = {arm: {seed: _factor(key) * value for seed, value in seeds.items()} for arm, seeds in values.items()}
    best = papers()["toy_best" if records and "floor" in records[-1] else "bert_base"].get(key)
    return Measured(key, column, found, _floor_of(key, records[-1]) if records else None, best)


def _recorded(name: str, text: str) -> list[dict]:
    """The experiment's records of the newest scale and text in the results file; [] without any."""
    path = results_to_read(f"{TOY_RESULTS if text == TOY else name}.jsonl")
    try:
        records = _records_at(path, path.stat().st_mtime_ns if path.exists() else 0)
    except (ResultsError, OSError) as error:
        st.error(literal(error), icon=":material/error:")
        return []
    newest = [record for record in records if all(record[one] == records[-1][one] for one in ("scale", "data"))]
    arms = paper_of(name, text)["arms"]
    return [record for record in newest if record["arm"] in arms]


@st.cache_data(show_spinner=False, max_entries=12)
def _records_at(path: Path, changed: int) -> list[dict]:
    return read_records(path)


def _factor(metric: str) -> int:
    """Factor for display: shares in percent, as the papers print them; perplexities unchanged."""
    return 1 if metric.endswith("perplexity") else 100


def _floor_of(measure: str, record: dict) -> float | None:
    """Baseline without understanding: recorded with the run on the toy world, else from paper.toml; None if the record
    was measured on other data."""
    if "floor" in record:
        return _factor(measure) * record["floor"][measure] if measure in record["floor"] else None
    floor = papers()["floor"].get(measure)
    if floor is None or "--tasks" in record["command"] or "--heldout" in record["command"]:
        return None
    facts = {"data": record["data"], **record["scale"]}
    facts |= {name: record[name].get(measure) for name in ("measured_on", "examples") if measure in record[name]}
    return floor["value"] if all(facts.get(name) == fact for name, fact in floor["of"].items()) else None
