"""What the family teaches: where the points came from, and the road to BERT."""

import tomllib
from functools import partial

from sections.family.subject import Inputs
from ui.figures import figure
from ui.lesson import Lesson
from ui.navigation import link_to
from ui.predict import predict
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.family import gains

    lesson.show("What the family teaches", title=False)
    paper = tomllib.loads((lesson.folder / "paper.toml").read_text(encoding="utf-8"))
    base = paper["bert"]
    rows = [(_(one["name"]), round(one["mnli"] - base, 1)) for one in paper["row"]]
    kinds = [one["kind"] for one in paper["row"]]
    by_training, by_objective = kinds.index("data"), kinds.index("objective")  # the first of each: same training text
    options = [_("a new objective and network (XLNet)"), _("only more careful training (RoBERTa)")]
    question = _("On the text of Wikipedia and books, which gained more over BERT-large?")
    if not predict("gained", question, options, int(rows[by_training][1] > rows[by_objective][1]), about=""):
        return
    figure(
        partial(
            gains,
            rows,
            kinds,
            _("points of MNLI above BERT-large"),
            _("The same network, trained better: {n:+.1f} points").format(n=rows[by_training][1]),
        ),
        _("MNLI, dev: BERT-large {base}; {told}. From {source}.").format(
            base=base, told=_("; ").join(f"{name} {points:+.1f}" for name, points in rows), source=paper["source"]
        ),
        "family-gains",
    )
    lesson.show("Two lessons", level=3)


def show_road(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The road to BERT", title=False)
    link_to("embeddings", label=_("One word, several meanings: see it in Embeddings"))
