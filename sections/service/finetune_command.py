"""The command with which a run can be done again outside the classroom."""

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.service.subject import our_data
from ui.runs import complete
from ui.text import literal
from ui.translations import _

TARGETS = ("minibert.finetune.run:finetune", "minibert.distillation.run:distil")  # that the command runs


def finetune_command(
    task: str, settings: Mapping[str, Any], model: str, files: Mapping[str, str]
) -> tuple[list[str], dict[str, Any]]:
    """(the command of a run, which names in capitals what this page cannot name; the settings it has no option for).
    settings, model, files: of a run's `Started` event; the files are train and dev."""
    from minibert.command_line.finetuning import arguments_of

    arguments, left = arguments_of(settings)
    start = f"checkpoints/{model}" if complete(CHECKPOINTS / model) else "MODEL"
    named = {part: name if name.startswith("lessons/data/") else part.upper() for part, name in files.items()}
    command = ["python", "-m", "minibert", "finetune", "--task", task, "--model", start]
    command += ["--train", named.get("train", "TRAIN")]
    if files.get("dev") != files.get("train"):  # else it was split off
        command += ["--dev", named["dev"]]
    return [*command, *arguments, "--out", "my-model"], left


def show_command(run) -> None:
    """run: that has made a model; None: the one that the page's button begins."""
    if run is None:
        data = our_data()
        files = {part: data.path(part) for part in ("train", "dev")}
        command, left = finetune_command("classification", asdict(data.settings), data.start, files)
    elif run.target in TARGETS and (begun := run.latest("started")):
        details = begun["details"]
        about = details["task"], begun["settings"], details.get("model", ""), details.get("files", {})
        command, left = finetune_command(*about)
    else:
        st.markdown(_("No single command makes this model: its page trains it in several steps."))
        return
    st.code(shlex.join(command), "bash", wrap_lines=True)
    words = {
        "MODEL": _("`MODEL`: the checkpoint that the run began with"),
        "TRAIN": _("`TRAIN`: the file that it learned from (with `--columns` where you chose them)"),
        "DEV": _("`DEV`: the file that it was measured on"),
        "TEACHER": _("`TEACHER`: the fine-tuned model that taught it"),
    }
    if filled := [word for name, word in words.items() if name in command]:
        st.caption(" · ".join(filled))
    if left:
        listed = _(", ").join(literal(f"{name} = {value}") for name, value in left.items())
        st.caption(_("The command has no option for these settings of the run: {settings}").format(settings=listed))
