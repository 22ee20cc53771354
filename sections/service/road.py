"""The road: each step shows its input, its command, and the output."""

import importlib.util
import json
import tempfile
from pathlib import Path

import streamlit as st

from sections.service.finetune_command import show_command
from sections.service.subject import OurData, Served, learned_from, our_data, predictor_of
from ui.errors import translated
from ui.inputs import choice
from ui.lesson import Lesson
from ui.runs import manager, zipped
from ui.source import show_source
from ui.stepper import stepper
from ui.text import literal, visible
from ui.translations import _


@st.fragment
def show(lesson: Lesson, served: Served) -> None:
    lesson.show("The road", title=False)
    steps = {
        _("file"): _file,
        _("finetune"): show_finetune,
        _("evaluate"): show_evaluate,
        _("predict"): show_predict,
        _("export"): show_export,
        _("serve"): show_serve,
    }
    step = stepper("step", list(steps))
    with st.container(border=True, key="road"):
        list(steps.values())[step](served)


def _file(served: Served) -> None:
    from minibert.tasks import TASKS, TaskDataError

    st.markdown(
        _(
            "A TSV or CSV with a header that names a `sentence` and a `label`. Every line that cannot be used is "
            "named, and nothing is dropped silently. Two lines here are wrong; mend them, or break others:"
        )
    )
    text = st.text_area(_("Your file"), key="file", height=220)
    try:
        data = TASKS["classification"].parse(text.encode("utf-8", "replace"), "mine.tsv")
    except TaskDataError as error:
        st.error(literal(translated(error)), icon=":material/error:")
        return
    counts = _(", ").join(f"{literal(label)}{_(': ')}{data.counts[label]}" for label in data.labels)
    st.markdown(_("**{n} examples**; {counts}").format(n=len(data.examples), counts=counts))
    if data.problems:
        rows = [
            {_("line"): p.line, _("column"): p.column, _("why"): visible(translated(p.why), spaces=False)}
            for p in data.problems[:100]
        ]
        st.dataframe(rows, hide_index=True)
    else:
        st.markdown(_("No line is wrong."))
    from minibert.tasks.tables import rows_of

    show_source(rows_of, find="problem", label=_("Where a line is refused"))


def show_finetune(served: Served) -> None:
    run = manager().get(served.name) if served.directory is not None else None
    show_command(run)
    if run is None:
        st.markdown(_("This model has not been fine-tuned. The button above does it; then the answers stand here."))
        return
    lines = []
    for event in run.events():
        if event["event"] == "eval":
            shown = {key: value for key, value in event["metrics"].items() if "." not in key}
            lines.append(f"step {event['step']}: " + "  ".join(f"{key} {value:.4g}" for key, value in shown.items()))
    st.code("\n".join(lines) or "…", "text", wrap_lines=True)
    st.markdown(_("What the new directory holds:"))
    files = sorted(served.directory.iterdir())
    st.table(
        [{_("file"): literal(file.name), _("bytes"): f"{file.stat().st_size:,}"} for file in files if file.is_file()]
    )
    st.download_button(
        _("Download this model"),
        lambda: zipped(run.files),
        file_name="my-model.zip",
        mime="application/zip",
        icon=":material/download:",
        key=f"download-{run.id}",
        on_click="ignore",
    )
    st.code("unzip my-model.zip -d my-model\npython -m minibert serve --model my-model", "bash", wrap_lines=True)


@st.cache_data(show_spinner=False, max_entries=20)
def _metrics_of(name: str, directory: Path | None, data: OurData) -> dict[str, float]:
    from minibert.finetune.evaluation import evaluate

    with st.spinner(_("Measuring …")):
        return evaluate(predictor_of(name, directory), data.read(data.held_out)).metrics


def show_evaluate(served: Served) -> None:
    data = learned_from(served.predictor)
    if data is None:
        st.code("python -m minibert evaluate --model my-model --data FILE", "bash", wrap_lines=True)
        st.markdown(_("This model has another task than our data: give the command a file of its own."))
        return
    file = data.path(data.held_out)
    st.code(f"python -m minibert evaluate --model my-model --data {file}", "bash", wrap_lines=True)
    metrics = _metrics_of(served.name, served.directory, data)
    line = "  ".join(f"{key} {value:.4f}" for key, value in metrics.items())
    st.code(f"{file}: {line}", "text", wrap_lines=True)
    examples = len(data.read(data.held_out).examples)
    error = (metrics["accuracy"] * (1 - metrics["accuracy"]) / examples) ** 0.5
    words = _(
        "{n} texts, none of them learned from. The choice of texts alone gives this accuracy a standard error of "
        "{error:.1f} points."
    )
    st.markdown(words.format(n=examples, error=100 * error))


def _shell(value: str) -> str:
    """Escape a value for double quotes on a command line."""
    return "".join("\\" + char if char in '"\\$`' else char for char in value)


def show_predict(served: Served) -> None:
    from minibert.command_line.prediction import parse_input

    predictor = served.predictor
    example = served.example
    start = example["text"] if set(example) == {"text"} else json.dumps(example, ensure_ascii=False)
    text = st.text_input(_("One input: a text, or a JSON object"), start, key=f"input-{predictor.task.name}")
    st.code(f'python -m minibert predict --model my-model "{_shell(text[:300])}"', "bash", wrap_lines=True)
    try:
        answer = predictor.predict([parse_input(text[:5_000])])[0]
    except ValueError as error:
        st.error(literal(translated(error)), icon=":material/error:")
        return
    st.code(predictor.task.plain(answer), "text", wrap_lines=True)
    st.markdown(_("and with `--json`, a line for programs:"))
    st.code(json.dumps(answer, ensure_ascii=False), "json", wrap_lines=True)


@st.cache_data(show_spinner=False, max_entries=20)
def _exported(name: str, directory: Path | None, format: str, start: str) -> dict:
    """The results that the command would report; the files are not kept. start: what an untrained model begins with."""
    from minibert.service.export import export

    with st.spinner(_("Writing the model, reading it again, comparing …")), tempfile.TemporaryDirectory() as folder:
        source = directory or predictor_of(name, directory).save(Path(folder) / "my-model")
        done = export(source, Path(folder) / "my-export", format)
        sizes = {file.name: file.stat().st_size for file in sorted(done.path.iterdir())}
        return {"difference": done.difference, "rows": done.rows, "dtype": done.dtype, "notes": done.notes} | {
            "sizes": sizes
        }


def show_export(served: Served) -> None:
    from minibert.service.export import ONNX_PACKAGES, TOLERANCE, ExportError, compare

    formats = {"huggingface": _("for transformers"), "onnx": "ONNX"}
    format = choice("format", _("Written for"), formats)
    suffix = "" if format == "huggingface" else " --format onnx"
    st.code(f"python -m minibert export --model my-model --out my-export{suffix}", "bash", wrap_lines=True)
    missing = [package for package in ONNX_PACKAGES if importlib.util.find_spec(package) is None]
    if format == "onnx" and missing:
        st.info(_("This needs what is not installed: `pip install {packages}`").format(packages=" ".join(missing)))
        return
    if st.button(_("Export and compare"), key=f"export-{format}", icon=":material/fact_check:"):
        st.session_state["exported"] = (served.name, format)
    if st.session_state.get("exported") != (served.name, format):
        return
    try:
        done = _exported(served.name, served.directory, format, our_data().start)
    except ExportError as error:
        st.error(literal(translated(error)), icon=":material/error:")
        return
    st.code(
        f"my-export: {format}, {done['dtype']}; on {done['rows']} random inputs no logit differs from the model's by "
        f"more than {done['difference']:.1e}",
        "text",
        wrap_lines=True,
    )
    for note in done["notes"]:
        st.info(literal(translated(note)))
    words = _("The largest difference is **{difference:.1e}**; above {tolerance:g} nothing would have been written.")
    st.markdown(words.format(difference=done["difference"], tolerance=TOLERANCE))
    st.table([{_("file"): literal(file), _("bytes"): f"{size:,}"} for file, size in done["sizes"].items()])
    show_source(compare, label=_("How the two are compared"))


def show_serve(served: Served) -> None:
    task = served.predictor.task.name
    body = json.dumps({"inputs": [served.example]}, ensure_ascii=False).replace("'", "'\\''")
    st.code("python -m minibert serve --model my-model", "bash", wrap_lines=True)
    st.code(
        f"{task}: POST http://127.0.0.1:8080/predict, or see http://127.0.0.1:8080/schema; Ctrl-C stops",
        "text",
        wrap_lines=True,
    )
    st.markdown(_("and from another terminal, or any program:"))
    st.code(f"curl http://127.0.0.1:8080/predict -d '{body}'", "bash", wrap_lines=True)
    st.markdown(_("Below, you can send a request to the same application."))
