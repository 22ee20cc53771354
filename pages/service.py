"""From file to service: a table in, a checked model out, and an HTTP service that can be asked on the page."""

import importlib.util
import json
import statistics
import tempfile
import time
import uuid
from pathlib import Path

import streamlit as st

from ui.figures import figure
from ui.inputs import choice
from ui.lesson import REVIEWS, Lesson
from ui.models import CHECKPOINTS, choose_model
from ui.runs import live, manager, own_models, own_runs, run_title, show_refusal, state_rows, submit, zipped
from ui.source import show_source
from ui.stepper import stepper
from ui.text import literal, visible
from ui.translations import _

# What imports torch or plotly is imported where it is first needed: the page shows before that.

KIND = "service"
START = CHECKPOINTS / "mini-en"
UNTRAINED = "untrained"
CLIENTS = (1, 8, 32)
ROUNDS = 3
LONGEST_REQUEST = 100_000  # characters that the page hands on
SECONDS_AT_MOST = 300
BROKEN = (
    "sentence\tlabel\nNot a dull minute.\tpositive\nThe soup was cold.\nCold coffee, warm beer.\t\n"
    "A quiet room.\tpositive\nI left after the first act.\tnegative\n"
)

lesson = Lesson("service")


# --- the model ------------------------------------------------------------------------------------------------------


def fine_tuned() -> dict[str, tuple[str, Path]]:
    """This browser's models that have a task: id → (title, directory)."""
    found = {}
    for run in own_models():
        values = json.loads((run.result / "config.json").read_text(encoding="utf-8"))
        if "minibert_task" in values:
            found[run.id] = (run_title(run), run.result)
    return found


def choose(models: dict[str, tuple[str, Path]]) -> str:
    titles = {name: title for name, (title, _directory) in models.items()}
    titles[UNTRAINED] = _("shipped checkpoint, new layer untrained (answers by chance)")
    return choose_model("model", _("Model"), titles, {name: directory for name, (_title, directory) in models.items()})


@st.cache_resource(show_spinner=False, max_entries=4)
def predictor_of(name: str, directory: Path | None):
    """The model, loaded once for everyone; it is only asked, never changed."""
    from minibert.finetune.predictor import Predictor
    from minibert.finetune.settings import FinetuneSettings

    if directory is not None:
        return Predictor.from_directory(directory)
    from minibert.finetune.option_effects import FreshLearner

    bench = FreshLearner.of(START, "classification", reviews("train"), FinetuneSettings())
    return Predictor(bench.learner.model.eval(), bench.tokenizer, bench.task, bench.options)


@st.cache_data(show_spinner=False)
def reviews(part: str):
    from minibert.tasks import TASKS

    return TASKS["classification"].read(REVIEWS / f"{part}.tsv")


def train_one() -> None:
    """A model to take along, in some seconds."""
    if st.button(_("Fine-tune one on the reviews"), icon=":material/play_arrow:", key="train", type="primary"):
        from jobs.files import Upload
        from minibert.finetune.settings import FinetuneSettings
        from minibert.train import Optimization

        settings = FinetuneSettings(optimization=Optimization(learning_rate=3e-4), max_seconds=SECONDS_AT_MOST)
        arguments = (Upload(START, deep=False), "classification", reviews("train"), reviews("dev"), settings)
        when = time.strftime("%H:%M:%S", time.gmtime())
        title = _("reviews · fine-tuned at {time} UTC").format(time=when)
        submit("minibert.finetune.run:finetune", *arguments, title=title, kind=f"{KIND}/{time.time_ns()}")
    show_refusal()
    runs = own_runs(KIND)[:1]
    if runs:
        live(
            (runs[0].id,),
            lambda shown: state_rows(shown, lambda step: _(" · loss {loss:.3f}").format(loss=step["loss"])),
        )


# --- the road -------------------------------------------------------------------------------------------------------


def finetune_command(task: str) -> str:
    if task == "classification":
        data = "--train lessons/data/reviews/train.tsv --dev lessons/data/reviews/dev.tsv"
    else:
        data = f"--task {task} --train FILE"
    return f"python -m minibert finetune {data} --out my-model"


@st.fragment
def road(name: str, directory: Path | None, title: str) -> None:
    steps = [_("file"), _("finetune"), _("evaluate"), _("predict"), _("export"), _("serve")]
    step = stepper("step", steps)
    draw = (show_file, show_finetune, show_evaluate, show_predict, show_export, show_serve)[step]
    with st.container(border=True, key="road"):
        draw(name, directory, title)


def show_file(name: str, directory: Path | None, title: str) -> None:
    from minibert.tasks import TASKS, TaskDataError

    st.markdown(
        _(
            "A TSV or CSV with a header that names a `sentence` and a `label`. Every line that cannot be used is "
            "named, and nothing is dropped silently. Two lines here are wrong; mend them, or break others:"
        )
    )
    text = st.text_area(_("Your file"), BROKEN, key="file", height=170)
    try:
        data = TASKS["classification"].parse(text.encode("utf-8", "replace"), "mine.tsv")
    except TaskDataError as error:
        st.error(literal(error), icon=":material/error:")
        return
    counts = ", ".join(f"{literal(label)}: {data.counts[label]}" for label in data.labels)
    st.markdown(_("**{n} examples**; {counts}").format(n=len(data.examples), counts=counts))
    if data.problems:
        rows = [
            {_("line"): p.line, _("column"): p.column, _("why"): visible(p.why, spaces=False)}
            for p in data.problems[:100]
        ]
        st.dataframe(rows, hide_index=True)
    else:
        st.markdown(_("No line is wrong."))
    from minibert.tasks.tables import rows_of

    show_source(rows_of, find="problem", label=_("Where a line is refused"))


def show_finetune(name: str, directory: Path | None, title: str) -> None:
    predictor = predictor_of(name, directory)
    st.code(finetune_command(predictor.task.name), "bash", wrap_lines=True)
    run = manager().get(name) if directory is not None else None
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
    files = sorted(directory.iterdir())
    st.table([{_("file"): file.name, _("bytes"): f"{file.stat().st_size:,}"} for file in files if file.is_file()])
    st.download_button(
        _("Download this model"), lambda: zipped(run.files), file_name="my-model.zip", mime="application/zip",
        icon=":material/download:", key=f"download-{run.id}", on_click="ignore",
    )  # fmt: skip
    st.code("unzip my-model.zip -d my-model\npython -m minibert serve --model my-model", "bash", wrap_lines=True)


@st.cache_data(show_spinner=False, max_entries=20)
def metrics_of(name: str, directory: Path | None, part: str) -> dict[str, float]:
    from minibert.finetune.evaluation import evaluate

    with st.spinner(_("Measuring …")):
        return evaluate(predictor_of(name, directory), reviews(part)).metrics


def show_evaluate(name: str, directory: Path | None, title: str) -> None:
    predictor = predictor_of(name, directory)
    if predictor.task.name != "classification" or set(predictor.labels) != set(reviews("train").labels):
        st.code("python -m minibert evaluate --model my-model --data FILE", "bash", wrap_lines=True)
        st.markdown(_("This model has another task than the reviews: give the command a file of its own."))
        return
    st.code(
        "python -m minibert evaluate --model my-model --data lessons/data/reviews/test.tsv", "bash", wrap_lines=True
    )
    metrics = metrics_of(name, directory, "test")
    line = "  ".join(f"{key} {value:.4f}" for key, value in metrics.items())
    st.code(f"lessons/data/reviews/test.tsv: {line}", "text", wrap_lines=True)
    error = (metrics["accuracy"] * (1 - metrics["accuracy"]) / len(reviews("test").examples)) ** 0.5
    st.markdown(
        _(
            "{n} sentences that no choice on any page was made on. The choice of sentences alone gives this accuracy a "
            "standard error of {error:.1f} points."
        ).format(n=len(reviews("test").examples), error=100 * error)
    )


def shell(value: str) -> str:
    """For a command line between double quotes."""
    return "".join("\\" + char if char in '"\\$`' else char for char in value)


def show_predict(name: str, directory: Path | None, title: str) -> None:
    from minibert.command_line.prediction import parse_input

    predictor = predictor_of(name, directory)
    example = predictor.task.example_input
    start = example["text"] if set(example) == {"text"} else json.dumps(example, ensure_ascii=False)
    text = st.text_input(_("One input: a text, or a JSON object"), start, key=f"input-{predictor.task.name}")
    st.code(f'python -m minibert predict --model my-model "{shell(text[:300])}"', "bash", wrap_lines=True)
    try:
        answer = predictor.predict([parse_input(text[:5_000])])[0]
    except ValueError as error:
        st.error(literal(error), icon=":material/error:")
        return
    st.code(predictor.task.plain(answer), "text", wrap_lines=True)
    st.markdown(_("and with `--json`, a line for programs:"))
    st.code(json.dumps(answer, ensure_ascii=False), "json", wrap_lines=True)


@st.cache_data(show_spinner=False, max_entries=20)
def exported(name: str, directory: Path | None, format: str) -> dict:
    """What the command would say; the files themselves are not kept."""
    from minibert.service.export import export

    with st.spinner(_("Writing the model, reading it again, comparing …")), tempfile.TemporaryDirectory() as folder:
        source = directory or predictor_of(name, directory).save(Path(folder) / "my-model")
        done = export(source, Path(folder) / "my-export", format)
        sizes = {file.name: file.stat().st_size for file in sorted(done.path.iterdir())}
        return {"difference": done.difference, "rows": done.rows, "dtype": done.dtype, "notes": done.notes} | {
            "sizes": sizes
        }


def show_export(name: str, directory: Path | None, title: str) -> None:
    from minibert.service.export import ONNX_PACKAGES, TOLERANCE, ExportError, compare

    formats = {"huggingface": _("for transformers"), "onnx": "ONNX"}
    format = choice("format", _("Written for"), formats)
    suffix = "" if format == "huggingface" else " --format onnx"
    st.code(f"python -m minibert export --model my-model --out my-export{suffix}", "bash", wrap_lines=True)
    missing = [package for package in ONNX_PACKAGES if importlib.util.find_spec(package) is None]
    if format == "onnx" and missing:
        st.info(_("Needs {packages}: `pip install -r requirements-export.txt`").format(packages=", ".join(missing)))
        return
    if st.button(_("Export and compare"), key=f"export-{format}", icon=":material/fact_check:"):
        st.session_state["exported"] = (name, format)
    if st.session_state.get("exported") != (name, format):
        return
    try:
        done = exported(name, directory, format)
    except ExportError as error:
        st.error(literal(error), icon=":material/error:")
        return
    st.code(
        f"my-export: {format}, {done['dtype']}; on {done['rows']} random inputs no logit differs from the model's by "
        f"more than {done['difference']:.1e}",
        "text",
    )
    for note in done["notes"]:
        st.info(literal(note))
    st.markdown(
        _(
            "The largest difference is **{difference:.1e}**; above {tolerance:g} nothing would have been written."
        ).format(difference=done["difference"], tolerance=TOLERANCE)
    )
    st.table([{_("file"): file, _("bytes"): f"{size:,}"} for file, size in done["sizes"].items()])
    show_source(compare, label=_("How the two are compared"))


def show_serve(name: str, directory: Path | None, title: str) -> None:
    predictor = predictor_of(name, directory)
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


# --- asking ---------------------------------------------------------------------------------------------------------


def requests_of(predictor) -> dict[str, tuple[str, str]]:
    """Ready requests: name → (words, body). Only the first two are good."""
    from minibert.service.server import Limits

    example, limits = predictor.task.example_input, Limits()
    field = next(iter(example))

    def body(*inputs) -> str:
        return json.dumps({"inputs": list(inputs)}, ensure_ascii=False)

    return {
        "good": (_("a good one"), body(example)),
        "two": (_("two inputs"), body(example, example)),
        "json": (_("not JSON"), '{"inputs": ["so close"'),
        "missing": (_("inputs missing"), '{"input": "not a dull minute"}'),
        "type": (_("a number for a text"), body({**example, field: 7})),
        "blank": (_("a blank text"), body(example, {**example, field: "   "})),
        "unknown": (_("an unknown field"), body({**example, "colour": "blue"})),
        "long": (_("a text too long"), body({**example, field: "very " * (limits.characters // 5 + 1)})),
        "many": (_("too many inputs"), json.dumps({"inputs": [example] * (limits.inputs + 1)})),
    }


@st.fragment
def ask_it(name: str, directory: Path | None) -> None:
    predictor = predictor_of(name, directory)
    ready = requests_of(predictor)
    state = f"request-{predictor.task.name}"
    st.session_state.setdefault(state, ready["good"][1])
    picked = st.pills(
        _("Requests"), list(ready), format_func=lambda key: ready[key][0], key="ready", default="good",
    )  # fmt: skip
    if picked and st.session_state.get("ready-shown") != (name, picked):
        st.session_state[state] = ready[picked][1]
        st.session_state["ready-shown"] = (name, picked)
    text = st.text_area(_("Body of POST /predict"), key=state, height=120, max_chars=LONGEST_REQUEST)
    answer, health = asked(predictor, text)
    good = answer.status == 200
    (st.success if good else st.error)(
        _("**HTTP {status}** after {ms:.1f} ms").format(status=answer.status, ms=1000 * answer.seconds),
        icon=":material/check_circle:" if good else ":material/block:",
    )
    st.code(json.dumps(answer.body, ensure_ascii=False, indent=1), "json", wrap_lines=True)
    with st.expander(_("GET /health, meanwhile"), icon=":material/favorite:"):
        st.code(json.dumps(health.body), "json")
    from minibert.service.server import Service, refusal

    show_source(Service.examples, find="refus", label=_("What checks a request: `Service.examples`"))
    show_source(refusal, find="status", label=_("Which number a refusal gets"))


def asked(predictor, text: str):
    """(the answer to the request, and to GET /health beside it)"""
    from minibert.service.local_client import LocalRequest, ask
    from minibert.service.server import application

    body = text.encode("utf-8", "surrogatepass")
    return ask(application(predictor), LocalRequest(body=body), LocalRequest("GET", "/health"))


@st.fragment
def show_schema(name: str, directory: Path | None) -> None:
    from dataclasses import asdict

    from minibert.service.server import Limits, request_schema

    predictor, limits = predictor_of(name, directory), Limits()
    st.markdown(_("For this model, `{task}`:").format(task=predictor.task.name))
    st.json(request_schema(predictor, limits), expanded=3)
    st.markdown("**" + _("Limits") + "**")
    options = {
        "inputs": (_("inputs of a request"), "--max-inputs"),
        "characters": (_("characters of a text"), "--max-characters"),
        "body": (_("bytes of a request"), "--max-body"),
        "queue": (_("inputs that may wait"), "--queue"),
        "batch": (_("inputs the model answers at once"), "--batch-size"),
        "window": (_("milliseconds a batch waits for more"), "--window"),
    }
    values = asdict(limits) | {"window": 1000 * limits.window}
    st.table(
        [
            {_("limit"): words, _("now"): f"{values[key]:,.12g}", _("option of serve"): option}
            for key, (words, option) in options.items()
        ]
    )
    show_source(predictor.task.input_schema, label=_("Where the schema comes from"))


# --- many clients ---------------------------------------------------------------------------------------------------


@st.cache_data(show_spinner=False, max_entries=20)
def measured(name: str, directory: Path | None, click: str) -> dict[str, list]:
    """way → the middle of ROUNDS measurements for each number of clients. click: another with each."""
    from minibert.service.local_client import load
    from minibert.service.server import Limits

    predictor = predictor_of(name, directory)
    example = predictor.task.example_input
    ways = {"single": Limits(batch=1, window=0.0), "batched": Limits()}
    with st.spinner(_("Asking …")):
        found: dict[str, list] = {way: [] for way in ways}
        for clients in CLIENTS:
            for way, limits in ways.items():
                rounds = [load(predictor, [example] * clients, limits) for _round in range(ROUNDS)]
                found[way].append(sorted(rounds, key=lambda one: one.seconds)[ROUNDS // 2])
        return found


@st.fragment
def many_clients(name: str, directory: Path | None) -> None:
    if st.button(_("Measure"), key="measure", icon=":material/speed:"):
        st.session_state["measured"] = uuid.uuid4().hex
    click = st.session_state.get("measured")
    if not click:
        st.markdown(_("Not measured yet: a second or two after the click."))
        return
    from plots.service import rates

    found = measured(name, directory, click)
    words = {"single": _("one by one"), "batched": _("in batches")}
    drawn = {words[way]: [one.per_second for one in loads] for way, loads in found.items()}
    table = [
        {
            _("clients"): clients,
            _("served"): words[way],
            _("answers a second"): f"{one.per_second:,.0f}",
            _("median wait, ms"): f"{1000 * statistics.median(one.waits):.1f}",
            _("longest wait, ms"): f"{1000 * max(one.waits):.1f}",
            _("batches"): " + ".join(map(str, one.sizes[:8])) + (" + …" if len(one.sizes) > 8 else ""),
        }
        for i, clients in enumerate(CLIENTS)
        for way, loads in found.items()
        for one in loads[i : i + 1]
    ]
    last = {way: loads[-1].per_second for way, loads in found.items()}
    alt = _(
        "{n} clients at once: {single:,.0f} answers a second one by one, {batched:,.0f} in batches, {times:.1f} times "
        "as many."
    ).format(n=CLIENTS[-1], single=last["single"], batched=last["batched"], times=last["batched"] / last["single"])
    figure(rates(CLIENTS, drawn, _("{n} clients"), _("answers a second")), alt, key="load", data=table)
    st.markdown(f"**{alt}**", width=820)
    st.table(table)
    from minibert.service.server import Batcher

    show_source(Batcher.next_batch, label=_("How a batch is gathered"))
    show_source(Batcher.run, label=_("The one loop that has the model"))


# --- the page -------------------------------------------------------------------------------------------------------

lesson.open()
manager().warm_up()
lesson.show("The model")
models = fine_tuned()
chosen = choose(models)
train_one()
title, directory = models.get(chosen, ("", None))
lesson.show("The road")
road(chosen, directory, title)
lesson.show("Ask the service")
ask_it(chosen, directory)
lesson.show("The schema")
show_schema(chosen, directory)
lesson.show("Many clients at once")
many_clients(chosen, directory)
lesson.show("Limits and health")
lesson.show("Before it goes out")
lesson.show("What to log")
lesson.close()
