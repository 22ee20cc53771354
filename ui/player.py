"""Moving pictures of our own: what drives them – play, pause, one step, a slider, keys – is the same for all.

A picture is a `<name>.js` and a `<name>.css` beside the section that shows it. Its script, a module of components v2,
calls `player` of ui/player.js; its element is `<div class="moving …">` with a `<div class="way">` for the controls.
"""

from pathlib import Path

import streamlit as st

from ui.translations import _


def moving(name: str, folder: Path, html: str):
    """The component `name`, from its files in `folder`. Registered by every run, as the registry belongs to the
    server's life and a page may be its first."""
    css, js = (
        "\n".join((where / file).with_suffix(end).read_text(encoding="utf-8") for where, file in _files(name, folder))
        for end in (".css", ".js")
    )
    return st.components.v2.component(f"minibert_{name}", html=html, css=css, js=js)


def _files(name: str, folder: Path) -> list[tuple[Path, str]]:
    return [(Path(__file__).parent, "player"), (folder, name)]


def playing() -> dict[str, str]:
    """What the button says that plays and pauses. Its signs are no emoji: without a font of these they were boxes."""
    return {"play": "▶ " + _("Play"), "pause": "❚❚ " + _("Pause")}


def controls(slider: str, count: str) -> dict[str, str]:
    """Words of the controls. slider: its name · count: such as “Step {n} of {last}”."""
    return {
        **playing(),
        "back": _("One step back"),
        "on": _("One step on"),
        "slider": slider,
        "count": count,
    }


def told(key: str, name: str) -> int | None:
    """The whole number that the picture under `key` has last said as `name`."""
    value = (st.session_state.get(key) or {}).get(name)
    return int(value) if isinstance(value, (int, float)) else None
