"""P-tuning: the words nearest to the prompt that this browser has trained."""

import streamlit as st

from sections.few_labels.subject import PREFIX, Inputs
from sections.few_labels.train import PROMPT, method_of
from ui.lesson import Lesson
from ui.runs import complete, own_runs, settled
from ui.source import show_source
from ui.text import literal, visible
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.finetune.prompt import Prompt

    lesson.show("P-tuning", title=False)
    st.code(PROMPT[inputs.language], None)
    runs = [
        run
        for run in own_runs(f"{PREFIX}-learn")
        if run.kind.endswith(f"-{inputs.language}")
        and method_of(run) == "p-tuning"
        and settled(run)
        and complete(run.result)
    ]
    if not runs:
        st.markdown(_("**No prompt has been learned yet.** *Train with few* learns one: choose P-tuning, or all four."))
    else:
        st.markdown(_("**The words nearest to what was learned**, with cosines:"))
        st.table(
            [
                {
                    _("token"): literal(token),
                    _("nearest words"): _(", ").join(f"{literal(visible(word))} {cosine:.2f}" for word, cosine in some),
                }
                for token, some in nearest(str(runs[0].result), runs[0].id)
            ]
        )
        lesson.show("What the nearest words say")
    show_source(Prompt)


@st.cache_data(show_spinner=False, max_entries=50)
def nearest(directory: str, run: str) -> list[tuple[str, list[tuple[str, float]]]]:
    from minibert.finetune.predictor import Predictor
    from minibert.finetune.prompt import nearest_words
    from minibert.tasks.pattern import Pattern

    predictor = Predictor.from_directory(directory)
    tokenizer = predictor.tokenizer
    tokens = Pattern.of(predictor.options.pattern).prompt
    named = [i for i, piece in enumerate(tokenizer.vocab) if i not in tokenizer.special_ids and piece[:1] not in "[#"]
    table = predictor.model.bert.embeddings.token.weight
    found = nearest_words(table, [tokenizer.ids[token] for token in tokens], named)
    return [
        (token, [(tokenizer.vocab[i], cosine) for i, cosine in some]) for token, some in zip(tokens, found, strict=True)
    ]
