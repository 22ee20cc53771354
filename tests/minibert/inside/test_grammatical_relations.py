"""Relations by chunks: hand-made sentences with every answer, and what is left unsaid where chunks cannot tell."""

import re
from collections import Counter

import pytest

from minibert.folders import ROOT
from minibert.inside.heads.grammatical_relations import RELATIONS, relations
from minibert.inside.probes.tasks import read_columns


def found(sentence: str) -> set[str]:
    """The relations of a sentence written as chunks, `[NP the/DT dog/NN] [VP barked/VBD] ./.`: "det the dog" …"""
    words, pos, chunks = [], [], []
    for chunk in re.findall(r"\[.*?\]|\S+", sentence):
        kind, *inside = chunk.strip("[]").split() if chunk.startswith("[") else ("", chunk)
        for place, part in enumerate(inside):
            word, _, tag = part.rpartition("/")
            words.append(word)
            pos.append(tag)
            chunks.append(f"{'I' if place else 'B'}-{kind}" if kind else "O")
    return {f"{one.name} {words[one.dependent]} {words[one.head]}" for one in relations(words, pos, chunks)}


# A passive has no subject of this kind; where a comma stands between, nothing is said.
TOLD = """
[NP The/DT old/JJ king/NN] [VP had/VBD seen/VBN] [NP his/PRP$ tired/JJ horse/NN] ./.
det The king|amod old king|aux had seen|nsubj king seen|poss his horse|amod tired horse|dobj horse seen
[NP The/DT book/NN] [VP was/VBD not/RB written/VBN] [PP by/IN] [NP the/DT queen/NN] ./.
det The book|auxpass was written|det the queen|pobj queen by
[NP It/PRP] [VP has/VBZ been/VBN being/VBG read/VBN] ./.
aux has read|aux been read|auxpass being read
[NP The/DT king/NN] [NP 's/POS new/JJ crown/NN] [VP fell/VBD] [PP into/IN] [NP the/DT well/NN] ./.
det The king|poss king crown|amod new crown|nsubj crown fell|det the well|pobj well into
[NP The/DT man/NN] [PP in/IN] [NP the/DT hat/NN] [VP picked/VBD] [NP it/PRP] [PRT up/RP] ./.
det The man|pobj hat in|det the hat|nsubj man picked|dobj it picked|prt up picked
[NP She/PRP] [VP wanted/VBD to/TO use/VB] [NP a/DT film/NN camera/NN] ./.
nsubj She wanted|aux to use|det a camera|dobj camera use
[NP Anna/NNP] ,/, [NP who/WP] [VP plays/VBZ] [NP chess/NN] ,/, [VP won/VBD] ./.
nsubj who plays|dobj chess plays
""".strip().splitlines()


@pytest.mark.parametrize(("sentence", "expected"), zip(TOLD[::2], TOLD[1::2], strict=True))
def test_every_relation_of_a_sentence(sentence, expected):
    assert found(sentence) == set(expected.split("|"))


@pytest.mark.parametrize(
    ("sentence", "not_said"),
    [
        ("[NP He/PRP] [VP gave/VBD] [NP her/PRP] [NP a/DT book/NN] ./.", "dobj"),  # two objects
        ("[NP He/PRP] [VP slept/VBD] [NP last/JJ night/NN] ./.", "dobj"),
        ("[NP He/PRP] [VP became/VBD] [NP a/DT baker/NN] ./.", "dobj"),
        ("[NP He/PRP] [VP saw/VBD] [NP the/DT boy/NN] [VP run/VB] ./.", "dobj"),  # the one who runs
        ("[NP A/DT storm/NN] [VP called/VBN] [NP Olga/NNP] [VP came/VBD] ./.", ("dobj", "nsubj")),
        ("``/`` [NP Yes/NN] ,/, ''/'' [VP said/VBD] [NP Anna/NNP] ./.", "dobj"),
        ("[NP Anna/NNP] and/CC [NP Tom/NNP] [VP left/VBD] ./.", "nsubj"),
        ("[NP Anna/NNP] [VP is/VBZ] [ADJP ill/JJ] ./.", "nsubj"),  # her head is "ill"
        ("[PP After/IN] [NP the/DT king/NN] [VP left/VBD] ,/, [NP we/PRP] [VP ate/VBD] ./.", "pobj"),
        ("[NP France/NNP and/CC Germany/NNP] [VP agreed/VBD] ./.", "nsubj"),
        ("[NP More/JJR than/IN three/CD people/NNS] [VP came/VBD] ./.", "amod"),
        ("[SBAR that/IN] [NP it/PRP] [VP rained/VBD] ./.", "pobj"),
        ("[NP They/PRP] [VP are/VBP to/TO leave/VB] ./.", "aux are"),
    ],
)
def test_what_chunks_cannot_tell_is_not_said(sentence, not_said):
    assert not [one for one in found(sentence) if one.startswith(not_said)]


def test_iob1_and_iob2_are_the_same():
    words, pos = ["The", "dog", "saw", "Tom", "Sunday"], ["DT", "NN", "VBD", "NNP", "NNP"]
    one = relations(words, pos, ["I-NP", "I-NP", "I-VP", "I-NP", "B-NP"])
    assert one == relations(words, pos, ["B-NP", "I-NP", "B-VP", "B-NP", "B-NP"])
    assert [found.name for found in one] == ["det", "nsubj", "dobj"]


def test_our_sentences_hold_every_relation():
    counts, folder = Counter(), ROOT / "lessons" / "data" / "entities"
    for part in ("train.txt", "dev.txt"):
        for words, pos, chunks, _names in read_columns((folder / part).read_bytes(), part):
            seen = relations(words, pos, chunks)
            assert all(one.dependent != one.head for one in seen)
            assert len({(one.name, one.dependent) for one in seen}) == len(seen)  # a word has one head in a relation
            counts.update(one.name for one in seen)
    assert min(counts[name] for name in RELATIONS) >= 20 and counts["dobj"] > 250, counts


NEWS = ROOT.parent / "shared" / "data" / "tasks" / "en" / "conll2003" / "eng.testa"


@pytest.mark.skipif(not NEWS.is_file(), reason="CoNLL-2003 is not in ../shared/data/tasks")
def test_real_news_is_read():
    counts = Counter(
        one.name
        for words, pos, chunks, _names in read_columns(NEWS.read_bytes(), NEWS.name)
        for one in relations(words, pos, chunks)
    )
    assert min(counts[name] for name in RELATIONS) > 100 and counts["dobj"] > 1_000
