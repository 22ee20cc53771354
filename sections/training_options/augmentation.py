"""Augmentation: more training examples from the same texts."""

import streamlit as st

from sections.training_options import measured
from sections.training_options.bench import LABELS, TASK, called, command, example_of, model, read_here
from ui.inputs import seed_input
from ui.lesson import Lesson
from ui.model_cache import load
from ui.page import picture
from ui.source import show_source
from ui.text import show_tokens
from ui.translations import DEFAULT, _

HEADING = "Augmentation"


def show(lesson: Lesson, text: str) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        rate = st.slider(_("Share of the words"), 0.05, 0.5, 0.15, 0.05, key="share", bind="query-params")
    with right:
        seed = seed_input(0)
    from minibert.finetune.augmentation import METHODS, Augmentation, augmented, model_fill, split_words
    from minibert.tasks import TASKS

    loaded = load(model())
    example, words = example_of(text, LABELS[0]), split_words(text)
    names = {
        "mask": _("**mask**: a word becomes [MASK]"),
        "replace": _("**replace**: by a word the model expects there"),
        "drop": _("**drop**: a word goes"),
        "swap": _("**swap**: two words change places"),
    }
    with picture():
        for method in METHODS:
            fill = model_fill(loaded.model, loaded.tokenizer) if method == "replace" else None
            copies = augmented(TASKS[TASK], [example], Augmentation(method, rate, 3), seed, fill)
            st.markdown(names[method])
            for copy in copies:
                new = split_words(copy.text)
                kinds = [
                    "mask" if word == "[MASK]" else "plain" if i < len(words) and word == words[i] else "changed"
                    for i, word in enumerate(new)
                ]
                if method == "drop":
                    kinds = ["plain"] * len(new)
                show_tokens(new, kinds=kinds, limit=60, label=method)
    st.markdown(_("Each copy keeps the label of the sentence. Would you have given it the same?"))
    measured.show({method: _("{way}: a copy each, so twice the steps").format(way=method) for method in METHODS})
    lesson.show(HEADING)
    there, back = (_("in English"), _("back in Chinese"))
    if read_here() == DEFAULT:
        there, back = (_("in Chinese"), _("back in English"))
    rows = [row.split(" | ") for row in lesson.examples_called(called("back"))]
    st.table([dict(zip((_("a review"), there, back), row, strict=True)) for row in rows])
    st.caption(_("Written by hand, as two translation models might answer. Which of the three has lost its label?"))
    command("--augment replace", f"--augment-rate {rate:g}", "--augment-copies 3")
    from minibert.finetune.augmentation import changed_words

    show_source(changed_words, label=_("The four ways"))
    show_source(model_fill, find="topk", label=_("What the model puts in"))
