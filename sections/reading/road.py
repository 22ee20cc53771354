"""A chapter of the paper: a line for each paragraph, with links to the pages that show it."""

import re
from urllib.parse import parse_qsl, urlsplit

import streamlit as st

from ui.lesson import Lesson
from ui.navigation import find_page, link_to
from ui.page import picture
from ui.text import literal
from ui.translations import _

NUMBER_AND_UNIT = "\u00a0%"  # stay on one line
LINK = re.compile(r"\[(.+?)\]\(<(/.+?)>\)")


def show(lesson: Lesson, chapter: str) -> None:
    """The section `chapter` of the lesson: its table with links in two columns, then what the road itself adds."""
    blocks = lesson.section(chapter)[1].split("\n\n")
    with picture():
        for block in blocks:
            if LINK.search(block):
                _paragraphs(block)
    if rest := [block for block in blocks if not LINK.search(block)]:
        with st.container(key="added"):
            st.markdown("\n\n".join(rest), width=980)


def _paragraphs(table: str) -> None:
    """The rows of a table: where in the paper | what it says | links."""
    for number, line in enumerate(table.splitlines()[2:]):
        where, words, links = (cell.strip() for cell in line.strip("| ").split(" | "))
        with st.container(key=f"line-{number}"):
            told, seen = st.columns([5, 3], gap="medium", vertical_alignment="center")
            told.markdown(f":small[{where}]  \n{words.replace(' %', NUMBER_AND_UNIT)}")
            with seen, st.container(horizontal=True, gap="small"):
                for label, address in LINK.findall(links):
                    _see(label, address)


def _see(label: str, address: str) -> None:
    url = urlsplit(address)
    page = find_page(url.path.strip("/"))
    if page is not None:
        query = dict(parse_qsl(url.query)) or None
        link_to(page.name, f"**{page.title}**{_(': ')}{literal(label)}", query_params=query, width="content")
