"""What falls: the reader's text hidden as the sliders say, epoch after epoch, and what that costs."""

import streamlit as st

from sections.masking import epochs
from sections.masking.falling_masks import Draw, falling_masks
from sections.masking.subject import MAX_CHARS, Subject, follow
from ui.inputs import choice, seed_input, sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread
from ui.shares import set_shares, share_sliders
from ui.source import show_source
from ui.translations import _

RATE, SPLIT = 15, (80, 10, 10)  # the paper's, in percent
SEED = 4  # the first draw of the first example shows all three fates
EPOCHS = 4


@st.fragment
def show(lesson: Lesson, seen: Subject) -> None:
    import torch

    from minibert.corruption import MaskVocabulary, mask_tokens, masking_budget
    from minibert.inside.cloze import fates
    from minibert.text.characters import is_cjk
    from minibert.text.store import continued

    lesson.show("The cloze test", title=False)
    offered = seen.text if seen.own else seen.plain[0]
    follow("text", offered)
    text = sentence_input(
        "text", seen.plain, default=offered, label=_("Text to hide tokens in"), max_chars=MAX_CHARS, multiline=True,
        height="content",
    )  # fmt: skip
    rate, split, whole_words, seed, drawing, times = _settings()
    loaded = seen.loaded
    encoding = loaded.tokenizer.encode(text, max_length=loaded.config.max_position_embeddings, truncation="head")
    ids, special = torch.tensor([encoding.ids]), torch.tensor([encoding.special])  # (1, T)
    n = int((~special).sum())
    if not n:
        st.info(_("Nothing here can fall: `[CLS]` and `[SEP]` never do. Type a few words."), icon=":material/edit:")
        return
    warn_unread(encoding, seen.model)
    vocab = MaskVocabulary.of(loaded.tokenizer)
    joined = None
    if whole_words and any(map(is_cjk, text)):  # a word of several characters has no ## pieces
        with st.spinner(_("Finding the Chinese words …")):
            joined = torch.tensor([continued(encoding.offsets, text)])  # (1, T)
    shares = (split[0] / 100, split[1] / 100, split[2] / 100)
    rng = torch.Generator().manual_seed(seed)
    draws = []
    for _epoch in range(times):
        if drawing == "static":
            rng.manual_seed(seed)
        corrupted, labels = mask_tokens(ids, special, vocab, rng, rate / 100, shares, whole_words, joined)
        told = fates(ids[0], corrupted[0], labels[0], vocab.mask_id)
        draws.append(Draw([loaded.tokenizer.vocab[number] for number in corrupted[0].tolist()], told))
    falling_masks("falling", encoding.tokens, encoding.special, draws)
    budget = int(masking_budget(torch.tensor([n]), rate / 100))
    _show_arithmetic(n, rate, split, budget, draws[0].fates, whole_words)
    lesson.show("What falls", title=False)
    epochs.show(lesson, encoding, [draw.fates for draw in draws], drawing, rate, split, even=not whole_words)
    show_source(mask_tokens, find="corrupted = ", label=_("The code that drew these masks"))


def _settings() -> tuple[int, tuple[int, ...], bool, int, str, int]:
    """Rate and split in percent, whole words or not, the seed; static or dynamic, and how many epochs."""
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
    return rate, split, whole_words, seed, drawing, times


def _papers_values() -> None:
    st.session_state["rate"] = RATE
    st.session_state["whole"] = False
    set_shares("split", SPLIT)


def _show_arithmetic(
    n: int, rate: int, split: tuple[int, ...], budget: int, told: list[str], whole_words: bool
) -> None:
    """The budget and its split as a table: what is to be expected, and the first draw."""
    counts = [told.count(fate) for fate in ("masked", "random", "kept")]
    asked = sum(counts)
    rounded = round(rate / 100 * n)
    chosen = f"{rate / 100:.2f} × {n} = {rate / 100 * n:.2f} ≈ **{rounded}**"
    if budget != rounded:
        chosen += " " + _("→ at least **{n}**").format(n=budget)
    expected = [f"{share / 100:.2f} × {budget} = {share / 100 * budget:.1f}" for share in split]
    head = [_("chosen of {n} tokens").format(n=n), "[MASK]", _("random token"), _("kept")]
    with st.container(key="arithmetic"):
        st.markdown(
            f"| | {' | '.join(head)} |\n|:--|{':-:|' * 4}\n"
            f"| {_('expected')} | {chosen} | {' | '.join(expected)} |\n"
            f"| **{_('epoch 1')}** | **{asked}** | {' | '.join(f'**{count}**' for count in counts)} |"
        )
    if whole_words and asked < budget:
        st.caption(
            _(
                "Whole words: {asked} of the budget of {budget}. A word falls complete or not at all; no other fitted "
                "what was left."
            ).format(asked=asked, budget=budget)
        )
    elif asked > budget:
        st.caption(
            _(
                "Whole words: every word has more pieces than the budget of {budget}, so the shortest falls alone."
            ).format(budget=budget)
        )
