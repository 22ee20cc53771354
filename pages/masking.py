"""Masking: what is hidden from the model, what it expects there, and why not every hidden token becomes [MASK]."""

import csv
import time

import streamlit as st

from ui.figures import figure, legend
from ui.inputs import MAX_SEED, choice, seed_input, sentence_input
from ui.lesson import Lesson
from ui.models import WELL_READ, load, model_choice, warn_untrained
from ui.navigation import next_lesson
from ui.shares import set_shares, share_sliders
from ui.source import show_source
from ui.state import follow_link, set_url, url_int
from ui.text import literal, show_tokens, visible
from ui.translations import _

# What imports torch is imported where it is first needed: the page shows before that.

RATE, SPLIT = 15, (80, 10, 10)  # the paper's, in percent
SEED = 4  # the first draw of the first example shows all three fates
EPOCHS = 4
MAX_CHARS = 1_000
COLUMNS = 40  # tokens side by side in a figure
CHIPS = 60  # tokens to click on
PANELS = 6  # blanks whose bars are drawn
MOVERS = 24  # tokens marked in the comparison
DOUBLE_CLICK = 0.5  # seconds

STYLE = """<style>
.st-key-chips { gap: 0.4rem; }
.st-key-chips button p, .st-key-at button p { font-size: 1.15rem; unicode-bidi: isolate;
  font-family: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.st-key-chips button[kind="primary"] {
  color: inherit; background: rgba(230, 159, 0, 0.32); border: 2px solid rgb(230, 159, 0); }
.st-key-arithmetic table, .st-key-cost p { font-size: 1.1rem; }
.st-key-arithmetic { overflow-x: auto; }
@media (min-width: 1200px) { .st-key-arithmetic :is(th, td) { white-space: nowrap; } }
.stPlotlyChart :is([class$="tick"], .textpoint) text, .stPlotlyChart :is(.annotation-text, .bartext-outside) {
  fill: currentColor !important; }
/* On a phone what stands side by side is scrolled, not squeezed. */
@media (max-width: 760px) {
  [class*="st-key-wide-"] { overflow-x: auto; }
  [class*="st-key-wide-"] .stElementContainer { min-width: 720px; }
}
</style>"""

lesson = Lesson("masking")
plain = [text for text in lesson.examples if "[MASK]" not in text]
with_blank = [text for text in lesson.examples if "[MASK]" in text]


def fate_names() -> dict[str, str]:
    return {"untouched": _("not asked"), "masked": "[MASK]", "random": _("random token"), "kept": _("kept")}


# --- what falls ---------------------------------------------------------------------------------------------------


@st.fragment
def masking(model: str) -> None:
    """The reader's text, hidden as the sliders say: once, then epoch after epoch."""
    import torch

    from minibert.corruption import MaskVocabulary, mask_tokens, masking_budget
    from minibert.inside.cloze import fates
    from minibert.text.characters import is_cjk
    from minibert.text.store import continued

    lesson.show("What falls")
    text = sentence_input("text", plain, label=_("Text to hide tokens in"), max_chars=MAX_CHARS, multiline=True)
    rate, split, whole_words, seed = _mask_settings()
    with st.spinner(_("Loading the model …")):
        loaded = load(model)
    encoding = loaded.tokenizer.encode(text, max_length=loaded.config.max_position_embeddings, truncation="head")
    ids, special = torch.tensor([encoding.ids]), torch.tensor([encoding.special])  # (1, T)
    n = int((~special).sum())
    if not n:
        st.info(_("Nothing here can fall: `[CLS]` and `[SEP]` never do. Type a few words."), icon=":material/edit:")
        return
    vocab = MaskVocabulary.of(loaded.tokenizer)
    joined = None
    if whole_words and any(map(is_cjk, text)):  # a word of several characters has no ## pieces
        with st.spinner(_("Finding the Chinese words …")):
            joined = torch.tensor([continued(encoding.offsets, text)])  # (1, T)
    shares = (split[0] / 100, split[1] / 100, split[2] / 100)
    rng = torch.Generator()

    def draw() -> tuple[list[int], list[str]]:
        corrupted, labels = mask_tokens(ids, special, vocab, rng, rate / 100, shares, whole_words, joined)
        return corrupted[0].tolist(), fates(ids[0], corrupted[0], labels[0], vocab.mask_id)

    rng.manual_seed(seed)
    read, told = draw()
    budget = int(masking_budget(torch.tensor([n]), rate / 100))
    _show_draw(encoding, [loaded.tokenizer.vocab[number] for number in read], told)
    _show_arithmetic(n, rate, split, budget, told, whole_words)

    lesson.show("Epoch after epoch")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        kinds = {"dynamic": _("dynamic: drawn anew"), "static": _("static: drawn once")}
        drawing = choice("masks", _("Masks"), kinds)
        epochs = st.slider(_("Epochs"), 1, 10, EPOCHS, key="epochs", bind="query-params", width=320)
    rng.manual_seed(seed)
    rows = []
    for _epoch in range(epochs):
        if drawing == "static":
            rng.manual_seed(seed)
        rows.append(draw()[1])
    _show_epochs(encoding, rows, n, drawing, even=not whole_words)

    lesson.show("What it costs")
    _show_cost(n, n - _untouched(encoding, told), rate, split)


def _mask_settings() -> tuple[int, tuple[int, ...], bool, int]:
    """Rate and split in percent, whole words or not, the seed."""
    with st.container(border=True):
        first, others = st.columns([1, 3], gap="large")
        with first:
            rate = st.slider(_("Rate: chosen tokens"), 0, 100, RATE, key="rate", format="%d %%", bind="query-params")
        with others:
            labels = [_("of these: [MASK]"), _("of these: random token"), _("of these: kept")]
            split = share_sliders("split", labels, SPLIT)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            seed = seed_input(SEED)
            whole_words = st.toggle(_("Whole words"), key="whole", bind="query-params")
            st.space("stretch")
            st.button(
                _("The paper's values"),
                key="papers-values",
                icon=":material/restart_alt:",
                on_click=_papers_values,
                disabled=(rate, split, whole_words) == (RATE, SPLIT, False),
            )
    return rate, split, whole_words, seed


def _papers_values() -> None:
    st.session_state["rate"] = RATE
    st.session_state["whole"] = False
    set_shares("split", SPLIT)


def _untouched(encoding, told: list[str]) -> int:
    """How many tokens could have fallen and did not."""
    return sum(fate == "untouched" and not special for fate, special in zip(told, encoding.special, strict=True))


def _show_draw(encoding, read: list[str], told: list[str]) -> None:
    """What the model reads, as chips; under a chosen token, its answer."""
    kinds = {"masked": "mask", "random": "changed", "kept": "kept"}
    below = {"masked": _("was {token}"), "random": _("was {token}"), "kept": _("kept")}
    show_tokens(
        read,
        kinds=[
            "special" if special else kinds.get(fate, "plain")
            for fate, special in zip(told, encoding.special, strict=True)
        ],
        under=[
            below.get(fate, "").replace("{token}", token) for fate, token in zip(told, encoding.tokens, strict=True)
        ],
        label=_("What the model reads"),
    )


def _show_arithmetic(
    n: int, rate: int, split: tuple[int, ...], budget: int, told: list[str], whole_words: bool
) -> None:
    """The budget and its split as a table: what is to be expected, and this draw."""
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
            f"| **{_('this draw')}** | **{asked}** | {' | '.join(f'**{count}**' for count in counts)} |"
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


def _show_epochs(encoding, rows: list[list[str]], n: int, drawing: str, even: bool) -> None:
    """Each epoch's draw as a row; beside its name, how many tokens are asked for the first time. even: all tokens are
    equally likely to be drawn."""
    from plots.masking import mask_rows

    candidates = [i for i, special in enumerate(encoding.special) if not special]
    seen: set[int] = set()
    names = []
    for number, row in enumerate(rows, 1):
        new = {i for i in candidates if row[i] != "untouched"} - seen
        seen |= new
        names.append(_("Epoch {number}: {new} new").format(number=number, new=len(new)))
    shown = candidates[:COLUMNS]
    if len(shown) < n:
        st.caption(
            _("The figure shows the first {shown} of {n} tokens; the numbers count all.").format(shown=COLUMNS, n=n)
        )
    summary = _("After {epochs} epochs {asked} of {n} tokens have been asked at least once: {share:.0%}.").format(
        epochs=len(rows), asked=len(seen), n=n, share=len(seen) / n
    )
    tokens, cells, fates = (
        [visible(encoding.tokens[i]) for i in shown],
        [[r[i] for i in shown] for r in rows],
        fate_names(),
    )
    with st.container(key="wide-epochs"):
        figure(
            mask_rows(tokens, cells, names, names=fates),
            summary,
            "epoch-rows",
            data=lambda: {
                _("token"): tokens,
                **{name: [fates[fate] for fate in row] for name, row in zip(names, cells, strict=True)},
            },
        )
    if drawing == "static":
        st.markdown(f"**{summary}** " + _("More epochs add nothing: the same tokens fall each time."))
        return
    if not even:
        st.markdown(
            f"**{summary}** " + _("A word longer than the budget is passed over: its tokens may never be asked.")
        )
        return
    each = n - _untouched(encoding, rows[0])
    st.markdown(
        f"**{summary}** "
        + _("{epochs} new draws of {each} are expected to reach 1 − (1 − {each}/{n}){power} = {share:.0%}.").format(
            epochs=len(rows), each=each, n=n, power=_power(len(rows)), share=1 - (1 - each / n) ** len(rows)
        )
    )


def _power(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _show_cost(n: int, asked: int, rate: int, split: tuple[int, ...]) -> None:
    """How few tokens teach, and how much of what is read in pre-training is never met again."""
    from plots.masking import percent, what_is_read

    with st.container(key="cost"):
        st.markdown(
            _(
                "In one reading BERT is asked about **{asked}** of {n} tokens ({share:.0%}), a left-to-right model "
                "about all **{n}**. To be asked as often, BERT reads **{times}** times."
            ).format(asked=asked, n=n, share=asked / n, times=f"{n / asked:.1f}" if asked else "∞")
        )
    masked, random, kept = (rate / 100 * share / 100 for share in split)
    figure(
        what_is_read(
            rate / 100,
            (split[0] / 100, split[1] / 100, split[2] / 100),
            rows=(_("Pre-training reads"), _("Fine-tuning reads")),
            names=fate_names(),
        ),
        _(
            "Of the tokens read in pre-training, on average, {masked} are [MASK], {random} random, {kept} kept and "
            "asked, {rest} not asked. In fine-tuning all are ordinary words."
        ).format(masked=percent(masked), random=percent(random), kept=percent(kept), rest=percent(1 - rate / 100)),
        "reading",
    )


# --- what the model expects ---------------------------------------------------------------------------------------


@st.fragment
def blanks(model: str) -> None:
    """Click tokens to hide them; the model fills the blanks."""
    from minibert.inside.cloze import expectations

    lesson.show("Fill the blanks")
    text = sentence_input("cloze", [*plain[1:], with_blank[0]], label=_("Sentence with blanks"), max_chars=MAX_CHARS)
    loaded = load(model)
    warn_untrained(model)
    encoding = _encode_start(loaded, text)
    if encoding is None:
        return
    mask_id = loaded.tokenizer.mask_id
    typed = {i for i, number in enumerate(encoding.ids) if number == mask_id}
    hidden = _hidden_by_clicks(text, encoding, typed)
    with st.container(key="chips", horizontal=True):
        for i, token in enumerate(encoding.tokens[1:-1], 1):
            gone = i in hidden or i in typed
            st.button(
                "[MASK]" if gone else literal(visible(token)),
                key=f"chip-{i}",
                type="primary" if gone else "secondary",
                on_click=_toggle,
                args=(i,),
                help=_("It stands in the text as [MASK]: there is no word to bring back.") if i in typed else None,
            )
    positions = sorted(hidden | typed)
    if not positions:
        st.info(_("Click a word to hide it."), icon=":material/touch_app:")
        return
    k = st.slider(_("Bars for each blank"), 3, 10, 5, key="k", bind="query-params", width=320)
    if len(positions) > PANELS:
        st.caption(_("The bars of the first {shown} of {n} blanks are drawn.").format(n=len(positions), shown=PANELS))
    positions = positions[:PANELS]
    ids = [mask_id if i in hidden else number for i, number in enumerate(encoding.ids)]
    panels = [
        _panel(
            loaded.tokenizer,
            log_probs,
            k,
            _around([loaded.tokenizer.vocab[number] for number in ids], i),
            {} if i in typed else {encoding.ids[i]: "true"},
        )
        for i, log_probs in zip(positions, expectations(loaded.model, ids, positions), strict=True)
    ]
    if any(panel.roles for panel in panels):
        _legend("true")
    _figure_of(panels, "blank-bars")


def _hidden_by_clicks(text: str, encoding, typed: set[int]) -> set[int]:
    """The positions hidden by clicks: from the link, else as they were; in a new text the last word, unless the text
    brings blanks of its own. Keeps the link in step."""
    state = st.session_state
    candidates = {i for i, special in enumerate(encoding.special) if not special}
    start = set() if typed or not candidates else {_last_word(encoding)}
    if follow_link("blanks"):
        parts = st.query_params.get("blanks", _dotted(start)).split(".")
        state["hidden"] = (text, {int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 4})
    elif state.get("hidden", (None,))[0] != text:
        state["hidden"] = (text, start)
    hidden = state["hidden"][1] & candidates
    set_url("blanks", _dotted(hidden), default=_dotted(start))
    return hidden


def _dotted(positions: set[int]) -> str:
    return ".".join(map(str, sorted(positions))) or "0"


def _last_word(encoding) -> int:
    """The last token with a letter in it that may fall; the last that may fall if none has."""
    candidates = [i for i, special in enumerate(encoding.special) if not special]
    return next((i for i in reversed(candidates) if any(map(str.isalpha, encoding.tokens[i]))), candidates[-1])


def _toggle(position: int) -> None:
    """Hide a token, or bring it back. The second half of a double click changes nothing."""
    state = st.session_state
    last, then = state.get("_clicked", (None, 0.0))
    now = time.monotonic()
    state["_clicked"] = (position, now)
    if last == position and now - then < DOUBLE_CLICK:
        return
    text, hidden = state["hidden"]
    state["hidden"] = (text, hidden ^ {position})


@st.fragment
def two_sentences(model: str) -> None:
    """The same blank in two contexts, over the whole vocabulary."""
    from minibert.inside.cloze import expectations, kl_divergence, shifts
    from plots.masking import percent, two_contexts

    lesson.show("One blank, two sentences")
    loaded = load(model)
    warn_untrained(model)
    mask_id, vocab = loaded.tokenizer.mask_id, loaded.tokenizer.vocab
    pairs = list(zip(with_blank[0::2], with_blank[1::2], strict=True))
    chooser = st.container()  # stands above the fields, and is filled when it is known what is in them
    rows, panels = [], []
    for column, key, start in zip(st.columns(2), "ab", pairs[0], strict=True):
        name = key.upper()
        with column:
            text = sentence_input(
                key,
                [],
                default=start,
                label=_("Sentence {name}, with a [MASK]").format(name=name),
                max_chars=MAX_CHARS,
            )
            encoding = loaded.tokenizer.encode(
                text, max_length=loaded.config.max_position_embeddings, truncation="head"
            )
            places = [i for i, number in enumerate(encoding.ids) if number == mask_id]
            if not places:
                st.info(
                    _("Write `[MASK]` in sentence {name} where the blank should be.").format(name=name),
                    icon=":material/edit:",
                )
            else:
                if len(places) > 1:
                    st.caption(_("The first of {n} blanks is compared.").format(n=len(places)))
                rows.append(expectations(loaded.model, encoding.ids, places[:1])[0])
                title = f"{name}: {_around(encoding.tokens, places[0])}"
                panels.append(_panel(loaded.tokenizer, rows[-1], 5, title, {}))
    now = (st.session_state["a"], st.session_state["b"])
    st.session_state["pair"] = pairs.index(now) if now in pairs else None
    chooser.pills(
        _("Pairs"),
        range(len(pairs)),
        format_func=lambda index: literal(_difference(*pairs[index])),
        key="pair",
        on_change=_use_pair,
        args=(pairs,),
    )
    if len(rows) < 2:
        return
    _figure_of(panels, "pair-bars")
    log_p, log_q = rows
    forth, back = kl_divergence(log_p, log_q), kl_divergence(log_q, log_p)
    for column, label, value in zip(
        st.columns(3),
        ("KL(A‖B)", "KL(B‖A)", _("entries of the vocabulary")),
        (_("{x:.3f} nats").format(x=forth), _("{x:.3f} nats").format(x=back), f"{len(vocab):,}"),
        strict=True,
    ):
        column.metric(label, value)
    movers = shifts(log_p, log_q).topk(min(MOVERS, len(vocab))).indices.tolist()
    movers = [i for i in movers if log_p[i] != log_q[i]]
    tokens = [visible(token) for token in vocab]
    if not movers:
        st.info(_("Both sentences are the same to the model: every token is as likely in one as in the other."))
        return
    first = [tokens[i] for i in movers[:5]]
    figure(
        two_contexts(
            tokens,
            log_p,
            log_q,
            movers,
            axes=(_("probability in A"), _("probability in B")),
            names=(_("every token"), _("likelier in A"), _("likelier in B")),
        ),
        _(
            "Every token of the vocabulary by its probability in A and in B. KL(A‖B) {forth:.3f} nats, KL(B‖A) "
            "{back:.3f} nats. The tokens that differ most: {tokens}."
        ).format(forth=forth, back=back, tokens=", ".join(first)),
        "two-contexts",
        data=lambda: {
            _("token"): [tokens[i] for i in movers],
            _("probability in A"): [percent(float(log_p[i].exp())) for i in movers],
            _("probability in B"): [percent(float(log_q[i].exp())) for i in movers],
        },
    )


def _difference(a: str, b: str) -> str:
    """A short name for two sentences: the words they do not share."""
    ours, theirs = a.rstrip(".").split(), b.rstrip(".").split()
    return f"{' '.join(w for w in ours if w not in theirs)} / {' '.join(w for w in theirs if w not in ours)}"


def _use_pair(pairs: list[tuple[str, str]]) -> None:
    chosen = st.session_state["pair"]
    if chosen is not None:
        st.session_state["a"], st.session_state["b"] = pairs[chosen]


# --- why not always [MASK] ----------------------------------------------------------------------------------------


@st.fragment
def three_readings(model: str) -> None:
    """One position shown to the model as [MASK], as another word, and as it is."""
    import torch

    from minibert.inside.cloze import expectations

    lesson.show("Why not always [MASK]")
    text = sentence_input("probe", plain[1:], label=_("Sentence to look into"), max_chars=MAX_CHARS)
    loaded = load(model)
    warn_untrained(model)
    encoding = _encode_start(loaded, text)
    if encoding is None:
        return
    tokenizer = loaded.tokenizer
    candidates = [i for i, special in enumerate(encoding.special) if not special]
    if not candidates:
        st.info(_("Type at least one word that is not a special token."), icon=":material/edit:")
        return
    start = _last_word(encoding)
    if follow_link("at") or st.session_state.get("at") not in candidates:
        asked = url_int("at", start, 0, len(encoding) - 1)
        st.session_state["at"] = asked if asked in candidates else start
    position = st.pills(
        _("Position"), candidates, format_func=lambda i: literal(visible(encoding.tokens[i])), key="at", required=True
    )
    set_url("at", position, default=start)
    if follow_link("swap") or "swap" not in st.session_state:
        st.session_state["swap"] = url_int("swap", 1, 0, MAX_SEED)
    swap = st.session_state["swap"]
    st.button(_("Another random token"), key="swap-again", icon=":material/casino:", on_click=_next_swap)
    set_url("swap", swap, default=1)

    true = encoding.ids[position]
    # Any entry but a special one and the true one, so that there is something to see.
    others = [i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids and i != true]
    other = others[int(torch.randint(len(others), (1,), generator=torch.Generator().manual_seed(swap)))]
    name, other_name = visible(tokenizer.vocab[true]), visible(tokenizer.vocab[other])
    panels, chances = [], []
    for shown, title in (
        (tokenizer.mask_id, _("it reads [MASK]")),
        (other, _("random: {token}").format(token=other_name)),
        (true, _("kept: {token}").format(token=name)),
    ):
        ids = list(encoding.ids)
        ids[position] = shown
        log_probs = expectations(loaded.model, ids, [position])[0]
        marked = {true: "true", other: "shown"} if shown == other else {true: "true"}
        panels.append(_panel(tokenizer, log_probs, 5, title, marked))
        chances.append((float(log_probs[true].exp()), float(log_probs[other].exp())))
    _legend("true", "shown")
    _figure_of(panels, "readings")
    _show_chances(literal(name), literal(other_name), chances)


def _next_swap() -> None:
    st.session_state["swap"] = (st.session_state["swap"] + 1) % (MAX_SEED + 1)


def _show_chances(name: str, other: str, chances: list[tuple[float, float]]) -> None:
    """The two tokens' probabilities in the three readings, and what they say."""
    from plots.masking import percent

    (masked, _masked_other), (swapped, swapped_other), (kept, _kept_other) = chances
    st.markdown(
        _(
            "The probability of **{name}** is {masked} behind `[MASK]`, {kept} when the model reads the word itself, "
            "and {swapped} when it reads **{other}** there. To **{other}**, which it reads, it gives {swapped_other}."
        ).format(
            name=name,
            other=other,
            masked=percent(masked),
            kept=percent(kept),
            swapped=percent(swapped),
            swapped_other=percent(swapped_other),
        )
    )


# --- the paper ----------------------------------------------------------------------------------------------------


def paper_ablation() -> None:
    """Table 8 of the paper, every number of it."""
    from plots.masking import OUTCOMES, ablation

    lesson.show("What the paper measured")
    with (lesson.folder / "table8.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    parts = {"mask": "[MASK]", "same": _("kept"), "random": _("random")}
    strategies = [
        " · ".join(f"{row[column]} % {name}" for column, name in parts.items() if row[column] != "0") for row in table
    ]
    measures = {
        "MNLI fine-tuned": _("MNLI, fine-tuned"),
        "NER fine-tuned": _("NER, fine-tuned"),
        "NER features": _("NER, frozen features"),
    }
    scores = {title: [float(row[column]) for row in table] for column, title in measures.items()}
    words = {"baseline": ("★", _("the paper's mixture")), "no worse": ("●", _("no worse")), "worse": ("◆", _("worse"))}
    legend([(OUTCOMES[outcome][0], symbol, text) for outcome, (symbol, text) in words.items()])
    with st.container(key="wide-ablation"):
        figure(
            ablation(strategies, scores),
            _("Scores on development sets. ")
            + " ".join(
                f"{strategy}: {', '.join(f'{title} {values[i]:.1f}' for title, values in scores.items())}."
                for i, strategy in enumerate(strategies)
            ),
            "ablation",
            data=lambda: {_("strategy"): strategies, **scores},
        )
    st.caption(
        _("Devlin et al. 2019, appendix C.2, table 8. BERT-base; MNLI accuracy, CoNLL-2003 NER F1; development sets.")
    )


def code() -> None:
    from minibert.corruption import mask_tokens
    from minibert.inside.cloze import expectations

    lesson.show("The code")
    show_source(mask_tokens, find="corrupted = ")
    show_source(expectations, find="log_softmax")


# --- shared by the parts ------------------------------------------------------------------------------------------


def _encode_start(loaded, text: str):
    """The first CHIPS tokens between [CLS] and [SEP]; None, with a hint, if there is none."""
    whole = loaded.tokenizer.encode(text)
    room = min(CHIPS + 2, loaded.config.max_position_embeddings)
    if len(whole) == 2:
        st.info(_("Type a sentence."), icon=":material/edit:")
        return None
    if len(whole) > room:
        st.caption(_("This part reads the first {shown} of {n} tokens.").format(shown=room - 2, n=len(whole) - 2))
    return loaded.tokenizer.encode(text, max_length=room, truncation="head")


def _around(tokens: list[str], position: int, width: int = 2) -> str:
    """A token and its neighbours, as the title of a panel."""
    first, last = max(1, position - width), min(len(tokens) - 1, position + width + 1)
    middle = " ".join(visible(token) for token in tokens[first:last])
    return f"{'… ' if first > 1 else ''}{middle}{' …' if last < len(tokens) - 1 else ''}"


def _panel(tokenizer, log_probs, k: int, title: str, marked: dict[int, str]):
    """Bars for one position: the k likeliest tokens, then those of `marked` (id → role) that are not among them, with
    their rank."""
    from minibert.inside.cloze import rank
    from plots.masking import Blank

    best = log_probs.topk(min(k, len(log_probs))).indices.tolist()
    shown = best + [number for number in marked if number not in best]
    notes = {
        place: _("rank {rank:,}").format(rank=rank(log_probs, number))
        for place, number in enumerate(shown)
        if number not in best
    }
    return Blank(
        title,
        [visible(tokenizer.vocab[number]) for number in shown],
        log_probs[shown].exp().tolist(),
        notes,
        roles={shown.index(number): role for number, role in marked.items()},
    )


def _legend(*roles: str) -> None:
    from plots.masking import ROLE_COLOURS, ROLE_SYMBOLS

    words = {"true": _("the token that stood here"), "shown": _("the random token shown in its place")}
    legend([(ROLE_COLOURS[role], ROLE_SYMBOLS[role], words[role]) for role in roles])


def _figure_of(panels: list, key: str) -> None:
    """The panels as bars, in words, and as a table."""
    from plots.masking import expected_tokens, percent

    rows = [
        {
            _("blank"): panel.title,
            _("token"): token,
            _("probability"): percent(prob),
            "": panel.notes.get(i, ""),
        }
        for panel in panels
        for i, (token, prob) in enumerate(zip(panel.tokens, panel.probs, strict=True))
    ]
    words = [
        f"{panel.title}: {', '.join(f'{t} {percent(p)}' for t, p in zip(panel.tokens, panel.probs, strict=True))}."
        for panel in panels
    ]
    with st.container(key=f"{'wide' if len(panels) > 1 else 'narrow'}-{key}"):
        figure(expected_tokens(panels), " ".join(words), key, data=rows)


st.html(STYLE)
lesson.show_title()
lesson.show("The cloze test")
model = model_choice(
    fill=True, label=_("Model: its vocabulary cuts the text, its guesses fill the blanks"), usual=WELL_READ
)
masking(model)
blanks(model)
two_sentences(model)
three_readings(model)
paper_ablation()
code()
lesson.quiz()
next_lesson("masking")
