"""The paper's recipe in one table, beside those of the runs on screen."""

import tomllib

import streamlit as st

from sections.pretraining.trainings import Training, all_trainings, chosen_trainings
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _, pgettext


def show(lesson: Lesson, text) -> None:
    lesson.show("The paper’s recipe", title=False)
    theirs = tomllib.loads((lesson.folder / "recipe.toml").read_text(encoding="utf-8"))["row"]
    runs = {literal(one.name): ours(one) for one in chosen_trainings(all_trainings()) if one.settings}
    rows = []
    for row in theirs:
        paper = _("{what} ({where})").format(what=_(row["paper"]), where=row["where"])
        cells = {_("what"): _(row["what"]), _("the paper"): paper}
        rows.append(cells | {name: values.get(row.get("setting"), "–") for name, values in runs.items()})
    with st.container(key="recipe"):
        st.table(rows, border="horizontal")
    if not runs:
        st.caption(_("Train one: its own values will stand beside these."))


OPTIMIZERS = {"adamw": "AdamW", "muon": "Muon", "lamb": "LAMB"}
PAIRS = ("segment_pair", "sentence_pair")  # input formats with a sentence-pair objective


def ours(training: Training) -> dict[str, str]:
    """A run's values for the rows of the paper's table, by the row's `setting`."""
    settings, step = training.settings, training.latest("step")
    how = settings["optimization"]
    results = {
        "batch": _("{rows} rows of up to {tokens} tokens").format(
            rows=settings["batch_size"] * settings["accumulate"], tokens=settings["max_length"]
        ),
        "hidden": f"{settings['masking']['rate']:.0%}".replace("%", " %"),
        "optimizer": pgettext("between clauses", ", ").join(
            (OPTIMIZERS[how.get("optimizer", "adamw")], f"β₁ {how['beta1']:g}", f"β₂ {how['beta2']:g}")
        ),
        "rate": _("{rate:g} at its highest, rising over {share:.0%} of the run").format(
            rate=how["learning_rate"], share=how["warmup"]
        ),
        "decay": f"{how['weight_decay']:g}",
        "dropout": f"{settings['dropout']:g}",
        "activation": settings.get("sizes", {}).get("hidden_act", "gelu").upper(),
        "loss": _("masked words + {weight:g} × next sentences").format(weight=settings["nsp_weight"])
        if settings["input_format"] in PAIRS
        else _("masked words alone"),
    }
    details = training.begun["details"] if training.begun else {}
    if "world" in details:
        results["text"] = _("{n:,} stories of the toy world").format(n=details["documents"])
    if step:
        results["steps"] = _("{n:,}, {tokens:,} tokens").format(n=step["step"], tokens=step["tokens"])
        time = _("this one; {seconds:.0f} s") if training.runs else _("another one; {seconds:.0f} s")
        results["time"] = time.format(seconds=step["seconds"])
    return results
