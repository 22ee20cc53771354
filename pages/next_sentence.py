"""Next sentence: how BERT's second question is made from documents, how a model answers, and why it was too easy."""

import csv
import html

import streamlit as st

from ui.figures import figure, legend
from ui.inputs import MAX_SEED, choice, seed_input, sentence_input
from ui.lesson import LESSONS, Lesson
from ui.models import WELL_READ, available_models, load, model_choice, version_of, warn_untrained
from ui.navigation import next_lesson
from ui.source import show_source
from ui.state import follow_link, set_url, url_int
from ui.stepper import stepper
from ui.text import literal, shorten, show_tokens, visible
from ui.translations import _, ngettext

# What imports torch or plotly is imported where it is first needed: the page shows before that.

DOCUMENTS = LESSONS / "data" / "documents"
SHOWN_DOCUMENTS = (2, 4, 12, 21)  # of topics.txt, to build pairs from at the start
LENGTH, SHORT, SEED = 48, 10, 1
MAX_CHARS = 8_000
PAIRS = 30  # of those made, shown
SENTENCES = 10  # a document has at most, in the figure of shares
SNIPPET = 70  # characters of a segment in the table of pairs
TOKENS = 160  # drawn
CHARS_JUDGED = 2_000
ROUND = 10  # pairs to guess

STYLE = """<style>
.ns-rows { overflow-x: auto; }
.ns-rows table { border-collapse: separate; border-spacing: 0 4px; width: 100%; font-size: 1.1rem; }
.ns-rows th { text-align: left; font-weight: 600; padding: 0.2rem 0.6rem; border: 0; white-space: nowrap; }
.ns-rows td { padding: 0.35rem 0.6rem; border: 0; vertical-align: top; }
.ns-rows td.ns-n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; width: 1%; }
.ns-rows td.ns-role { font-weight: 700; white-space: nowrap; width: 1%; }
.ns-rows tr.ns-a td { background: rgba(0, 114, 178, 0.16); }
.ns-rows tr.ns-a td:first-child { box-shadow: inset 6px 0 0 rgb(0, 114, 178); }
.ns-rows tr.ns-b td { background: rgba(230, 159, 0, 0.2); }
.ns-rows tr.ns-b td:first-child { box-shadow: inset 6px 0 0 rgb(230, 159, 0); }
.ns-rows tr.ns-chunk td { background: rgba(128, 134, 145, 0.18); }
.ns-rows tr.ns-chunk td:first-child { box-shadow: inset 6px 0 0 rgb(128, 134, 145); }
.ns-rows tr.ns-back td { background: rgba(204, 121, 167, 0.2); }
.ns-rows tr.ns-back td:first-child { box-shadow: inset 6px 0 0 rgb(204, 121, 167); }
.ns-rows tr.ns-out td { opacity: 0.62; }
.ns-rows tr.ns-chosen td { background: rgba(128, 134, 145, 0.22); }
[class*="st-key-cut-"] .mb-faded bdi { text-decoration: line-through 2px; }
[class*="st-key-passage-"] p { font-size: 1.2rem; line-height: 1.55; }
.stPlotlyChart :is([class$="tick"] text, .annotation-text, .textpoint text, .bartext-outside) {
  fill: currentColor !important; }
.st-key-documents :is(textarea, :has(> textarea)) { height: 260px !important; }
.st-key-a :has(> textarea), .st-key-b :has(> textarea) { height: auto !important; }
:is(.st-key-a, .st-key-b) textarea { field-sizing: content; min-height: 9rem; height: auto !important; }
.st-key-guess button p { font-size: 1.1rem; }
.st-key-kinds-table table { font-size: 1.05rem; font-variant-numeric: tabular-nums; }
.st-key-kinds-table { overflow-x: auto; }
/* On a phone what stands side by side is scrolled, not squeezed. */
@media (max-width: 760px) {
  [class*="st-key-wide-"] { overflow-x: auto; }
  [class*="st-key-wide-"] .stElementContainer { min-width: 720px; }
}
</style>"""

lesson = Lesson("next_sentence")


def kind_names() -> dict[str, str]:
    return {
        "next": _("what really follows"),
        "elsewhere": _("another document, another topic"),
        "topic": _("another document, same topic"),
        "apart": _("same document, not adjacent"),
        "swapped": _("the true pair, swapped"),
    }


def short_names() -> dict[str, str]:
    return {
        "next": _("next"),
        "elsewhere": _("another topic"),
        "topic": _("same topic"),
        "apart": _("same document"),
        "swapped": _("swapped"),
    }


@st.cache_data(show_spinner=False)
def bundled() -> tuple[list[list[str]], list[int]]:
    """The documents of the course and, for each, the number of its topic."""
    from minibert.text.documents import read_documents

    first, again = (list(read_documents([DOCUMENTS / f"{name}.txt"])) for name in ("topics", "again"))
    return first + again, [*range(len(first)), *range(len(again))]


# --- how pairs are made ---------------------------------------------------------------------------------------------


@st.fragment
def making(model: str) -> None:
    """The reader's documents, cut into pairs; one of them followed step by step."""
    from minibert.inside.next_sentence import decisions, documents_in
    from minibert.text.documents import DataError, split_sentences
    from minibert.text.segment_pairs import segment_pairs, truncate_pair
    from minibert.text.store import TokenStore

    lesson.show("How pairs are made")
    documents, _topics = bundled()
    start = "\n\n".join("\n".join(documents[i]) for i in SHOWN_DOCUMENTS)
    text = sentence_input(
        "documents",
        [start, *(example.strip() for example in lesson.examples)],
        label=_("Documents, with a blank line between them"),
        max_chars=MAX_CHARS,
        multiline=True,
    )
    max_length, short, seed = _making_settings()
    tokenizer = load(model).tokenizer
    own = documents_in(text)
    try:
        store = TokenStore.build(own, tokenizer)
    except DataError:
        st.info(_("Type or paste some text."), icon=":material/edit:")
        return
    sentences = [sentence for lines in own for line in lines for sentence in split_sentences(line)]
    made = decisions(store, max_length, seed, short / 100)
    if len(store) < 2:
        st.warning(
            _("There is only one document: no random B can be drawn. Put a blank line where the next one begins."),
            icon=":material/looks_one:",
        )
    if not made:
        return
    made.sort(key=lambda one: (one.document, one.chunk[0][0]))
    chosen = _show_pairs(made, store, tokenizer)
    _follow(made[chosen], store, sentences, tokenizer, max_length)
    show_source(segment_pairs, find="random_next", label=_("The code that made the pairs"))
    show_source(truncate_pair, label=_("The code that cuts a pair to length"))

    lesson.show("Why more than half are random")
    _show_shares(text, model, max_length, short, seed)


def _making_settings() -> tuple[int, int, int]:
    """Places in the model's input, chance of a shorter target in percent, seed."""
    with st.container(border=True):
        left, right = st.columns(2, gap="large")
        with left:
            length = st.slider(
                _("Longest input, with [CLS] and [SEP]"), 16, 128, LENGTH, 4, key="length", bind="query-params"
            )
        with right:
            short = st.slider(
                _("Chance of a shorter target"), 0, 100, SHORT, key="short", format="%d %%", bind="query-params"
            )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            seed = seed_input(SEED)
    return length, short, seed


def _answer(random_next: bool) -> str:
    return _("random") if random_next else _("next")


def _show_pairs(made: list, store, tokenizer) -> int:
    """All pairs as a table; returns the number of the one to follow."""
    random = sum(one.random_next for one in made)
    st.markdown(
        ngettext("**{n} pair**", "**{n} pairs**", len(made)).format(n=len(made))
        + ": "
        + _("{next} continue their document, **{random} have a random B ({share:.0%})**.").format(
            next=len(made) - random, random=random, share=random / len(made)
        )
    )
    shown = min(len(made), PAIRS)
    if follow_link("pair") or st.session_state.get("pair") not in range(shown):
        st.session_state["pair"] = url_int("pair", 1, 1, shown) - 1
    chosen = st.pills(
        _("Follow a pair"),
        range(shown),
        format_func=lambda i: f"{i + 1} · {_answer(made[i].random_next)}",
        key="pair",
        required=True,
    )
    set_url("pair", chosen + 1, default=1)
    rows = []
    for i, one in enumerate(made[:shown]):
        texts = [shorten(tokenizer.decode(store.ids[part].tolist()), SNIPPET) for part in _segments(one)]
        cells = [
            f'<td class="ns-n">{i + 1}</td><td class="ns-n">{one.document + 1}</td>',
            *(f"<td><bdi>{html.escape(text)}</bdi></td>" for text in texts),
            f'<td class="ns-role">{html.escape(_answer(one.random_next))}</td>',
            f'<td class="ns-n">{len(one.pair.a) + len(one.pair.b) + 3}</td>',
        ]
        rows.append(f'<tr class="{"ns-chosen" if i == chosen else ""}">{"".join(cells)}</tr>')
    heads = ["", _("document"), "A", "B", _("label"), _("tokens")]
    with st.expander(_("All pairs as a table"), icon=":material/table_rows:"):
        st.html(
            f'<div class="ns-rows" tabindex="0"><table><thead><tr>'
            f"{''.join(f'<th>{html.escape(head)}</th>' for head in heads)}</tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></div>"
        )
        if shown < len(made):
            st.caption(_("The first {shown} of {n}.").format(shown=shown, n=len(made)))
    return chosen


def _segments(one) -> tuple[list[int], list[int]]:
    return one.pair.a, one.pair.b


def _follow(one, store, sentences: list[str], tokenizer, max_length: int) -> None:
    """One pair, from the growing chunk to the model's input."""
    import numpy as np

    steps = [_("grow a chunk"), _("end A"), _("find B"), _("put back"), _("cut"), _("input")]
    step = stepper("step", steps)
    size = len(one.chunk)
    used = set(range(one.end_of_a)) if one.random_next else set(range(size))
    st.markdown(_explain(step, one, max_length))
    if step == 5:
        tokens, segments = ["[CLS]"], [0]
        for segment, places in enumerate(_segments(one)):
            tokens += [*(tokenizer.vocab[i] for i in store.ids[places].tolist()), "[SEP]"]
            segments += [segment] * (len(places) + 1)
        show_tokens(tokens, under=segments, limit=TOKENS, label=_("What the model reads; below, the segment ids"))
        return
    if step == 4:
        for name, whole, kept in (("A", one.a, one.pair.a), ("B", one.b, one.pair.b)):
            left = set(kept)
            st.markdown(f"**{name}**: " + _("{kept} of {n} tokens stay").format(kept=len(kept), n=len(whole)))
            with st.container(key=f"cut-{name}"):
                show_tokens(
                    [tokenizer.vocab[i] for i in store.ids[whole].tolist()],
                    kinds=["plain" if place in left else "faded" for place in whole],
                    limit=TOKENS,
                )
        return

    def sentence_of(place: int) -> int:
        return int(np.searchsorted(store.sentences, place, side="right")) - 1

    numbers = [sentence_of(chunk[0]) for chunk in one.chunk]
    rows = []
    running = 0
    first = store.documents[one.document]
    for number in range(first, store.documents[one.document + 1]):
        length = int(store.sentences[number + 1] - store.sentences[number])
        css, role, total = "ns-out", "", ""
        if number in numbers:
            place = numbers.index(number)
            css, role = "ns-chunk", _("chunk")
            running += length
            total = str(running)
            if step >= 1:
                css, role = ("ns-a", "A") if place < one.end_of_a else ("ns-chunk", "")
            if step >= 2 and place >= one.end_of_a and place in used:
                css, role = "ns-b", "B"
            if step >= 3 and place not in used:
                css, role = "ns-back", _("back")
        rows.append((css, role, number - first + 1, sentences[number], length, total))
    heads = ["", _("sentence"), _("text of document {n}").format(n=one.document + 1), _("tokens"), _("sum")]
    st.html(_sentence_table(heads, rows))
    if one.random_next and step >= 2:
        _show_random_b(one, store, sentences, sentence_of)


def _show_random_b(one, store, sentences: list[str], sentence_of) -> None:
    """Where a random B was taken from."""
    numbers = sorted({sentence_of(place) for place in one.b})
    document = int((store.documents <= numbers[0]).sum()) - 1
    rows, running = [], 0
    for number in numbers:
        length = int(store.sentences[number + 1] - store.sentences[number])
        running += length
        rows.append(("ns-b", "B", number - int(store.documents[document]) + 1, sentences[number], length, str(running)))
    heads = ["", _("sentence"), _("text of document {n}, drawn").format(n=document + 1), _("tokens"), _("sum")]
    st.html(_sentence_table(heads, rows))


def _sentence_table(heads: list[str], rows: list[tuple]) -> str:
    body = "".join(
        f'<tr class="{css}"><td class="ns-role">{html.escape(role)}</td><td class="ns-n">{number}</td>'
        f"<td><bdi>{html.escape(visible(text, spaces=False))}</bdi></td>"
        f'<td class="ns-n">{length}</td><td class="ns-n">{total}</td></tr>'
        for css, role, number, text, length, total in rows
    )
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    return f'<div class="ns-rows" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _explain(step: int, one, max_length: int) -> str:
    """What the step has just done, with this pair's numbers."""
    size, budget = len(one.chunk), max_length - 3
    length = sum(map(len, one.chunk))
    if step == 0:
        target = (
            _("The target is {target} tokens: {length} − 3 for `[CLS]` and two `[SEP]`.").format(
                target=one.target, length=max_length
            )
            if one.target == budget
            else _("For this document a shorter target was drawn: {target} of 2 … {budget} tokens.").format(
                target=one.target, budget=budget
            )
        )
        end = _("the target is reached") if length >= one.target else _("the document ends")
        grown = ngettext(
            "Sentences are taken until {end}: **{n} sentence, {tokens} tokens**.",
            "Sentences are taken until {end}: **{n} sentences, {tokens} tokens**.",
            size,
        ).format(end=end, n=size, tokens=length)
        return f"{target} {grown}"
    if step == 1:
        if size == 1:
            return _("The chunk is a single sentence: it is A, and nothing is left for B.")
        return _(
            "A ends after **{n}** of the {size} sentences: drawn evenly from 1 … {last}, so that at least one is left."
        ).format(n=one.end_of_a, size=size, last=size - 1)
    if step == 2:
        if not one.random_next:
            return _("The coin says **next**: the rest of the chunk is B. Label 0, IsNext.")
        why = (
            _("There is nothing to continue with, so B is **random** without a coin.")
            if size == 1
            else _("The coin says **random**.")
        )
        room = one.target - len(one.a)
        taken = (
            _("sentences are taken until {room} tokens are there or it ends").format(room=room)
            if room > 0
            else _("one sentence is taken, as A alone reaches the target")
        )
        return (
            why
            + " "
            + _("Another document is drawn, and a place to start in it; {taken}. Label 1, NotNext.").format(taken=taken)
        )
    if step == 3:
        if not one.put_back:
            return _("Nothing is left over: every sentence of the chunk is used.")
        return ngettext(
            "**{n} sentence** of the chunk is not used. It is put back: the next chunk begins with it.",
            "**{n} sentences** of the chunk are not used. They are put back: the next chunk begins with them.",
            len(one.put_back),
        ).format(n=len(one.put_back))
    if step == 4:
        total, kept = len(one.a) + len(one.b), len(one.pair.a) + len(one.pair.b)
        if total == kept:
            return _("{total} tokens fit into {budget} places: nothing is cut.").format(total=total, budget=budget)
        return _(
            "{total} tokens for {budget} places: **{lost} are cut**. Each time the longer of the two loses one, at its "
            "front or its back, as a coin falls."
        ).format(total=total, budget=budget, lost=total - kept)
    return _(
        "`[CLS]` A `[SEP]` B `[SEP]`: {n} tokens, label **{label}** ({name}). Below each token, its segment."
    ).format(
        n=len(one.pair.a) + len(one.pair.b) + 3,
        label=one.pair.next_label,
        name="NotNext" if one.random_next else "IsNext",
    )


@st.cache_data(show_spinner=False, max_entries=64)
def random_shares_of(text: str, model: str, max_length: int, short: int, seed: int) -> list[tuple[int, int]]:
    """(random, all) pairs if each document ended after 1, 2, 3 … sentences."""
    from minibert.inside.next_sentence import documents_in, random_share
    from minibert.text.store import TokenStore

    store = TokenStore.build(documents_in(text), load(model).tokenizer)
    longest = min(SENTENCES, int((store.documents[1:] - store.documents[:-1]).max()))
    return [random_share(store, n, max_length, seed, short / 100) for n in range(1, longest + 1)]


def _show_shares(text: str, model: str, max_length: int, short: int, seed: int) -> None:
    from plots.next_sentence import random_shares

    counts = random_shares_of(text, model, max_length, short, seed)
    counts = [(random, n) for random, n in counts if n]
    if not counts:
        st.info(_("It takes two documents to draw a random B."), icon=":material/looks_two:")
        return
    shares = [random / n for random, n in counts]
    sentences = list(range(1, len(shares) + 1))
    figure(
        random_shares(sentences, shares, (_("sentences in a document"), _("random pairs"))),
        _("Share of random pairs with documents of {list}. Dotted: one half.").format(
            list="; ".join(
                ngettext("{n} sentence: {share:.0%}", "{n} sentences: {share:.0%}", n).format(n=n, share=share)
                for n, share in zip(sentences, shares, strict=True)
            )
        ),
        "shares",
        data=lambda: [
            {_("sentences in a document"): n, _("random"): random, _("pairs"): total}
            for n, (random, total) in zip(sentences, counts, strict=True)
        ],
    )


# --- judged live ----------------------------------------------------------------------------------------------------


@st.cache_data(show_spinner=False, max_entries=24)
def measured(model: str, version: int, sentences: int):
    """minibert.inside.next_sentence.measure over the documents of the course; computed once for everyone."""
    from minibert.inside.next_sentence import measure

    loaded = load(model)
    return measure(loaded.model, loaded.tokenizer, *bundled(), sentences=sentences)


@st.cache_resource(show_spinner=False, max_entries=8)
def topic_judge(model: str, version: int):
    """The judge of topic alone, and what it says of the documents' pairs."""
    from minibert.inside.next_sentence import TopicOverlap, TopicVerdicts, probes

    loaded = load(model)
    overlap = TopicOverlap(loaded.model, loaded.tokenizer, bundled()[0])
    return overlap, TopicVerdicts.of(overlap, probes(*bundled()))


@st.fragment
def judged(model: str) -> None:
    """A and B of the reader's own, or an example of each kind, and what the model says."""
    from minibert.inside.next_sentence import KINDS, judge, probes
    from plots.next_sentence import judgement

    lesson.show("Judged live")
    warn_untrained(model)
    windows: dict[int, dict] = {}
    for probe in probes(*bundled()):
        windows.setdefault(probe.window, {})[probe.kind] = probe
    examples = [kinds for kinds in windows.values() if len(kinds) == len(KINDS)]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kind = choice("kind", _("Example: B is"), short_names())
        if follow_link("example") or st.session_state.get("example") not in range(len(examples)):
            st.session_state["example"] = url_int("example", 1, 1, len(examples)) - 1
        st.button(
            _("Another example"), key="another", icon=":material/casino:", on_click=_next_example, args=(len(examples),)
        )
    number = st.session_state["example"]
    set_url("example", number + 1, default=1)
    probe = examples[number][kind]
    if st.session_state.get("filled", (kind, number)) != (kind, number):
        st.session_state["a"], st.session_state["b"] = probe.a, probe.b
    st.session_state["filled"] = (kind, number)
    texts = []
    for column, name, start in zip(st.columns(2, gap="large"), "AB", (probe.a, probe.b), strict=True):
        with column:
            texts.append(
                sentence_input(
                    name.lower(), [], label=name, default=start, multiline=True, max_chars=CHARS_JUDGED
                ).strip()
            )
    a, b = texts
    if not (a and b):
        st.info(_("Write something in both fields."), icon=":material/edit:")
        return
    loaded = load(model)
    forth, back = judge(loaded.model, loaded.tokenizer, [(a, b), (b, a)]).tolist()
    rows = {_("A, then B"): forth, _("B, then A"): back}
    figure(
        judgement(rows),
        _("Probability of IsNext: A, then B {forth:.1%}; B, then A {back:.1%}.").format(forth=forth, back=back),
        "judgement",
        data=rows,
    )
    if (a, b) == (probe.a.strip(), probe.b.strip()):
        st.markdown(_("**In truth:** {kind}.").format(kind=kind_names()[kind]) + " " + _told(kind))
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
            verdict=_("next") if cosine >= bound else _("not next"),
        )
    )
    show_source(judge, find="nsp(pooled)")


def _next_example(count: int) -> None:
    st.session_state["example"] = (st.session_state["example"] + 1) % count


def _told(kind: str) -> str:
    """What pre-training said about pairs of a kind."""
    if kind == "next":
        return _("Pre-training called such pairs IsNext.")
    if kind in ("elsewhere", "topic"):
        return _("Pre-training called such pairs NotNext.")
    return _("Pre-training never showed such a pair.")


# --- guess yourself -------------------------------------------------------------------------------------------------


@st.fragment
def guessing(model: str) -> None:
    """Ten pairs: first the learner's answer, then the truth, the model's, and that of the topic alone."""
    from minibert.inside.next_sentence import deal, probes

    lesson.show("Guess yourself first")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        against = choice(
            "against",
            _("The pairs"),
            {"elsewhere": _("BERT: next or from elsewhere"), "swapped": _("ALBERT: in order or swapped")},
        )
        if follow_link("round") or "round" not in st.session_state:
            st.session_state["round"] = url_int("round", 1, 0, MAX_SEED)
        st.button(_("New round"), key="new-round", icon=":material/casino:", on_click=_new_round)
    number = st.session_state["round"]
    set_url("round", number, default=1)
    asked = probes(*bundled())
    dealt = deal(asked, against, ROUND, number)
    state = st.session_state.setdefault("guesses", {})
    given: list[bool] = state.setdefault((against, number), [])
    turned = st.session_state.setdefault("turned", {})
    at = turned.get((against, number), 0)  # the pair on the table; answered if a guess has been given
    if at < ROUND:
        st.progress(at / ROUND, text=_("Pair {n} of {all}").format(n=at + 1, all=ROUND))
    else:
        _show_score(model, asked, dealt, given)
        return
    probe = asked[dealt[at]]
    for name, text in (("A", probe.a), ("B", probe.b)):
        with st.container(border=True, key=f"passage-{name}"):
            st.markdown(f"**{name}** &nbsp; {literal(text)}")
    if len(given) <= at:
        with st.container(key="guess", horizontal=True, gap="small"):
            words = (
                (_("B follows A"), _("B is from elsewhere"))
                if against == "elsewhere"
                else (_("A comes before B"), _("B comes before A"))
            )
            for answer, label, icon in zip((True, False), words, (":material/check:", ":material/close:"), strict=True):
                st.button(
                    label, key=f"guess-{answer}", icon=icon, on_click=_guess, args=((against, number), at, answer)
                )
        return
    _reveal(model, asked, dealt[at], given[at])
    st.button(
        _("Next pair") if at + 1 < ROUND else _("See the score"),
        key="turn",
        type="primary",
        icon=":material/arrow_forward:",
        on_click=_turn,
        args=((against, number), at),
    )


def _new_round() -> None:
    st.session_state["round"] = (st.session_state["round"] + 1) % (MAX_SEED + 1)


def _guess(key: tuple, at: int, answer: bool) -> None:
    given = st.session_state["guesses"][key]
    if len(given) == at:  # a second, hasty click does not answer the next pair
        given.append(answer)


def _turn(key: tuple, at: int) -> None:
    st.session_state["turned"][key] = at + 1


def _answers(model: str, asked: list, rows: list[int]) -> tuple[list[float], list[bool]]:
    """(the model's probabilities of IsNext, what topic alone says) of some of the pairs."""
    from minibert.inside.next_sentence import judge

    loaded = load(model)
    probs = judge(loaded.model, loaded.tokenizer, [(asked[row].a, asked[row].b) for row in rows])
    _overlap, verdicts = topic_judge(model, version_of(model))
    return probs.tolist(), verdicts.follows[rows].tolist()


def _mark(right: bool) -> str:
    return "✓" if right else "✗"


def _reveal(model: str, asked: list, row: int, guess: bool) -> None:
    """The truth, and who was right."""
    (prob,), (topic,) = _answers(model, asked, [row])
    truth = asked[row].kind == "next"
    line = _("In truth: **{kind}**. You {you} · the model {model} (IsNext {p:.0%}) · topic only {topic}").format(
        kind=kind_names()[asked[row].kind],
        you=_mark(guess == truth),
        model=_mark((prob > 0.5) == truth),
        p=prob,
        topic=_mark(topic == truth),
    )
    (st.success if guess == truth else st.error)(line)


def _show_score(model: str, asked: list, dealt: list[int], given: list[bool]) -> None:
    probs, topic = _answers(model, asked, dealt)
    truths = [asked[row].kind == "next" for row in dealt]
    answers = {
        _("You"): given,
        _("The model"): [prob > 0.5 for prob in probs],
        _("Topic only"): topic,
    }
    for column, (name, said) in zip(st.columns(3), answers.items(), strict=True):
        right = sum(one == truth for one, truth in zip(said, truths, strict=True))
        column.metric(name, _("{right} of {all}").format(right=right, all=ROUND), border=True)
    with st.expander(_("Pair by pair"), icon=":material/table_rows:"):
        st.table(
            [
                {
                    "A": literal(asked[row].a),
                    "B": literal(asked[row].b),
                    _("in truth"): kind_names()[asked[row].kind],
                    **{name: _mark(said[i] == truths[i]) for name, said in answers.items()},
                }
                for i, row in enumerate(dealt)
            ]
        )
    st.caption(
        _("Ten pairs are few: guessing blindly gets 7 or more right in one round of six. The figure below counts many.")
    )


# --- topic against coherence ----------------------------------------------------------------------------------------


@st.fragment
def kinds(model: str) -> None:
    """All kinds of B, judged by the model and by topic alone; then a new layer that is taught order."""
    from minibert.inside.next_sentence import TopicOverlap, measure
    from minibert.statistics import wilson
    from plots.next_sentence import Share, judged_next
    from plots.theme import GREY

    lesson.show("Topic against coherence")
    warn_untrained(model)
    if follow_link("sentences") or st.session_state.get("sentences") not in (1, 2, 3):
        st.session_state["sentences"] = url_int("sentences", 2, 1, 3)
    sentences = st.segmented_control(
        _("Sentences in A and in B"), [1, 2, 3], key="sentences", required=True, width="content"
    )
    set_url("sentences", sentences, default=2)
    with st.spinner(_("Judging all pairs …")):
        result = measured(model, version_of(model), sentences)
    names = kind_names()
    shares: dict[str, list[Share]] = {_("the model"): [], _("topic only"): []}
    table = []
    for kind in result.rows:
        *counts, n = result.judged_next(kind)
        cells = []
        for judge_name, count in zip(shares, counts, strict=True):
            low, high = wilson(count, n)
            shares[judge_name].append(Share(count / n, low, high))
            cells.append(f"{count}\u00a0=\u00a0{count / n:.1%} ({low * 100:.0f}\u2060–\u2060{high:.0%})")
        *wins, n = result.ranked_higher(kind)
        ranks = ["–", "–"] if kind == "next" else [f"{win / n:.1%}" for win in wins]
        table.append([short_names()[kind], str(n), *cells, *ranks])
    labels = [f"{names[kind]} " for kind in result.rows]
    legend([(GREY, "▌", _("what would be right"))])
    with st.container(key="wide-kinds"):
        figure(
            judged_next(labels, shares, [float(kind == "next") for kind in result.rows], _("judged “next”")),
            " ".join(
                _("{kind}: judged “next” by the model {a:.0%}, by topic only {b:.0%}.").format(
                    kind=names[kind], a=one.value, b=other.value
                )
                for kind, one, other in zip(result.rows, *shares.values(), strict=True)
            ),
            "kinds",
        )
    heads = [
        _("B is"),
        _("pairs"),
        _("model: “next”"),
        _("topic only: “next”"),
        _("model: true B higher"),
        _("topic only: true B higher"),
    ]
    with st.container(key="kinds-table"):
        st.markdown("\n".join(f"| {' | '.join(row)} |" for row in (heads, [":--", *["--:"] * 5], *table)))
    _conclude(result)
    lesson.show("What you see")
    show_source(measure, label=_("The code that measured this"))
    show_source(TopicOverlap, label=_("The judge that knows no order"))
    new_head(model, sentences)


def _conclude(result) -> None:
    """What the numbers say, in words that fit whatever they are."""
    from minibert.statistics import wilson

    head, topic = result.accuracy("elsewhere")
    lines = [
        _(
            "**Topic.** On BERT's own question, true continuation or another topic, the model is right in "
            "**{model:.1%}** of the cases, topic alone in **{topic:.1%}** (both kinds weighing the same)."
        ).format(model=head, topic=topic)
    ]
    for kind, title, what in (
        ("swapped", _("Order."), _("the same two passages swapped")),
        ("apart", _("Adjacency."), _("a passage from elsewhere in the same document")),
    ):
        wins, _topic, n = result.ranked_higher(kind)
        low, high = wilson(wins, n)
        if low <= 0.5 <= high:
            verdict = _("That cannot be told from guessing.")
        elif low > 0.5:
            verdict = _("That is more than guessing.")
        else:
            verdict = _("That is less than guessing.")
        lines.append(
            _(
                "**{title}** It gives the true pair more than {what} in **{wins:g} of {n}** cases, {share:.1%} (95% "
                "interval {low:.0%} – {high:.0%}). {verdict}"
            ).format(title=title, what=what, wins=wins, n=n, share=wins / n, low=low, high=high, verdict=verdict)
        )
    st.markdown("\n".join(f"- {line}" for line in lines))


# --- a new head -----------------------------------------------------------------------------------------------------


@st.cache_data(show_spinner=False, max_entries=24)
def taught(model: str, version: int, sentences: int) -> dict[str, tuple[int, int]]:
    from minibert.inside.next_sentence import probes, teach_order

    loaded = load(model)
    return teach_order(loaded.model, loaded.tokenizer, probes(*bundled(), sentences=sentences))


def new_head(model: str, sentences: int) -> None:
    """Is order missing in the encoder's vectors, or does nobody read it? A layer is trained to find out."""
    from minibert.inside.next_sentence import teach_order
    from minibert.statistics import wilson

    lesson.show("Can it be taught?")
    key = (model, sentences)
    if st.button(_("Train two layers on order"), key="teach", icon=":material/play_arrow:", type="primary"):
        st.session_state["taught"] = key
    if st.session_state.get("taught") == key:
        with st.spinner(_("Reading the pairs, then training …")):
            results = taught(model, version_of(model), sentences)
        titles = {"pooled": _("reads [CLS], as the head does"), "means": _("reads the mean vector of A and of B")}
        for column, (name, (right, n)) in zip(st.columns(2), results.items(), strict=True):
            low, high = wilson(right, n)
            column.metric(titles[name], f"{right / n:.1%}", border=True)
            column.caption(
                _("{right} of {n} right; 95% interval {low:.0%} – {high:.0%}; guessing: 50%.").format(
                    right=right, n=n, low=low, high=high
                )
            )
    show_source(teach_order)


# --- other papers ---------------------------------------------------------------------------------------------------


def _read(name: str) -> list[dict[str, str]]:
    with (lesson.folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def papers() -> None:
    """What was published about leaving the question out, and about making it harder."""
    from plots.next_sentence import trained_and_asked, with_and_without

    lesson.show("Was it of any use?")
    titles = {"bert": "BERT (Devlin et al. 2019)", "roberta": "RoBERTa (Liu et al. 2019)"}
    scores: dict[str, dict[str, tuple[float, float]]] = {}
    for row in _read("nsp_or_not.csv"):
        scores.setdefault(titles[row["paper"]], {})[row["task"]] = (float(row["with"]), float(row["without"]))
    with st.container(key="wide-papers"):
        figure(
            with_and_without(scores, (_("better without it"), _("worse without it"))),
            " ".join(
                _("{paper}, with and without next sentence prediction: {list}.").format(
                    paper=paper,
                    list="; ".join(f"{task} {one:.1f} → {other:.1f}" for task, (one, other) in tasks.items()),
                )
                for paper, tasks in scores.items()
            ),
            "papers",
            data=lambda: [
                {_("paper"): paper, _("task"): task, _("with"): one, _("without"): other}
                for paper, tasks in scores.items()
                for task, (one, other) in tasks.items()
            ],
        )
    st.caption(
        _(
            "With → without, in points; development sets, base-size models; F1 for SQuAD, else accuracy. BERT: §5.1, "
            "table 5, “No NSP”. RoBERTa: §4.2, table 2, SEGMENT-PAIR → DOC-SENTENCES; medians of five seeds."
        )
    )
    lesson.show("The question made harder")
    trainings = {"none": _("masked words only"), "nsp": _("+ next sentence"), "sop": _("+ sentence order")}
    asked = (_("asked: next or from elsewhere?"), _("asked: in order or swapped?"))
    rows = {trainings[row["trained"]]: (float(row["nsp"]), float(row["sop"])) for row in _read("albert.csv")}
    with st.container(key="wide-albert"):
        figure(
            trained_and_asked(rows, asked),
            _("Accuracy in percent by what the model was trained on.")
            + " "
            + " ".join(f"{name}: {asked[0]} {one:.1f}; {asked[1]} {other:.1f}." for name, (one, other) in rows.items()),
            "albert",
            data=lambda: [
                {_("trained on"): name, asked[0]: one, asked[1]: other} for name, (one, other) in rows.items()
            ],
        )
    st.caption(_("Accuracy in percent. Lan et al. 2020 (ALBERT), §4.6, table 5, intrinsic tasks; ALBERT-base."))


st.html(STYLE)
lesson.show_title()
lesson.show("A second question")
model = model_choice(
    judge=True, label=_("Model: its vocabulary cuts the text, its next-sentence head judges"), usual=WELL_READ
)
asked_for_order = [literal(info.title) for info in available_models() if info.objective == "mlm+sop"]
if asked_for_order:
    st.caption(
        _(
            "Not among them: {names}. Such a model was asked in pre-training whether two segments stand in their "
            "order, never whether one follows the other."
        ).format(names=", ".join(asked_for_order))
    )
making(model)
judged(model)
guessing(model)
counted = st.container()  # filled last: nothing waits while hundreds of pairs are judged
papers()
lesson.quiz()
next_lesson("next_sentence")
with counted:
    kinds(model)
