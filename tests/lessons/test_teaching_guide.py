"""The teacher's guide and the road through the paper: their links name pages, parts and settings that are there; and
what the guide puts in “curly quotes” stands on a page of the same step. Read in the source always; before a release
every page and part is opened."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.runtime.state.query_params import QueryParams
from streamlit.runtime.state.query_params_proxy import QueryParamsProxy
from streamlit.testing.v1 import AppTest

from bench.translations import twins
from tests.pages.driver import html_of, open_page, plain
from tests.server import LESSON_PAGES as PAGES

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "lessons" / "TEACHING.md").read_text(encoding="utf-8")
TWINS = {path.suffixes[0][1:]: path.read_text(encoding="utf-8") for path in (ROOT / "lessons").glob("TEACHING.*.md")}
LINK = re.compile(r"`(/[a-z_0-9]*(?:\?[^`]*)?)`")
ROAD = (ROOT / "lessons" / "reading" / "en.md").read_text(encoding="utf-8")
LINKS = sorted({*LINK.findall(GUIDE), *re.findall(r"\]\(<(/.+?)>\)", ROAD)})


def steps(guide: str) -> list[tuple[list[str], list[str]]]:
    """The links and the quotes of each step that has both."""
    found = [(LINK.findall(step), re.findall("“([^”]+)”", step)) for step in re.split(r"\n(?=- |\n|#)", guide)]
    return [(links, quotes) for links, quotes in found if links and quotes]


STEPS = steps(GUIDE)


def parts(link: str) -> tuple[str, dict[str, str]]:
    """The page and the values of a link."""
    url = urlsplit(link)
    return url.path.strip("/") or "home", dict(parse_qsl(url.query, keep_blank_values=True))


def part_of(link: str) -> tuple[str, str]:
    name, query = parts(link)
    return name, query.get("part") or query.get("option") or ""


def in_one_line(text: str) -> str:
    return " ".join(plain(text).replace("**", "").split())


@cache
def source(page: str | None = None) -> str:
    """What a page is made of: its code and lesson; without a page, what all of them share."""
    folders = ("ui", "plots") if page is None else (f"sections/{page}", f"lessons/{page}")
    files = [file for folder in folders for file in sorted((ROOT / folder).rglob("*.*"))]
    files += [] if page is None else [ROOT / "pages" / f"{page}.py"]
    texts = "\n".join(file.read_text("utf-8") for file in files if file.suffix in (".py", ".md", ".toml"))
    whole = re.sub(r'"\s*\n\s*f?"', "", texts)  # a literal in several lines
    return whole if page is None else whole + source()


@cache
def names_in(page: str) -> tuple[set[str], list[str]]:
    """All that may be a name in the page's link; and patterns of those that are put together."""
    texts = re.findall(r'"([^"\n]*)"', source(page))
    composed = {text for text in texts if re.fullmatch(r"[a-z_-]+-(\{[^{}]*\})?|\{[^{}]*\}-[a-z-]+", text)}
    return set(texts), [re.sub(r"\{.*\}", ".+", text) for text in composed]


@pytest.mark.parametrize("page", sorted({parts(link)[0] for link in LINKS}))
def test_a_link_names_a_page_its_part_and_settings_that_it_reads(page):
    assert page in PAGES
    texts, composed = names_in(page)
    for name, query in map(parts, LINKS):
        if name == page:
            unknown = [one for one in query if one not in texts and not any(re.fullmatch(c, one) for c in composed)]
            assert not unknown and query.get("part", "part") in {*texts, "part"}


@pytest.mark.parametrize("links, quotes", STEPS, ids=[links[0] for links, _quotes in STEPS])
def test_what_a_step_quotes_is_said_by_its_pages(links, quotes):
    """Its words, between the numbers and marks: a sentence may be put together."""
    said = "\n".join([*(source(name) for name in {parts(link)[0] for link in links}), *(str(parts(x)) for x in links)])
    pieces = [piece.strip() for quote in quotes for piece in re.split(r"[\d,.:;%]+", in_one_line(quote))]
    assert not [piece for piece in pieces if piece not in in_one_line(said)]


@pytest.mark.parametrize("lang", TWINS)
def test_the_guide_in_another_language_has_the_same_steps_and_quotes_its_pages(lang):
    def outline(guide: str) -> list[str]:
        return re.findall(r"^(?:#+ |- \*\*\d+–\d+ |\|)|`/[^`]*`|\b\d+\.\d+ GB", guide, re.MULTILINE)

    assert outline(TWINS[lang]) == outline(GUIDE)
    texts: dict[str, list[str]] = {}
    for one in twins(lang):
        texts.setdefault(one.lesson, []).append(one.other)
    unsaid = []
    for links, quotes in steps(TWINS[lang]):
        names = {parts(link)[0] for link in links}
        said = [
            *(source(name) for name in names),
            *(text for name in (*names, "shared") for text in texts.get(name, [])),
        ]
        pieces = [piece.strip() for quote in quotes for piece in re.split(r"[\d,.:;%，。：；]+", in_one_line(quote))]
        unsaid += [(links[0], piece) for piece in pieces if piece not in in_one_line("\n".join(said))]
    assert not unsaid


class Visit(NamedTuple):
    """asked: the names that the page has looked for in its link · kept: what its link says afterwards · told: all the
    words on it: prose, tables, what figures say, and what stands on and in widgets."""

    asked: set[str]
    kept: dict[str, str]
    told: str


@cache
def visit(link: str) -> Visit:
    name, query = parts(link)
    assert name in PAGES, f"{link}: there is no such page"
    asked = set()
    read, bind = QueryParamsProxy.__getitem__, QueryParams.bind_widget

    def reading(self, key):
        asked.add(key)
        return read(self, key)

    def binding(self, param_key, *arguments, **options):
        asked.add(param_key)
        return bind(self, param_key, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QueryParamsProxy, "__getitem__", reading)
        patch.setattr(QueryParams, "bind_widget", binding)
        app = open_page(name, **query)
    kept = {name: value if isinstance(value, str) else value[0] for name, value in app.query_params.items()}
    return Visit(asked, kept, words_of(app))


def words_of(app: AppTest) -> str:
    words = [block.value for kind in (app.markdown, app.caption, app.info, app.success) for block in kind]
    words += [box.value for box in (*app.text_input, *app.text_area)]
    boxes = (app.button, app.toggle, app.slider, app.metric, app.radio, app.selectbox, app.pills, app.segmented_control)
    words += [text for kind in boxes for box in kind for text in (box.label, *map(str, getattr(box, "options", [])))]
    words += [text for chart in app.get("plotly_chart") for text in (chart.proto.alt, chart.proto.spec)]
    words += [str(table.value) for table in app.table]
    return plain("\n".join(words)).replace("**", "") + plain(re.sub(r"<[^>]*>", " ", html_of(app)))


FULLEST = {part_of(link): link for link in sorted(LINKS, key=lambda link: len(parts(link)[1]))}


@pytest.mark.release
@pytest.mark.parametrize("link", FULLEST.values())
def test_each_page_and_part_opens_in_the_state_of_its_link(link):
    seen, (_name, query) = visit(link), parts(link)
    assert set(query) <= seen.asked, f"the page knows nothing of {sorted(set(query) - seen.asked)}"
    wrong = {name: value for name, value in query.items() if seen.kept.get(name) != value}
    assert not wrong, f"the page does not take {wrong}; its link is {seen.kept}"


COUNTED = [(links, some) for links, quotes in STEPS if (some := [quote for quote in quotes if re.search(r"\d", quote)])]


@pytest.mark.release
@pytest.mark.parametrize("links, quotes", COUNTED, ids=[links[0] for links, _quotes in COUNTED])
def test_the_numbers_that_a_step_quotes_are_those_of_its_pages(links, quotes):
    words = " ".join(" ".join(visit(link).told for link in links).split())
    assert not [quote for quote in quotes if " ".join(quote.split()) not in words]


def section(title: str) -> str:
    return re.split(rf"## {title}.*\n", GUIDE)[1].split("\n## ")[0]


def test_every_page_has_its_place_in_the_course_and_every_lesson_its_misunderstanding():
    misunderstood, taught = (
        {parts(link)[0] for link in LINK.findall(section(title))}
        for title in ("What students usually misunderstand", "A course of five")
    )
    assert misunderstood == PAGES - {"examination"} and taught >= PAGES


@pytest.mark.parametrize(
    "title, minutes",
    [("A class of 45 minutes", [45]), ("A class of 90 minutes", [90]), ("A course of five", [90] * 8)],
)
def test_the_minutes_follow_each_other(title, minutes):
    ends, last = [], 0
    for start, end in re.findall(r"^- \*\*(\d+)–(\d+) ", section(title), re.MULTILINE):
        if int(start) == 0 and last:
            ends.append(last)
            last = 0
        assert int(start) == last < int(end)
        last = int(end)
    assert [*ends, last] == minutes
