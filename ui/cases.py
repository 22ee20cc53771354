"""Single cases of a dev set: the text, the truth beside the answer, as safe HTML for `st.html`."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

from ui.marked import Mark, between, excerpt, hues, marked_html, placed
from ui.text import visible
from ui.translations import _

WRONG, RIGHT = "✗", "✓"
LETTERS = "ABCDEFGH"


def safe(text: object) -> str:
    return html.escape(visible(str(text), spaces=False))


def paragraph(text: str) -> str:
    return marked_html(text, [])


def case(body: str, rows: Sequence[tuple[str, str]]) -> str:
    """One list item: safe HTML, then (words, safe HTML) rows."""
    said = "".join(f"<dt>{safe(term)}</dt><dd>{value}</dd>" for term, value in rows)
    return f'<li>{body}<dl class="mb-said">{said}</dl></li>'


def cases_html(items: Sequence[str]) -> str:
    return f'<ol class="mb-cases">{"".join(items)}</ol>'


def choices_html(choices: Sequence[str], chosen: int | None = None, truth: int | None = None) -> str:
    """The choices by letter; the chosen one is marked, and so is the right one where it is known."""
    items = []
    for number, choice in enumerate(choices):
        notes = []
        if number == chosen:
            notes.append(_("chosen"))
        if number == truth:
            notes.append(f"{_('right')} {RIGHT}")
        hue = 5 if truth is not None and number == chosen != truth else 2 if number == truth else 0
        text = f"{LETTERS[number]} · {choice}"
        items.append(marked_html(text, [Mark(0, len(text), " · ".join(notes), hue)] if notes else []))
    return "".join(items)


def sure(probability: float) -> str:
    return f"{probability:.1%}"


# --- by task ----------------------------------------------------------------------------------------------------------


def class_case(example: Mapping, said: Mapping) -> str:
    body = paragraph(example["text"])
    if "pair" in example:
        body += paragraph(example["pair"])
    answer = f"{safe(said['label'])} {WRONG} · {sure(said['probabilities'][said['label']])}"
    return case(body, [(_("truth"), safe(example["label"])), (_("answer"), answer)])


def score_case(example: Mapping, said: Mapping) -> str:
    off = said["score"] - example["score"]
    rows = [
        (_("truth"), f"{example['score']:.2f}"),
        (_("answer"), f"{said['score']:.2f} ({off:+.2f})".replace("-", "−")),
    ]
    return case(paragraph(example["text"]) + paragraph(example["pair"]), rows)


def labels_case(example: Mapping, said: Mapping) -> str:
    truth, found, probs = example["labels"] or (), said["labels"], said["probabilities"]

    def listed(labels: Sequence[str], others: Sequence[str], wrong: str) -> str:
        parts = []
        for label in labels:
            p = f" {sure(probs[label])}" if label in probs else ""
            parts.append(f"{safe(label)}{p} {RIGHT if label in others else safe(wrong)}")
        return ", ".join(parts) or safe(_("none"))

    return case(
        paragraph(example["text"]),
        [
            (_("truth"), listed(truth, found, f"{WRONG} {_('missed')}")),
            (_("answer"), listed(found, truth, f"{WRONG} {_('not meant')}")),
        ],
    )


def outcome_names() -> dict[str, str]:
    """What can be the matter with an entity, in the order of a stacked bar."""
    return {
        "right": _("right"),
        "border": _("wrong border"),
        "type": _("wrong type"),
        "both": _("wrong border and type"),
        "missed": _("missed"),
        "invented": _("invented"),
    }


def tags_case(example: Mapping, truth: Sequence[str], said: Mapping, intents: tuple[str, str] = ("", "")) -> str:
    """The text twice: with the entities that are meant and with those that were found; what is wrong is named.

    truth: tags, as those of `said` · intents: safe HTML in front of both texts.
    """
    from minibert.tasks.entity_errors import compare_entities

    text, offsets = placed(example)
    outcomes = compare_entities(truth, said["tags"])
    places = [place for one in outcomes for place in (one.truth, one.said) if place]
    colours = hues(place[2] for place in places)
    names = outcome_names()

    def marks(which: str) -> list[Mark]:
        drawn = []
        for one in outcomes:
            place = getattr(one, which)
            if place is not None:
                start, end, kind = place
                note = "" if one.kind == "right" or (which == "truth" and one.kind != "missed") else names[one.kind]
                label = f"{kind} {RIGHT}" if one.kind == "right" else f"{kind} {WRONG} {note}" if note else kind
                drawn.append(Mark(offsets[start][0], offsets[end - 1][1], label, colours[kind], bool(note)))
        return drawn

    return case(
        "",
        [
            (_("truth"), intents[0] + marked_html(text, marks("truth"))),
            (_("answer"), intents[1] + marked_html(text, marks("said"))),
        ],
    )


def intent_case(example: Mapping, truth: Sequence[str], said: Mapping) -> str:
    sign = RIGHT if said["intent"] == example["intent"] else WRONG
    answer = f"{safe(said['intent'])} {sign} · {sure(said['probabilities'][said['intent']])}"
    return tags_case(example, truth, said, (safe(example["intent"]), answer))


def span_case(example: Any, said: Mapping) -> str:
    """example: a SpanExample, as its answers are places."""
    truth = example.place
    place = None if said["start"] is None else (said["start"], said["end"])
    part, start = excerpt(example.context, [one for one in (truth, place) if one])
    shift = [None if one is None else (one[0] - start, one[1] - start) for one in (truth, place)]
    marks = between(part, *shift, names=(_("truth"), _("answer"), _("truth and answer")))
    before, after = "… " if start else "", " …" if start + len(part) < len(example.context) else ""
    marks = [Mark(m.start + len(before), m.end + len(before), m.label, m.hue, m.dashed) for m in marks]
    meant = " / ".join(dict.fromkeys(answer.text for answer in example.answers or ())) or _("no answer")
    told = said["answer"] or _("no answer")
    rows = [(_("truth"), safe(meant)), (_("answer"), f"{safe(told)} {WRONG} · {sure(said['probability'])}")]
    question = f"<strong>{safe(example.question)}</strong>"
    return case(question + marked_html(f"{before}{part}{after}", marks), rows)


def choice_case(example: Mapping, said: Mapping) -> str:
    body = paragraph(f"{example['context']} {example['question']}".strip())
    body += choices_html(example["choices"], chosen=said["label"], truth=example["label"])
    rows = [
        (_("truth"), f"{LETTERS[example['label']]} · {sure(said['probabilities'][example['label']])}"),
        (_("answer"), f"{LETTERS[said['label']]} {WRONG} · {sure(said['probabilities'][said['label']])}"),
    ]
    return case(body, rows)
