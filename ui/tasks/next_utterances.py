"""Ranking of candidate replies in a dialogue."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from minibert.tasks.next_utterances import MOST, rank_of
from ui.cases import WRONG, case, paragraph, percent, safe
from ui.figures import figure
from ui.tasks.base import DataSet, Review, TaskView, Values, least_right, read_at, wrong_of
from ui.tasks.forms import hint, lines_field
from ui.text import literal, shorten
from ui.translations import _

BARS = 10  # replies drawn, best first
SPOKEN = "– "  # in front of a turn


class NextUtterancesView(TaskView):
    name = "next-utterance"
    section = "Which reply follows"
    head_lines = "self.classifier"
    small = Values(6, 16, 3e-4)
    fields = ("turns", "choices")
    not_shares = ("mean_reciprocal_rank",)

    def title(self) -> str:
        return _("Which reply?")

    def expected(self) -> str:
        return _(
            "Dialogues: a turn a line, as `Anna: Have you seen my keys?`, a blank line between dialogues; or the "
            "Ubuntu Dialogue Corpus (`Context`, `Ground Truth Utterance`, `Distractor_0` …); or Douban’s lines of "
            "label, turns and reply with tabs between."
        )

    def formats(self) -> dict[str, str]:
        return {
            "dialogues": _("dialogues, a turn a line"),
            "ubuntu": "Ubuntu Dialogue Corpus",
            "grouped": _("label, turns, reply (Douban)"),
        }

    def metric_title(self) -> str:
        return _("recall at 1")

    def floor_title(self) -> str:
        return _("a reply at random")

    def sets(self) -> dict[str, DataSet]:
        note = _("every turn but the first is to be found among five; the dev set has dialogues of its own")
        return {"dialogues": DataSet(self.name, ".txt", _("Dialogues"), note)}

    def in_a_line(self, example) -> str:
        return " / ".join(example.turns)

    def form(self, example, key) -> dict[str, Any] | str | None:
        said = lines_field(f"{key}-turns", _("What was said, a turn a line"), example.turns)[:MOST]
        replies = lines_field(f"{key}-choices", _("Replies to choose from, one a line"), example.choices)[:MOST]
        if not said or len(replies) < 2:
            hint(_("Write a turn and two replies or more, and the model ranks them."))
            return None
        return {"turns": said, "choices": replies}

    def asked(self, example, labels, options) -> str:
        return _(
            "Every reply makes a **row of its own** behind the same dialogue, with `[SEP]` between the turns. "
            "Predicted from {where} in each row: one score; softmax over the {n} scores."
        ).format(where=read_at(options), n=len(example.choices))

    def row_title(self, rows, number) -> str:
        sign = _(" · the right one ✓") if rows[number].right else ""
        return "**" + _("Reply {n}").format(n=number + 1) + "**" + sign

    def headline(self, answer) -> tuple[str, float | None]:
        return shorten(answer["answer"], 120), answer["probabilities"][answer["label"]]

    def show_answer(self, given, answer, key) -> None:
        from plots.answers import probability_bars

        probs, replies = answer["probabilities"], answer["choices"]
        st.markdown(
            _("Ranked first, with a probability of {p} (softmax over the scores of {n} replies): **{reply}**").format(
                reply=literal(shorten(answer["answer"], 300)), p=f"{probs[answer['label']]:.1%}", n=len(replies)
            )
        )
        shown = answer["ranking"][:BARS]
        names = [f"{rank}. {replies[number]}" for rank, number in enumerate(shown, 1)]
        fig = probability_bars(names, [probs[number] for number in shown], {0}, title=_("probability"))
        listed = _("; ").join(f"{name}{_(': ')}{probs[number]:.1%}" for name, number in zip(names, shown, strict=True))
        rows = [
            {_("rank"): rank, _("reply"): replies[number], _("probability"): probs[number]}
            for rank, number in enumerate(answer["ranking"], 1)
        ]
        figure(fig, _("The replies by their rank: {listed}.").format(listed=listed), key=f"{key}-replies", data=rows)

    def review(self, pairs, evaluation, key) -> Review:
        show_ranks([rank_of(said, example["label"]) for example, said in pairs], key)
        items = [mistake(example, said) for example, said in least_right(pairs)]
        return wrong_of(len(items), len(pairs), _("the lowest rank of the right reply first")), items


def show_ranks(ranks: Sequence[int], key: str) -> None:
    """How often the correct reply was ranked first, second …"""
    from plots.answers import probability_bars

    counts = Counter(ranks)
    shown = list(range(1, max(ranks) + 1))
    shares = [counts[rank] / len(ranks) for rank in shown]
    names = [_("rank {n}").format(n=rank) for rank in shown]
    fig = probability_bars(names, shares, {0}, title=_("share of the examples, by the rank of the right reply"))
    listed = _("; ").join(f"{name}{_(': ')}{share:.1%}" for name, share in zip(names, shares, strict=True))
    rows = [{_("rank"): rank, _("examples"): counts[rank]} for rank in shown]
    figure(fig, _("The rank of the right reply. {listed}.").format(listed=listed), key=f"{key}-ranks", data=rows)


def mistake(example: Mapping[str, Any], said: Mapping[str, Any]) -> str:
    body = "".join(paragraph(f"{SPOKEN}{turn}") for turn in example["turns"])
    right, first, probs = example["label"], said["label"], said["probabilities"]
    place = _("rank {n}").format(n=rank_of(said, right))
    rows = [
        (_("truth"), f"{safe(example['choices'][right])} · {safe(place)} · {percent(probs[right])}"),
        (_("answer"), f"{safe(example['choices'][first])} {WRONG} · {percent(probs[first])}"),
    ]
    return case(body, rows)
