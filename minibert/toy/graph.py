"""The facts of the toy world that hold in every story, as a knowledge graph. An entity's name is the word for it."""

from __future__ import annotations

from functools import cache

from minibert.knowledge.transe import Graph
from minibert.toy import lexicon


@cache
def toy_graph() -> Graph:
    facts = [(name, "is a", kind) for kind, names in (("girl", lexicon.GIRLS), ("boy", lexicon.BOYS)) for name in names]
    facts += [("girl", "is called", "she"), ("boy", "is called", "he")]
    facts += [(word, "asks for", thing) for thing, words in lexicon.WEATHER.items() for word in words.split()]
    for (state, act), events in lexicon.EVENTS.items():
        facts += [(event, "makes one", state) for event in events.split()] + [(state, "so that one", act)]
    facts += [(word, "wants", gift) for gift, words in lexicon.NEEDS.items() for word in words.split()]
    for one, many in (lexicon.NOUNS["thing"] | lexicon.NOUNS["key"]).items():
        facts.append((one, "in numbers", many))
    return Graph(tuple(facts))
