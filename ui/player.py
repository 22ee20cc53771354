"""Animated pictures with shared controls: play, pause, single steps, a slider, keys.

A picture is a `<name>.js` and a `<name>.css` beside the section that shows it. Its script, a module of components v2,
calls `player` of ui/player.js; its element is `<div class="moving …">` with a `<div class="way">` for the controls.
"""

from pathlib import Path

import streamlit as st

from ui.translations import _


def moving(name: str, folder: Path, html: str):
    """The component `name`, from its files in `folder` and those of the player."""
    return component(name, html, Path(__file__).with_name("player"), folder / name)


def component(name: str, html: str, *files: Path):
    """A component from each file's .css and .js. Registered on every run, because the registry starts empty with each
    server."""
    css, js = (
        "\n".join(file.with_suffix(end).read_text(encoding="utf-8") for file in files) for end in (".css", ".js")
    )
    return st.components.v2.component(f"minibert_{name}", html=html, css=css, js=js)


def playing() -> dict[str, str]:
    """Labels of the play/pause button. The symbols are not emoji, which appear as boxes without an emoji font."""
    return {"play": "▶ " + _("Play"), "pause": "❚❚ " + _("Pause")}


def controls(slider: str, count: str) -> dict[str, str]:
    """Labels of the controls. slider: its name · count: such as “Step {n} of {last}”."""
    return {**playing(), "back": _("One step back"), "on": _("One step on"), "slider": slider, "count": count}


def reported_value(key: str, name: str) -> int | None:
    """The last integer that the component `key` reported as `name`; None if there is none."""
    value = (st.session_state.get(key) or {}).get(name)
    return int(value) if isinstance(value, (int, float)) else None
