"""Lengths of the texts of a data set: the share that fits into n tokens, as a curve."""

from functools import partial

import streamlit as st

from minibert.tasks import Options
from minibert.tasks.sampling import spread
from ui.figures import figure
from ui.model_cache import outline_of
from ui.task_data import OWN, ChosenData, shipped
from ui.translations import _

SHARES = (0.75, 0.92)  # common choices: most texts uncut, or nearly all
AT_MOST = 5_000  # examples whose lengths are counted


def lengths_of(data: ChosenData, model: str, beside: tuple[str, ...] = ()) -> list[int]:
    """Tokens of each training row without truncation; an evenly spaced sample of more than AT_MOST examples."""
    return _counted(data, model, beside) if data.key == OWN else _of_shipped(data.key, model, beside)


@st.cache_data(show_spinner=False, max_entries=100)
def _of_shipped(name: str, model: str, beside: tuple[str, ...]) -> list[int]:
    return _counted(shipped(name), model, beside)


def _counted(data: ChosenData, model: str, beside: tuple[str, ...]) -> list[int]:
    from minibert.tasks.lengths import row_lengths

    examples = [data.train.examples[i] for i in spread(len(data.train.examples), AT_MOST)]
    tokenizer, labels = outline_of(model).tokenizer, data.task.labels(data.train)
    return row_lengths(data.task, tokenizer, examples, labels, Options(texts_beside=beside))


def show_lengths(lengths: list[int], chosen: int, key: str) -> None:
    """The curve, marked at the chosen maximum length and at the lengths for SHARES."""
    from minibert.tasks.lengths import length_for, share_that_fits
    from plots.training_options import share_within

    fit = share_that_fits(lengths, chosen)
    marks = {share: length_for(lengths, share) for share in SHARES}
    said = _("{fit:.0%} of the texts fit into {chosen} tokens").format(fit=fit, chosen=chosen)
    words = _("; ").join(_("{share:.0%} into {n}").format(share=share, n=n) for share, n in marks.items())
    alt = _("Of {count:,} texts {fit:.1%} fit into {chosen} tokens; {words}; all into {longest}.").format(
        count=len(lengths), fit=fit, chosen=chosen, words=words, longest=max(lengths)
    )
    axes = (_("tokens, [CLS] and [SEP] among them"), _("texts that are not longer"))

    figure(
        partial(share_within, lengths, chosen, marks, axes, _("read"), said),
        alt,
        key=key,
        data=lambda: [{_("share"): f"{n / 20:.0%}", _("tokens"): length_for(lengths, n / 20)} for n in range(1, 21)],
    )
