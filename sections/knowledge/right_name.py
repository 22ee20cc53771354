"""WKLM: P(replaced) of each name in the user's text; and a BERT trained further with WKLM or with MLM."""

from functools import partial
from pathlib import Path

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.knowledge import live
from sections.knowledge.subject import Inputs
from ui.figures import figure
from ui.inputs import numbered, pick, sentence_input
from ui.lesson import Lesson
from ui.limits import count_unknown, say_left_out, say_unknown
from ui.runs import complete, own_runs, settled, submit, weights_to_begin_with
from ui.source import show_source
from ui.text import literal, tokens_html, visible
from ui.translations import _

SHIPPED, RUNS = CHECKPOINTS / "wklm-toy" / "wklm", "knowledge-names"
START = CHECKPOINTS / "recurrent-toy" / "bert"  # a BERT trained on the names
MOST_TOKENS, TOP, DOUBT, USUAL = 60, 5, 0.5, 600


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.relatives.parts.replaced_names import NamesLm, draw_replaced, replace_names

    text = sentence_input(
        "named", lesson.examples_called("named"), label=_("Text in words of the toy world"), max_chars=400
    )
    judged(text)
    lesson.show("Is the name right?")
    show_source(replace_names, label=_("Names give way to others"))
    show_source(draw_replaced, label=_("Never two that follow each other"))
    show_source(NamesLm.forward, find="neighbours", label=_("The head: from the vectors beside the name"))
    lesson.show("BERT and WKLM on the same stories")
    live.train(RUNS, _("Train all three"), 1_500, USUAL, text, lambda steps: begin(steps, text), draw)


def networks() -> list[tuple[str, Path]]:
    """The shipped WKLM, and this browser's newest."""
    own = (run for run in own_runs(RUNS) if not run.kind.endswith("/bert") and settled(run) and complete(run.result))
    return [
        (_("WKLM, shipped"), SHIPPED),
        *((_("{run}, yours").format(run=run.title), run.result) for run in [*own][:1]),
    ]


def judged(text: str) -> None:
    """The text with P(replaced) under each name, and the names that the shipped WKLM prefers in place of one."""
    for number, (title, folder) in enumerate(networks()):
        model, tokenizer = loaded(str(folder), (folder / "model.safetensors").stat().st_mtime_ns)
        encoding, names, doubts = suspected(model, tokenizer, text)
        if number == 0:
            first = (model, tokenizer, encoding, names, doubts)
            say_unknown(*count_unknown(encoding), "WKLM")
            say_left_out(len(tokenizer.encode(text)) - MOST_TOKENS)
        if not names:
            st.info(_("There is no name of the toy world in this text, such as anna, ben or the museum."))
            return
        chips = names_html(encoding.tokens[1:-1], [(a - 1, b - 1) for a, b in names], doubts)
        doubts_in_words = _(", ").join(
            f"{literal(' '.join(encoding.tokens[a:b]))} {p:.0%}" for (a, b), p in zip(names, doubts, strict=True)
        )
        st.markdown(
            _("**{title}**, how likely each name was replaced: {told}").format(
                title=literal(title), told=doubts_in_words
            )
        )
        st.html(chips)
    believed_instead(*first)


def names_html(tokens: list[str], names: list[tuple[int, int]], doubts: list[float]) -> str:
    """Tokens as chips, with P(replaced) under the first token of each name; safe HTML."""
    kinds, under = ["faded"] * len(tokens), [""] * len(tokens)
    for (start, end), doubt in zip(names, doubts, strict=True):
        kinds[start:end] = ["changed" if doubt > DOUBT else "plain"] * (end - start)
        under[start] = f"{doubt:.0%}"
    return tokens_html(tokens, kinds=kinds, under=under, label=_("the text, and how likely each name was replaced"))


def believed_instead(model, tokenizer, encoding, names, doubts) -> None:
    """Replace the chosen name by each other name of its kind, and show the likeliest ones."""
    from minibert.inside.relatives.name_probe import original_probabilities
    from minibert.relatives.parts.replaced_names import others_of
    from minibert.text.word_lists import names_in
    from plots.masking import Blank, expected_tokens

    spelled = [" ".join(encoding.tokens[a:b]) for a, b in names]
    most = max(range(len(names)), key=doubts.__getitem__)
    chosen = pick("name", _("In whose place"), numbered([visible(name) for name in spelled]), most, width=260)
    start, end = names[chosen]
    own = tuple(encoding.ids[start:end])
    candidates = [own, *others_of(names_in(tokenizer))[own]]
    shares = original_probabilities(model, encoding.ids, names[chosen], candidates)
    best = shares.topk(min(TOP, len(candidates)))
    words = [" ".join(tokenizer.vocab[i] for i in candidates[at]) for at in best.indices.tolist()]
    title = _("In place of “{name}”, WKLM finds “{best}” most believable").format(
        name=visible(spelled[chosen], spaces=False), best=words[0]
    )
    figure(
        partial(
            expected_tokens,
            [Blank("", words, best.values.tolist())],
            columns=1,
            title=title,
            axis=_("P(the text’s own)"),
        ),
        _("{title}: {told}.").format(
            title=title,
            told=_(", ").join(f"{word} {p:.0%}" for word, p in zip(words, best.values.tolist(), strict=True)),
        ),
        "believed-names",
    )
    st.caption(_("Each name of the kind was put there and judged by itself: the shares do not add up to 1."))


@st.cache_resource(show_spinner=False, max_entries=4)
def loaded(folder: str, version: int):
    from minibert import checkpoint

    return checkpoint.load(folder).eval(), checkpoint.load_tokenizer(folder)


def suspected(model, tokenizer, text: str):
    """The text's encoding, the spans of its names, and P(replaced) of each."""
    from minibert.inside.relatives.name_probe import names_in_text, replaced_probabilities

    encoding = tokenizer.encode(text, max_length=MOST_TOKENS, truncation="head")
    names = names_in_text(encoding, tokenizer)
    return encoding, names, replaced_probabilities(model, encoding.ids, names)


def arms() -> dict[str, str]:
    """Training method → title of the run."""
    return {"bert": _("BERT"), "wklm": _("WKLM"), "names_too": _("WKLM, true names hidden too")}


def begin(steps: int, text: str) -> None:
    from minibert.toy.names_task import NamesSettings

    for name, title in arms().items():
        submit(
            "minibert.toy.names_task:train_names",
            NamesSettings(name, steps),
            weights_to_begin_with(START),
            probe_inputs=[text],
            title=title,
            kind=f"{RUNS}/{name}",
        )


def draw(runs: list) -> None:
    """Replaced names found and names predicted by step; and each run's output for the user's text."""
    marks = {run.title: live.measured(run) for run in runs}
    found = {title: [(one["step"], one["metrics"]["found"]) for one in some] for title, some in marks.items()}
    live.draw_lines(found, _("replaced name doubted more than a true one"), "names-found")
    known = {title: [(one["step"], one["metrics"]["names"]) for one in some] for title, some in marks.items()}
    live.draw_lines(known, _("right name ranked first where it is masked"), "names-known")
    for run in runs:
        if (sample := run.latest("sample")) and (one := sample["answers"][0])["names"]:
            st.markdown(f"**{literal(run.title)}** ({_('step {n}').format(n=sample['step'])})")
            st.html(names_html(one["tokens"], one["names"], one["doubts"]))
