"""SemBERT: semantic roles of the user's text, concatenated to its word vectors; pronoun resolution trained with and
without them."""

from functools import partial

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.knowledge import live
from sections.knowledge.subject import Inputs
from ui.errors import translated
from ui.figures import figure
from ui.inputs import numbered, pick, sentence_input
from ui.lesson import Lesson
from ui.limits import say_left_out
from ui.runs import submit, weights_to_begin_with
from ui.source import show_source
from ui.text import literal, tokens_html, visible
from ui.translations import _

START, KIND = CHECKPOINTS / "unilm-toy" / "bert", "knowledge-roles"
MOST_WORDS = 38


def role_names() -> dict[str, str]:
    """Display names of the roles, for under a word."""
    return {
        "none": "–",
        "V": _("verb"),
        "A0": _("who"),
        "A1": _("whom, what"),
        "A2": _("to whom, how"),
        "TMP": _("when"),
        "LOC": _("where"),
        "DIR": _("where to"),
        "ADV": _("besides"),
        "NEG": _("not"),
    }


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.relatives.parts.semantic_roles import RoleVectors, SemBert, WordVectors
    from minibert.toy.roles import predicates

    text = sentence_input(
        "who", lesson.examples_called("roles"), label=_("Text in words of the toy world"), max_chars=300
    )
    picture(text)
    lesson.show("Who does what to whom")
    lesson.show("With roles and without")
    live.train(KIND, _("Train with roles and without"), 400, 150, text, lambda steps: begin(steps, text), draw)
    show_source(predicates, label=_("The roles, from the grammar"))
    show_source(WordVectors.forward, label=_("Pieces become words"))
    show_source(RoleVectors.forward, label=_("Roles become vectors"))
    show_source(SemBert.forward, find="torch.cat", label=_("Glued together"))


def picture(text: str) -> None:
    """The words with their roles, one row per predicate, and one word's joined vector."""
    from minibert.toy.roles import role_rows, words_in

    written = words_in(text)
    words = written[:MOST_WORDS]
    if not words:
        st.info(_("Type a sentence."), icon=":material/edit:")
        return
    say_left_out(len(written) - MOST_WORDS)
    try:
        rows = role_rows(words)
    except ValueError as error:
        st.info(
            _("{why}. Roles come from the grammar of the toy world; an example: anna gave the ball to ben.").format(
                why=literal(translated(error))
            )
        )
        return
    names = role_names()
    titles = (_("The first verb of each sentence"), _("The second, where there is one"))
    for title, row in zip(titles, rows, strict=True):
        if "V" in row:
            st.markdown(f"**{title}**")
            kinds = [{"none": "faded", "V": "changed"}.get(role, "plain") for role in row]
            st.html(tokens_html(words, kinds=kinds, under=[names[role] for role in row], label=title))
    joined(words, rows)


def joined(words: list[str], rows: list[list[str]]) -> None:
    """The joined vector of one word: BERT's word vector, then the role vector."""
    from plots.knowledge import joined_vector

    at = pick("word", _("The vector of"), numbered([visible(word) for word in words]), 0, width=230)
    vector, hidden = vector_of(tuple(words), tuple(map(tuple, rows)), at)
    title = _("“{word}”: {hidden} numbers from BERT, {more} from its roles").format(
        word=visible(words[at], spaces=False), hidden=hidden, more=len(vector) - hidden
    )
    figure(
        partial(joined_vector, vector, hidden, (_("word"), _("roles")), title),
        _("{title}. Before training: what stands on the right has not been learned.").format(title=title),
        "joined",
        wide=True,
    )


@st.cache_data(show_spinner=False, max_entries=200)
def vector_of(words: tuple[str, ...], rows: tuple[tuple[str, ...], ...], at: int) -> tuple[list[float], int]:
    """[word vector; role vector] of an untrained SemBERT, and the index where the second begins."""
    import torch

    from minibert.toy.roles_task import RoleExample, batch_of

    model, tokenizer = untrained()
    activations: dict = {}
    with torch.no_grad():
        model(batch_of([RoleExample(words, rows)], tokenizer), tap=lambda name, x: activations.setdefault(name, x))
    return activations["joined"][0, at].tolist(), activations["words"].size(-1)


@st.cache_resource(show_spinner=False)
def untrained():
    import torch

    from minibert import checkpoint
    from minibert.relatives.parts.semantic_roles import SemBert
    from minibert.toy.roles import MOST, ROLES
    from minibert.toy.roles_task import MEANT

    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = SemBert(checkpoint.load(START).bert, len(MEANT), len(ROLES), MOST).eval()
    return model, checkpoint.load_tokenizer(START)


def begin(steps: int, text: str) -> None:
    from minibert.toy.roles_task import RolesSettings

    for roles, title in ((True, _("with roles")), (False, _("without"))):
        submit(
            "minibert.toy.roles_task:train_roles",
            RolesSettings(steps, roles),
            weights_to_begin_with(START),
            probe_inputs=[text],
            title=title,
            kind=f"{KIND}/{'with' if roles else 'without'}",
        )


def draw(runs: list) -> None:
    """The share of pronouns resolved correctly by step, and the predictions on the user's text."""
    lines, floor = {}, None
    for run in runs:
        marks = live.measured(run)
        lines[run.title] = [(one["step"], one["metrics"]["meant"]) for one in marks]
        floor = marks[-1]["metrics"]["commonest"] if marks else floor
    live.draw_lines(lines, _("pronouns given whom they mean"), "roles-learned")
    if floor is not None:
        st.caption(_("Always giving the commonest answer is right in {floor:.0%}.").format(floor=floor))
    for run in runs:
        if (sample := run.latest("sample")) and (words := meant(sample["answers"][0])):
            st.markdown(f"**{literal(run.title)}** ({_('step {n}').format(n=sample['step'])}){_(': ')}{words}")


def meant(answer: dict) -> str:
    """Whom each pronoun of the user's text refers to."""
    from minibert.toy.pronoun_task import NAMES
    from minibert.toy.roles_task import PERSONAL

    people = list(dict.fromkeys(word for word in answer["words"] if word in NAMES))[:2]
    if len(people) < 2:
        return _("the text names fewer than two people")
    who = [*people, _("both")]
    references = []
    for word, shares in zip(answer["words"], answer["shares"], strict=True):
        if word in PERSONAL:
            best = max(range(len(shares)), key=shares.__getitem__)
            references.append(f"{literal(word)} → {literal(who[best])} {shares[best]:.0%}")
    return " · ".join(references)
