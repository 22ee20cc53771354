"""One pair step by step, from the growing chunk to the model's input."""

import html

import streamlit as st

from ui.stepper import stepper
from ui.text import one_by_one, show_tokens, visible
from ui.translations import _, ngettext

TOKENS = 160  # most tokens drawn


def segments_of(one) -> tuple[list[int], list[int]]:
    return one.pair.a, one.pair.b


def follow(one, store, sentences: list[str], tokenizer, max_length: int) -> None:
    """One pair step by step, from the growing chunk to the model's input."""
    import numpy as np

    steps = [_("grow a chunk"), _("end A"), _("find B"), _("put back"), _("cut"), _("input")]
    step = stepper("step", steps)
    size = len(one.chunk)
    used = set(range(one.end_of_a)) if one.random_next else set(range(size))
    st.markdown(_explain(step, one, max_length))
    if step == 5:
        tokens, segments = ["[CLS]"], [0]
        for segment, places in enumerate(segments_of(one)):
            tokens += [*(tokenizer.vocab[i] for i in store.ids[places].tolist()), "[SEP]"]
            segments += [segment] * (len(places) + 1)
        show_tokens(tokens, under=segments, limit=TOKENS, label=_("What the model reads; below, the segment ids"))
        return
    if step == 4:
        for name, whole, kept in (("A", one.a, one.pair.a), ("B", one.b, one.pair.b)):
            left = set(kept)
            st.markdown(f"**{name}**{_(': ')}" + _("{kept} of {n} tokens stay").format(kept=len(kept), n=len(whole)))
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
    """The sentences and the document that a random B was taken from."""
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
    return html_table(heads, body)


def html_table(heads: list[str], body: str) -> str:
    """heads: texts · body: the rows, safe HTML."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    return f'<div class="ns-rows" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _explain(step: int, one, max_length: int) -> str:
    """What the current step did, with this pair's numbers."""
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
        return one_by_one(
            why,
            _("Another document is drawn, and a place to start in it; {taken}. Label 1, NotNext.").format(taken=taken),
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
