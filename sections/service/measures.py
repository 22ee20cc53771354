"""Fine-tune, evaluate, predict: the commands and their output."""

import json
from pathlib import Path

import streamlit as st

from sections.service.subject import Served, predictor_of, reviews
from ui.runs import manager, zipped
from ui.text import literal
from ui.translations import _


def _finetune_command(task: str) -> str:
    if task == "classification":
        data = "--train lessons/data/reviews/train.tsv --dev lessons/data/reviews/dev.tsv"
    else:
        data = f"--task {task} --train FILE"
    return f"python -m minibert finetune {data} --out my-model"


def show_finetune(served: Served) -> None:
    predictor = served.predictor
    st.code(_finetune_command(predictor.task.name), "bash", wrap_lines=True)
    run = manager().get(served.name) if served.directory is not None else None
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
def _metrics_of(name: str, directory: Path | None, part: str) -> dict[str, float]:
    from minibert.finetune.evaluation import evaluate

    with st.spinner(_("Measuring …")):
        return evaluate(predictor_of(name, directory), reviews(part)).metrics


def show_evaluate(served: Served) -> None:
    predictor = served.predictor
    if predictor.task.name != "classification" or set(predictor.labels) != set(reviews("train").labels):
        st.code("python -m minibert evaluate --model my-model --data FILE", "bash", wrap_lines=True)
        st.markdown(_("This model has another task than the reviews: give the command a file of its own."))
        return
    st.code(
        "python -m minibert evaluate --model my-model --data lessons/data/reviews/test.tsv", "bash", wrap_lines=True
    )
    metrics = _metrics_of(served.name, served.directory, "test")
    line = "  ".join(f"{key} {value:.4f}" for key, value in metrics.items())
    st.code(f"lessons/data/reviews/test.tsv: {line}", "text", wrap_lines=True)
    error = (metrics["accuracy"] * (1 - metrics["accuracy"]) / len(reviews("test").examples)) ** 0.5
    words = _(
        "{n} sentences that no choice on any page was made on. The choice of sentences alone gives this accuracy a "
        "standard error of {error:.1f} points."
    )
    st.markdown(words.format(n=len(reviews("test").examples), error=100 * error))


def _shell(value: str) -> str:
    """Escape a value for double quotes on a command line."""
    return "".join("\\" + char if char in '"\\$`' else char for char in value)


def show_predict(served: Served) -> None:
    from minibert.command_line.prediction import parse_input

    predictor = served.predictor
    example = predictor.task.example_input
    start = example["text"] if set(example) == {"text"} else json.dumps(example, ensure_ascii=False)
    text = st.text_input(_("One input: a text, or a JSON object"), start, key=f"input-{predictor.task.name}")
    st.code(f'python -m minibert predict --model my-model "{_shell(text[:300])}"', "bash", wrap_lines=True)
    try:
        answer = predictor.predict([parse_input(text[:5_000])])[0]
    except ValueError as error:
        st.error(literal(error), icon=":material/error:")
        return
    st.code(predictor.task.plain(answer), "text", wrap_lines=True)
    st.markdown(_("and with `--json`, a line for programs:"))
    st.code(json.dumps(answer, ensure_ascii=False), "json", wrap_lines=True)
