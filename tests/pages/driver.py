"""What a page test does with a page: open it without a browser, and read what it shows."""

import base64
import html
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


ASKED = tuple(  # the keys of all questions asked before an answer (ui.predict)
    key
    for file in sorted(ROOT.glob("sections/*/*.py"))
    for key in re.findall(r'predict\(\s*"([\w-]+)"', file.read_text("utf-8"))
)


def open_page(name: str, /, owner: str | None = None, told: Sequence[str] | None = None, **query) -> AppTest:
    """The page `name`, run once, with values in its link. owner: the browser whose runs it shows · told: the questions
    (ui.predict) whose answers are shown at once, as after *Show it*; if not given, all when the link has values."""
    told = told if told is not None else ASKED if query else ()
    app = AppTest.from_file(str(ROOT / "pages" / f"{name}.py"), default_timeout=240)
    for key, value in query.items():
        app.query_params[key] = str(value)
    if owner is not None:
        app.session_state["_owner"] = owner
    app.session_state["_notes"] = {"shown": dict.fromkeys(told, (0, True))}
    return whole(app.run())


def whole(app: AppTest) -> AppTest:
    """The same app, after a run that raised nothing, escaped no figure's words as Markdown, and told the browser again
    what the widgets in its drawers hold, and the text fields that another part had left out."""
    assert not app.exception, [error.value for error in app.exception]
    drawn = [text for chart in app.get("plotly_chart") for text in (chart.proto.spec, chart.proto.alt)]
    titles = [body for body in (block.proto.body for block in app.get("html")) if 'class="mb-finding"' in body]
    escaped = re.findall(r"&#\d.{,30}", "\n".join(drawn)) + re.findall(r"&amp;#\d.{,30}", "\n".join(titles))
    assert not escaped, f"ui.text.literal in a figure: {escaped}"
    drawers, earlier = put_away(app), vars(app).get("drawers", {})
    lost = {key for key in drawers if key in earlier and not drawers[key].proto.set_value}
    assert not lost, f"closed drawers lose the values of {lost}: name them in `holds` of ui.page.drawer"
    vars(app)["drawers"] = drawers
    fields, known = {field.key: field for field in (*app.text_input, *app.text_area)}, vars(app).setdefault("known", {})
    back = {key: field for key, field in fields.items() if known.get(key) is False and not field.proto.set_value}
    empty = {key for key, field in back.items() if field.value != field.proto.default}  # what a browser would show
    assert not empty, f"the browser shows the defaults of {empty}, as they return: ui.state.hold_absent"
    known.update(dict.fromkeys(known, False) | dict.fromkeys(fields, True))  # key → whether the last run drew it
    return app


def part(app: AppTest, title: str) -> AppTest:
    """The same app with another of its parts open."""
    app.session_state["part"] = title
    return whole(app.run())


def put_away(app: AppTest) -> dict:
    """Key → widget of those in drawers that hold a value."""
    widgets = (widget for drawer in app.get("popover") for widget in drawer)
    return {widget.key: widget for widget in widgets if hasattr(getattr(widget, "proto", None), "set_value")}


def plain(markdown: str) -> str:
    """Markdown of ui.text.literal as it reads; every space is a plain one."""
    return html.unescape(markdown).replace("\u00a0", " ")


def text_of(app: AppTest) -> str:
    return plain("\n".join(block.value for block in app.markdown))


def captions(app: AppTest) -> str:
    return plain("\n".join(block.value for block in app.caption))


def formulas(app: AppTest) -> str:
    return "\n".join(block.value for block in app.latex)


def metrics(app: AppTest) -> dict[str, str]:
    return {plain(metric.label): metric.value for metric in app.metric}


def sent(app: AppTest) -> dict:
    """What the first picture of ours on the page is sent."""
    view = app.get("bidi_component")[0]
    return json.loads(view.proto.json or view.proto.mixed.json)


def html_of(app: AppTest) -> str:
    return "".join(block.proto.body for block in app.get("html"))


def figure(app: AppTest, key: str) -> dict | None:
    """What plotly is told to draw under this key; None without such a figure."""
    charts = app.get("plotly_chart")  # $$ID-<hash>-<key>
    specs = (chart.proto.spec for chart in charts if chart.proto.id.split("-", 2)[-1] == key)
    return next(map(json.loads, specs), None)


def numbers(values: list | dict) -> np.ndarray:
    """Numbers of a figure as plotly writes them: a list, or base64."""
    if not isinstance(values, dict):
        return np.asarray(values, float)
    flat = np.frombuffer(base64.b64decode(values["bdata"]), np.dtype(values["dtype"]))
    return flat.reshape([int(n) for n in str(values.get("shape", len(flat))).split(",")])


def title_of(app: AppTest, key: str) -> str | None:
    """The title above the figure under this key, as it reads; None without one."""
    blocks = (block.proto.body for block in app.get("html"))
    said = (re.search(rf'class="mb-finding" data-of="{re.escape(key)}"[^>]*>(.*)</p>', body) for body in blocks)
    return next((plain(found[1]) for found in said if found), None)


def link(app: AppTest, name: str) -> str:
    """A value in the link of the page."""
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]


def assert_no_markup(app: AppTest) -> None:
    """No tag of tests/hostile.py stands in what the browser takes as Markdown, HTML or a figure."""
    boxes = (app.markdown, app.caption, app.error, app.warning, app.info, app.success)
    prose = [block.value for kind in boxes for block in kind] + [block.proto.body for block in app.get("html")]
    figures = [chart.proto.spec for chart in app.get("plotly_chart")]
    for texts, tags in ((prose, ("<img", "</script", "<b>b<")), (figures, ("<img", "</script"))):
        for text in texts:
            for tag in tags:
                at = text.find(tag)
                assert at < 0, f"{tag} in …{text[max(0, at - 200) : at + 200]}…"
