"""A text masked anew in every epoch, as the sliders say; used by *What falls* and *Epoch after epoch*."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from sections.masking.subject import MAX_CHARS, Inputs, follow
from ui.inputs import choice, seed_input, sentence_input
from ui.limits import warn_unread
from ui.model_cache import load, version_of
from ui.shares import set_shares, share_sliders
from ui.translations import _

RATE, SPLIT = 15, (80, 10, 10)  # the paper's, in percent
SEED = 4  # with it, the first draw of the first example shows all three fates
EPOCHS = 4


@dataclass(frozen=True)
class MaskedCopy:
    """One masked version of a text. read: the model's input tokens · fates: what happened to each (cloze.FATES) · ids,
    labels: the same as the model takes them."""

    read: Sequence[str]
    fates: Sequence[str]
    ids: tuple[int, ...]
    labels: tuple[int, ...]


@dataclass(frozen=True)
class MaskingChoice:
    """rate, split: in percent · drawing: "dynamic" or "static" · whole_words: mask words as a whole."""

    rate: int
    split: tuple[int, ...]
    whole_words: bool
    seed: int
    drawing: str
    epochs: int


@dataclass(frozen=True)
class MaskedText:
    """encoding: of the text · draws: the masked input of each epoch · n: number of tokens that may be chosen."""

    settings: MaskingChoice
    encoding: object
    draws: list[MaskedCopy]
    n: int

    @property
    def num_targets(self) -> int:
        """Number of targets in the first epoch."""
        return sum(fate != "untouched" for fate in self.draws[0].fates)


def read(inputs: Inputs) -> MaskedText | None:
    """The text, the sliders and the resulting draws; None, with a hint, if no token can be chosen."""
    import torch

    from minibert.corruption import mask_tokens
    from minibert.inside.predictions.cloze import fates
    from minibert.text.characters import is_cjk
    from minibert.text.store import continued

    offered = inputs.text if inputs.own else inputs.plain[0]
    follow("text", offered)
    text = sentence_input(
        "text",
        inputs.plain,
        default=offered,
        label=_("Text to hide tokens in"),
        max_chars=MAX_CHARS,
        multiline=True,
        height="content",
    )
    chosen = _settings()
    loaded = inputs.loaded
    encoding = loaded.tokenizer.encode(text, max_length=loaded.config.longest, truncation="head")
    ids, special = torch.tensor([encoding.ids]), torch.tensor([encoding.special])  # (1, T)
    n = int((~special).sum())
    if not n:
        st.info(_("Nothing here can fall: `[CLS]` and `[SEP]` never do. Type a few words."), icon=":material/edit:")
        return None
    warn_unread(encoding, inputs.model, text)
    vocab = _vocabulary(inputs.model, version_of(inputs.model), loaded.tokenizer)
    joined = None
    if chosen.whole_words and any(map(is_cjk, text)):  # Chinese words of several characters have no ## pieces
        with st.spinner(_("Finding the Chinese words …")):
            joined = torch.tensor([continued(encoding.offsets, text)])  # (1, T)
    shares = (chosen.split[0] / 100, chosen.split[1] / 100, chosen.split[2] / 100)
    rng = torch.Generator().manual_seed(chosen.seed)
    draws = []
    for _epoch in range(chosen.epochs):
        if chosen.drawing == "static":
            rng.manual_seed(chosen.seed)
        corrupted, labels = mask_tokens(ids, special, vocab, rng, chosen.rate / 100, shares, chosen.whole_words, joined)
        token_fates = fates(ids[0], corrupted[0], labels[0], vocab.mask_id)
        now, vocabulary = tuple(corrupted[0].tolist()), loaded.tokenizer.vocab
        draws.append(MaskedCopy([vocabulary[i] for i in now], token_fates, now, tuple(labels[0].tolist())))
    return MaskedText(chosen, encoding, draws, n)


@st.cache_resource(show_spinner=False, max_entries=8)
def _vocabulary(model: str, version: int, _tokenizer):
    from minibert.corruption import MaskVocabulary

    return MaskVocabulary.of(_tokenizer)


@st.cache_data(show_spinner=False, max_entries=64)
def losses(model: str, version: int, ids: Sequence[Sequence[int]], labels: Sequence[Sequence[int]]):
    """`cloze.token_losses` of a model: computed once for all who ask the same."""
    import torch

    from minibert.inside.predictions.cloze import token_losses

    return token_losses(load(model).model, torch.tensor(ids), torch.tensor(labels)).tolist()


def _settings() -> MaskingChoice:
    with st.container(border=True, gap="small"):
        first, others = st.columns([1, 3], gap="large")
        with first:
            rate = st.slider(_("Rate: chosen tokens"), 0, 100, RATE, key="rate", format="%d %%", bind="query-params")
        with others:
            labels = [_("of these: [MASK]"), _("of these: random token"), _("of these: kept")]
            split = share_sliders("split", labels, SPLIT)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            seed = seed_input(SEED)
            times = st.slider(_("Epochs"), 1, 10, EPOCHS, key="epochs", bind="query-params", width=200)
            kinds = {"dynamic": _("drawn anew"), "static": _("drawn once")}
            drawing = choice("masks", _("Masks, each epoch"), kinds)
            whole_words = st.toggle(_("Whole words"), key="whole", bind="query-params")
            st.button(
                _("The paper's values"),
                key="papers-values",
                icon=":material/restart_alt:",
                on_click=_papers_values,
                disabled=(rate, split, whole_words) == (RATE, SPLIT, False),
            )
    return MaskingChoice(rate, split, whole_words, seed, drawing, times)


def _papers_values() -> None:
    st.session_state["rate"] = RATE
    st.session_state["whole"] = False
    set_shares("split", SPLIT)
