"""Judged live: the user's own A and B, or an example of each kind, and the model's prediction."""

from functools import partial

import streamlit as st

from sections.next_sentence.subject import Inputs, bundled, kind_names, short_names, topic_judge
from ui.figures import figure
from ui.inputs import choice, counter, sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread
from ui.model_cache import language_read, load, version_of
from ui.model_widgets import warn_untrained
from ui.source import show_source
from ui.text import one_by_one
from ui.translations import _, pgettext

CHARS_JUDGED = 2_000
PAPERS = {  # Devlin et al. 2019, appendix A.1
    "en": {
        "milk": ("The man went to the store.", "He bought a gallon of milk."),
        "penguins": ("The man went to the store.", "Penguins are flightless birds."),
    },
    "zh": {"milk": ("小明去了商店。", "他买了一桶牛奶。"), "penguins": ("小明去了商店。", "企鹅是不会飞的鸟。")},
}


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.predictions.next_sentence import KINDS, judge, probes
    from plots.next_sentence import judgement

    model, language = inputs.model, language_read(inputs.model)
    warn_untrained(model)
    windows: dict[int, dict] = {}
    for probe in probes(*bundled(language)):
        windows.setdefault(probe.window, {})[probe.kind] = probe
    examples = [kinds for kinds in windows.values() if len(kinds) == len(KINDS)]
    papers = {"milk": ("next", _("milk (the paper’s)")), "penguins": ("elsewhere", _("penguins (the paper’s)"))}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = short_names() | {name: shown for name, (_kind, shown) in papers.items()}
        name = choice("kind", _("Example: B is"), names, wrap=True)
        number = counter("example", _("Another example"), button="another", start=1, first=1, last=len(examples))
    if name in papers:
        kind, example = papers[name][0], PAPERS[language][name]
    else:
        kind, probe = name, examples[number - 1][name]
        example = (probe.a, probe.b)
    if st.session_state.get("filled", example) != example:
        st.session_state["a"], st.session_state["b"] = example
    st.session_state["filled"] = example
    texts = []
    for column, name, start in zip(st.columns(2, gap="large"), "AB", example, strict=True):
        with column:
            texts.append(
                sentence_input(
                    name.lower(),
                    [],
                    label=name,
                    default=start,
                    multiline=True,
                    max_chars=CHARS_JUDGED,
                    travels=name == "A",
                    height="content",
                ).strip()
            )
    a, b = texts
    if not (a and b):
        st.info(_("Write something in both fields."), icon=":material/edit:")
        return
    loaded = load(model)
    warn_unread(loaded.tokenizer.encode(a, b), model, a + b)
    forth, back = judge(loaded.model, loaded.tokenizer, [(a, b), (b, a)]).tolist()
    rows = {_("A, then B"): forth, _("B, then A"): back}
    figure(
        partial(judgement, rows),
        _("Probability of IsNext: A, then B {forth:.1%}; B, then A {back:.1%}.").format(forth=forth, back=back),
        "judgement",
        title=_("“Next”: {forth:.1%} with A first, {back:.1%} with B first").format(forth=forth, back=back),
        data=rows,
    )
    lesson.show("Judged live", title=False)
    if (a, b) == tuple(map(str.strip, example)):
        st.markdown(one_by_one(_("**In truth:** {kind}.").format(kind=kind_names()[kind]), _label_in_training(kind)))
    overlap, verdicts = topic_judge(model, version_of(model))
    bound, cosine = verdicts.threshold, overlap(a, b)
    st.markdown(
        _(
            "**Topic only**, without a look at the order: cosine {cosine:.3f}, {relation} the bound of {bound:.3f}: "
            "“{verdict}”. With A and B swapped it is the same, to the last digit."
        ).format(
            cosine=cosine,
            bound=bound,
            relation=_("above") if cosine >= bound else _("below"),
            verdict=pgettext("a sentence", "next") if cosine >= bound else _("not next"),
        )
    )
    show_source(judge, find="nsp(pooled)")


def _label_in_training(kind: str) -> str:
    """The label that pre-training gave to pairs of this kind."""
    if kind == "next":
        return _("Pre-training called such pairs IsNext.")
    if kind in ("elsewhere", "topic"):
        return _("Pre-training called such pairs NotNext.")
    return _("Pre-training never showed such a pair.")
