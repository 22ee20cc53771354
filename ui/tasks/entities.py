"""Shared by tasks that tag words: entities marked in the text, counts of error types, ground truth beside the
prediction."""

from collections.abc import Mapping, Sequence

import streamlit as st

from ui.cases import RIGHT, WRONG, case
from ui.figures import figure
from ui.highlights import Highlight, hues, marked_html, placed
from ui.text import literal, shorten, visible
from ui.translations import _, ngettext


def entities_words(answer: Mapping) -> str:
    """The predicted entities in a few words, plain text."""
    found = [f"{entity['text']} ({entity['type']})" for entity in answer["entities"]]
    return shorten(_(", ").join(found), 120) or _("no entity")


def entities_sentence(answer: Mapping) -> str:
    """The predicted entities in a sentence of Markdown."""
    count = len(answer["entities"])
    if not count:
        return _("**No entity** was found.")
    words = ngettext("**{n} entity:** {which}", "**{n} entities:** {which}", count)
    return words.format(n=count, which=literal(entities_words(answer)))


def show_entities(answer: Mapping) -> None:
    """Draw the text with the predicted entities marked."""
    text, offsets = placed(answer)
    colours = hues(entity["type"] for entity in answer["entities"])
    marks = [
        Highlight(offsets[e["start"]][0], offsets[e["end"] - 1][1], e["type"], colours[e["type"]])
        for e in answer["entities"]
    ]
    st.html(marked_html(text, marks, label=_("Entities in the text")))


def tag_table(answer: Mapping, probabilities: Sequence[float]) -> None:
    with st.expander(_("The tag of every word, with its probability"), icon=":material/table_rows:", type="compact"):
        st.dataframe(
            [
                {_("word"): visible(word, spaces=False), _("tag"): tag, _("probability"): 100 * p}
                for word, tag, p in zip(answer["words"], answer["tags"], probabilities, strict=True)
            ],
            hide_index=True,
            column_config={_("probability"): st.column_config.NumberColumn(format="%.1f %%")},
        )


def outcome_names() -> dict[str, str]:
    """Outcome of an entity → its label, in the order of the stacked bars."""
    return {
        "right": _("right"),
        "border": _("wrong border"),
        "type": _("wrong type"),
        "both": _("wrong border and type"),
        "missed": _("missed"),
        "invented": _("invented"),
    }


def show_outcomes(rows: Sequence[tuple[Sequence[str], Sequence[str]]], by_type: Mapping, key: str) -> None:
    """Outcomes and scores of the entities by type. rows: (true tags, predicted tags)."""
    from minibert.tasks.entity_errors import count_outcomes
    from plots.answers import outcome_bars

    counts = count_outcomes(rows)
    if not counts:
        st.markdown(_("There is no entity, neither meant nor found."))
        return
    names = outcome_names()
    fig = outcome_bars(counts, names, _("entities"))
    total = {kind: sum(by[kind] for by in counts.values()) for kind in names}
    listed = _("; ").join(f"{names[kind]}{_(': ')}{count}" for kind, count in total.items())
    table = [{_("type"): kind, **{names[one]: by[one] for one in names}} for kind, by in counts.items()]
    alt = _("What became of the entities of each type; an invented one counts for the type it was given. {listed}.")
    figure(fig, alt.format(listed=listed), key=f"{key}-entities", data=table)
    if by_type:
        share = st.column_config.NumberColumn(format="%.1f %%")
        st.dataframe(
            [
                {
                    _("type"): visible(kind, spaces=False),
                    _("precision"): 100 * values["precision"],
                    _("recall"): 100 * values["recall"],
                    _("F1"): 100 * values["f1"],
                    _("entities"): int(values["count"]),
                }
                for kind, values in by_type.items()
            ],
            hide_index=True,
            column_config={_("precision"): share, _("recall"): share, _("F1"): share},
        )


def tags_case(example: Mapping, truth: Sequence[str], said: Mapping, intents: tuple[str, str] = ("", "")) -> str:
    """The text twice, with the true and with the predicted entities; errors are named.

    truth: true tags · said: prediction with `tags` · intents: safe HTML in front of each text.
    """
    from minibert.tasks.entity_errors import compare_entities

    text, offsets = placed(example)
    outcomes = compare_entities(truth, said["tags"])
    places = [place for one in outcomes for place in (one.truth, one.said) if place]
    colours = hues(place[2] for place in places)
    names = outcome_names()

    def marks(which: str) -> list[Highlight]:
        drawn = []
        for one in outcomes:
            place = getattr(one, which)
            if place is not None:
                start, end, kind = place
                note = "" if one.kind == "right" or (which == "truth" and one.kind != "missed") else names[one.kind]
                label = f"{kind} {RIGHT}" if one.kind == "right" else f"{kind} {WRONG} {note}" if note else kind
                drawn.append(Highlight(offsets[start][0], offsets[end - 1][1], label, colours[kind], bool(note)))
        return drawn

    return case(
        "",
        [
            (_("truth"), intents[0] + marked_html(text, marks("truth"))),
            (_("answer"), intents[1] + marked_html(text, marks("said"))),
        ],
    )
