"""Everything that makes HTML of a reader's words: whatever they are, there are the tags and attributes of plain words,
and no others, and the words are there to be read."""

from html.parser import HTMLParser

import pytest

from minibert.tokenizer import Try
from plots import side_by_side, tokenization
from sections.input.row import table
from tests.hostile import HOSTILE
from ui.attributed_text import attributed_html
from ui.cases import case, cases_html, paragraph, safe
from ui.highlights import Highlight, marked_html
from ui.source import source_html
from ui.tasks.choices import choices_html
from ui.text import KINDS, tokens_html, visible

LOOKS = ("bars", "words", "answer")
BAR = side_by_side.Bar
TRIES = {"yes": "id {id}", "no": "no", "skipped": "{n} more", "unk": "id 1"}
MAKERS = {
    "tokens_html": lambda t: tokens_html(
        [t] * len(KINDS), under=[t] * 9, kinds=KINDS, titles=[t] * 9, segments=[0] * 9, targets=[t] * 9, label=t
    ),
    "marked_html": lambda t: marked_html(
        f"a {t} b", [Highlight(0, 1, t, 0), Highlight(2, 2 + len(t), t, 1, dashed=True)], t
    ),
    "attributed_html": lambda t: attributed_html([t, t], [1.0, -0.5], label=t, breaks=[1], titles=[t, t]),
    "cases_html": lambda t: cases_html([case(paragraph(t), [(t, safe(t))])]),
    "choices_html": lambda t: choices_html([t, t, t], chosen=0, truth=1),
    "source_html": lambda t: source_html([f"x = {t!r}"], 1, "x", label=t),
    "input row": lambda t: table([(t, [t, 1])], ["a", "b"], newest=0),
    "side_by_side": lambda t: side_by_side.side_by_side(
        [
            side_by_side.Card(
                t, t, [side_by_side.CardSection(t, look, [BAR(t, 0.5, t, right=True)], t, 0) for look in LOOKS]
            )
        ],
        t,
    ),
    "marked_text": lambda t: tokenization.marked_text([(t, kind, t) for kind in ("", "out", "new")]),
    "boxes": lambda t: tokenization.boxes([[(t, "piece"), (t, "")]], more=t),
    "cards": lambda t: tokenization.cards(
        [[tokenization.ChangedWord([*t[:99], "x"], {0: "out", 1: "changed"}, t)] * 2], more=t
    ),
    "ladder": lambda t: tokenization.ladder(
        [*t[:99], "x"], [Try(0, 1, t, False)], ids={}, words=TRIES, unknown=t, label=t
    ),
    "origins": lambda t: tokenization.origins(
        [*t[:99], "x"], [t] * 2, ["", "unk"], [(0, 1), (0, 0)], [t] * 2, more=t, labels=(t, t)
    ),
}


class Markup(HTMLParser):
    """The tags, with their attributes, and the text of a piece of HTML."""

    def __init__(self, html: str):
        super().__init__()
        self.tags, self.text = set(), ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags |= {(tag, name) for name, _value in attrs if name != "class"} | {(tag, None)}

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", MAKERS)
def test_no_text_becomes_a_tag_or_an_attribute(name):
    plain = Markup(MAKERS[name]("plain words")).tags
    for text in [*HOSTILE.values(), '" onmouseover="alert(1)', "' onclick='alert(1)"]:
        drawn = Markup(MAKERS[name](text))
        assert drawn.tags - {("span", None)} <= plain, text[:99]
        shown = visible(text[:20], spaces=False).strip()
        assert shown in drawn.text or shown in visible(drawn.text, spaces=False) or name == "source_html", text[:99]
