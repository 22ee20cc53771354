"""Export: a model written in another format, compared with the original, and served over HTTP."""

import importlib.util
import json
import tempfile
from pathlib import Path

import streamlit as st

from sections.service.subject import Served, predictor_of
from ui.inputs import choice
from ui.source import show_source
from ui.text import literal
from ui.translations import _


@st.cache_data(show_spinner=False, max_entries=20)
def _exported(name: str, directory: Path | None, format: str) -> dict:
    """The results that the command would report; the files are not kept."""
    from minibert.service.export import export

    with st.spinner(_("Writing the model, reading it again, comparing …")), tempfile.TemporaryDirectory() as folder:
        source = directory or predictor_of(name, directory).save(Path(folder) / "my-model")
        done = export(source, Path(folder) / "my-export", format)
        sizes = {file.name: file.stat().st_size for file in sorted(done.path.iterdir())}
        return {"difference": done.difference, "rows": done.rows, "dtype": done.dtype, "notes": done.notes} | {
            "sizes": sizes
        }


def show(served: Served) -> None:
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
        done = _exported(served.name, served.directory, format)
    except ExportError as error:
        st.error(literal(error), icon=":material/error:")
        return
    st.code(
        f"my-export: {format}, {done['dtype']}; on {done['rows']} random inputs no logit differs from the model's by "
        f"more than {done['difference']:.1e}",
        "text",
        wrap_lines=True,
    )
    for note in done["notes"]:
        st.info(literal(note))
    words = _("The largest difference is **{difference:.1e}**; above {tolerance:g} nothing would have been written.")
    st.markdown(words.format(difference=done["difference"], tolerance=TOLERANCE))
    st.table([{_("file"): literal(file), _("bytes"): f"{size:,}"} for file, size in done["sizes"].items()])
    show_source(compare, label=_("How the two are compared"))


def show_serve(served: Served) -> None:
    predictor = served.predictor
    task = predictor.task.name
    body = json.dumps({"inputs": [predictor.task.example_input]}, ensure_ascii=False).replace("'", "'\\''")
    st.code("python -m minibert serve --model my-model", "bash", wrap_lines=True)
    st.code(
        f"{task}: POST http://127.0.0.1:8080/predict, or see http://127.0.0.1:8080/schema; Ctrl-C stops",
        "text",
        wrap_lines=True,
    )
    st.markdown(_("and from another terminal, or any program:"))
    st.code(f"curl http://127.0.0.1:8080/predict -d '{body}'", "bash", wrap_lines=True)
    st.markdown(_("Below, the same application is asked on this page."))
