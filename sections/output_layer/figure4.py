"""The paper's figure 4, animated: the user's tokens go in and pass the blocks; head and answer on top."""

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from minibert.tasks.choices import LETTERS
from sections.output_layer.columns import columns_of
from sections.output_layer.subject import Inputs
from ui.answers import headline
from ui.errors import translated
from ui.figures import in_words
from ui.finetune_runs import FinetuneRun, click_of, kind_of, last_answers
from ui.model_cache import outline_of
from ui.page import picture
from ui.player import playing
from ui.runs import own_runs, settled
from ui.text import literal, visible
from ui.translations import _, ngettext

REFRESH = 1.0  # seconds between refreshes while runs go on
BARS = 5
_HTML = """<div class="fig4" role="img" tabindex="0"><div class="scroll"><div class="grid"></div></div></div>
<div class="way"><button type="button" class="play"></button><button type="button" class="back">‹</button>
<button type="button" class="on-way">›</button><p class="said" aria-live="polite"></p></div>"""


def show(subject: Inputs) -> None:
    """The picture; while runs go on, it refreshes with their current predictions."""
    with picture():
        runs = own_runs(kind_of(subject.task.name)) if subject.data else []
        going = not all(map(settled, runs))
        st.fragment(_draw, run_every=REFRESH if going else None)(subject)


def _draw(subject: Inputs) -> None:
    if subject.data is None or subject.given is None:
        st.info(_("Choose data and write a text: then it goes in here."), icon=":material/arrow_upward:")
        return
    run, answer = _answer(subject)
    example = subject.task.example(subject.given)
    tokenizer = subject.tokenizer
    if tokenizer is None:
        return
    labels = subject.task.labels(subject.data.train)
    try:
        rows = columns_of(subject.task, tokenizer, example, labels, subject.options, answer)
    except ValueError as error:  # the question or a word leaves no room
        st.warning(literal(translated(error)), icon=":material/content_cut:")
        return
    blocks = outline_of(subject.model).config.num_hidden_layers
    words, bars = _said(subject, answer)
    head, state = _head(subject), _state(run, answer)
    columns = [[column.as_dict() | {"text": visible(column.text, spaces=False)} for column in row] for row in rows]
    alt = _("{n} tokens go in, pass {blocks} blocks, and the head reads {what}: {head}. {state} {words}").format(
        n=sum(max(1, column.left_out) for column in rows[0]),
        blocks=blocks,
        what=_reads(rows[0]),
        head=head,
        state=state,
        words=words,
    )
    shown = next((bar["row"] for bar in bars if bar["chosen"]), 0) if answer else 0
    _component()(
        key="figure4",
        data={
            "identity": f"{subject.task.name} {subject.model} {subject.given}",
            "rows": columns,
            "shown": shown or 0,
            "blocks": blocks,
            "head": head,
            "trained": answer is not None,
            "answer": {"words": words, "bars": bars},
            "state": state,
            "alt": alt,
            "words": {**playing(), "block": _("block {n}"), "back": _("A step back"), "next": _("A step on")},
        },
    )
    cut = sum(sum(row.cut) for row in subject.task.input_rows(tokenizer, example, labels, subject.options))
    if cut:
        st.caption(
            ngettext("{n} token did not fit and is cut.", "{n} tokens did not fit and are cut.", cut).format(n=cut)
        )
    if len(names := _names(subject)) > BARS:
        drawn = _("Drawn: the {few} likeliest of {n} labels, and every one answered. All are: {labels}.")
        if answer is None:
            drawn = _("Drawn: the first {few} of {n} labels, which are {labels}.")
        st.caption(drawn.format(few=BARS, n=len(names), labels=literal(_(", ").join(names))))
    in_words(
        alt,
        "figure4-words",
        [{_("token"): c["text"], _("read as"): c["read"], _("said"): c["said"]} for c in columns[0]],
    )


def _answer(subject: Inputs) -> tuple[FinetuneRun | None, Mapping | None]:
    """The newest run with these labels and its prediction on the text; runs from the checkpoint come first."""
    labels = subject.task.labels(subject.data.train)
    begun = [one for one in map(FinetuneRun, own_runs(kind_of(subject.task.name))[:8]) if one.begun]
    fitting = [one for one in begun if one.details["labels"] == labels]
    if fitting:
        newest = [one for one in fitting if click_of(one.run) == click_of(fitting[0].run)]
        for one in sorted(newest, key=lambda one: (one.start != "pretrained", one.seed)):
            answers = last_answers(one, subject.given)
            if answers and "error" not in answers[-1][1]:
                return one, answers[-1][1]
    return None, None


def _state(run: FinetuneRun | None, answer: Mapping | None) -> str:
    if answer is None:
        return _("The head is random numbers, and answers by chance until it is trained: press Train.")
    said = _("answers: the run {name}, epoch {epoch:.1f}; on the dev set {score}.")
    last = run.epoch(run.last_eval)
    return said.format(name=run.name, epoch=last, score=f"{run.view.metric_title()} {run.view.number(run.score)}")


def _reads(columns: list) -> str:
    read = {column.read for column in columns if column.read}
    if read == {"C"}:
        return _("C, the vector at [CLS]")
    return _("C and every T with a label") if "C" in read else _("every T with a label")


def _head(subject: Inputs) -> str:
    """The head as a formula over its input vectors."""
    vector = {"cls": "C", "mean": "mean(T)", "max": "max(T)"}[subject.options.pooling]
    match subject.task.architecture:
        case "BertForTokenClassification":
            return _("softmax(W · Tᵢ + b), at the first piece of each word")
        case "BertForQuestionAnswering":
            return _("start: softmax(S · Tᵢ)   end: softmax(E · Tᵢ)")
        case "BertForIntentAndEntities":
            return f"softmax(W · {vector} + b),  softmax(V · Tᵢ + d)"
        case "BertForMultipleChoice":
            return _("w · {vector} of each row, softmax over the rows").format(vector=vector)
    problem = subject.task.problem
    if problem == "regression":
        return f"w · {vector} + b"
    function = "sigmoid" if problem == "multi_label_classification" else "softmax"
    return f"{function}(W · {vector} + b)"


def _said(subject: Inputs, answer: Mapping | None) -> tuple[str, list[dict]]:
    """The answer in a few words, and its bars; without an answer, the possible ones without numbers."""
    rows_of_own = subject.task.architecture == "BertForMultipleChoice"
    probabilities = answer.get("probabilities") if answer else None
    if rows_of_own:
        choices = subject.given["choices"]
        names = [f"{LETTERS[n]} · {choice}" for n, choice in enumerate(choices)]
        shares = list(probabilities) if answer else [None] * len(choices)
        chosen = {answer["label"]} if answer else set()
        order = sorted(range(len(names)), key=lambda n: -shares[n]) if answer else range(len(names))
    else:
        names = list(probabilities) if isinstance(probabilities, Mapping) else _names(subject)
        shares = [probabilities[name] for name in names] if isinstance(probabilities, Mapping) else [None] * len(names)
        found = answer and (answer.get("labels") or [answer.get("label") or answer.get("intent")])
        chosen = {n for n, name in enumerate(names) if found and name in found}
        order = sorted(range(len(names)), key=lambda n: -(shares[n] or 0)) if len(names) > BARS else range(len(names))
    words = visible(headline(subject.task, answer)[0], spaces=False) if answer else "?"
    bars = [
        {
            "name": visible(names[n], spaces=False),
            "share": shares[n],
            "written": "?" if shares[n] is None else f"{shares[n]:.1%}",
            "chosen": n in chosen,
            "row": n if rows_of_own else None,
        }
        for place, n in enumerate(order)
        if place < BARS or n in chosen  # several labels have a threshold each: the likeliest need not be the answer
    ]
    return words, bars


def _names(subject: Inputs) -> list[str]:
    """The classes of a head on the whole input; [] for outputs at tokens or a number."""
    labels = subject.task.labels(subject.data.train)
    if subject.task.architecture == "BertForIntentAndEntities":
        return list(labels["intents"])
    classes = subject.task.architecture == "BertForSequenceClassification" and subject.task.problem != "regression"
    return list(labels) if classes else []


def _component():
    """Register on every run: the registry lives as long as the server, and any page may be opened first."""
    folder = Path(__file__).parent
    css, js = (folder.joinpath(f"figure4.{end}").read_text(encoding="utf-8") for end in ("css", "js"))
    return st.components.v2.component("minibert_figure4", html=_HTML, css=css, js=js)
