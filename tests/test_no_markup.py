"""A reader's text never becomes markup: what is handed to anything that draws Markdown or HTML comes from the course
itself, is a number, or has been through `ui.text.literal` (for HTML: `html.escape`).

The code is read, not run. What is handed over is followed back through names, loops, calls and returned values, up to
what holds a reader's text: a text field, the link, a file's name, an error's words, and the attributes in `READERS`.
What comes from elsewhere (prose, records, numbers) is trusted. Lists that another function fills are not followed.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from minibert.text.parsing import undisturbed

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("pages", "sections", "ui", "plots")
# Attributes that hold what a reader has typed, uploaded or named, or what a model has made of it.
OF_A_READER = """
    text texts first second sentence sentences tokens token words word pieces cleaned lowered decomposed hidden written
    context question choices extra label labels prompt vocab error intent pattern facts line"""
READERS = set(OF_A_READER.split())
NAMED = {("run", "title"), ("file", "name"), ("uploaded", "name")}
FIELDS = {"text_input", "text_area", "chat_input", "sentence_input"}
# Functions whose value is no text of the reader: numbers, and words of ours.
NUMBERS = {"len", "int", "float", "round", "sum", "abs", "ord", "tex", "type", "bool", "any", "all", "range", "index"}
NUMBERS |= {"count", "item", "mean", "tolist", "argmax", "isinstance", "hash", "id", "figure", "button", "toggle"}
ESCAPES = {"markdown": {"literal", "as_script"}, "html": {"literal", "as_script", "escape"}}
ESCAPES["html"] |= {"boxes", "cards", "marked_text"}  # which tests/ui/test_renderers.py gives every hostile text
# Method → places of the arguments that are drawn as Markdown. Everything that has a label draws that so.
LABELLED = """
    button caption checkbox chat_message dialog download_button error expander file_uploader form_submit_button header
    info latex link_button markdown multiselect number_input page_link pills popover radio select_slider
    segmented_control selectbox slider spinner status subheader success table tabs text_area text_input title toast
    toggle warning write"""
MARKDOWN = dict.fromkeys(LABELLED.split(), (0,)) | {"metric": (0, 1, 2), "progress": (1,), "page_link": (1,)}
OPTIONS = ("pills", "radio", "segmented_control")  # what can be chosen is Markdown, too
NAMES = {"body", "label", "help", "delta", "text"}


class Scope:
    """A module, class, function or lambda: what is bound to each name in it, and what it returns."""

    def __init__(self, node: ast.AST, parent: "Scope | None", file: str):
        self.node, self.parent, self.file = node, parent, file
        self.bound: dict[str, list] = defaultdict(list)  # (its kind, what it is, where that stands)
        self.returns: list[ast.expr] = []
        given = getattr(node, "args", None)
        every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg] if given else []
        self.parameters = {one.arg: one for one in every if one}

    def of(self, name: str) -> "Scope | None":
        """Where the name is bound: here or around."""
        scope = self
        while scope and name not in scope.bound and name not in scope.parameters:
            scope = scope.parent
        return scope


class Reader(ast.NodeVisitor):
    """Fills a scope and those in it."""

    def __init__(self, code: "Code", scope: Scope):
        self.code, self.scope = code, scope

    def bind(self, target: ast.expr, value: ast.expr, each: bool = False) -> None:
        """each: the target gets what is in the value, one after another."""
        if isinstance(target, ast.Name):
            self.scope.bound[target.id].append(("value", value, self.scope))
        elif isinstance(target, ast.Tuple | ast.List):
            for part, its in zip(target.elts, parts(value, len(target.elts), each), strict=True):
                self.bind(part, its, each)
        elif isinstance(target, ast.Subscript | ast.Starred):
            self.bind(target.value, value)

    def visit_Assign(self, node):
        for target in node.targets:
            self.bind(target, node.value)
        self.generic_visit(node)

    def visit_target(self, node):
        if node.value is not None:
            self.bind(node.target, node.value)
        self.generic_visit(node)

    visit_AnnAssign = visit_AugAssign = visit_NamedExpr = visit_target

    def visit_For(self, node):
        self.bind(node.target, node.iter, each=True)
        self.generic_visit(node)

    visit_comprehension = visit_For

    def visit_withitem(self, node):
        if node.optional_vars is not None:
            self.bind(node.optional_vars, node.context_expr)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        if node.name:
            self.scope.bound[node.name].append(("error", node, self.scope))
        self.generic_visit(node)

    def visit_ImportFrom(self, node):
        for alias in node.names:
            self.scope.bound[alias.asname or alias.name].append(("import", (node.module, alias.name), self.scope))

    def inside(self, node, *parts: ast.AST) -> Scope:
        scope = node.scope = Scope(node, self.scope, self.scope.file)
        for part in parts:
            Reader(self.code, scope).visit(part)
        return scope

    def visit_FunctionDef(self, node):
        for part in [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(part)
        self.scope.bound[node.name].append(("function", self.inside(node, *node.body), self.scope))

    def visit_ClassDef(self, node):
        scope = self.inside(node, *node.body)
        self.scope.bound[node.name].append(("class", scope, self.scope))
        for name, (kind, method, _where) in ((name, bound[0]) for name, bound in scope.bound.items()):
            if kind == "function":
                self.code.methods[name].append(method)

    def visit_Lambda(self, node):
        self.inside(node, node.body).returns.append(node.body)

    def visit_Return(self, node):
        if node.value is not None:
            self.scope.returns.append(node.value)
            self.visit(node.value)

    visit_Yield = visit_YieldFrom = visit_Return

    def visit_Call(self, node):
        name = called(node)
        self.code.calls[name].append((node, self.scope))
        if name in ("append", "insert", "extend", "add", "update", "setdefault") and node.args:
            filled = node.func.value
            while isinstance(filled, ast.Subscript | ast.Call | ast.Attribute):
                filled = filled.func if isinstance(filled, ast.Call) else filled.value
            if isinstance(filled, ast.Name) and (scope := self.scope.of(filled.id)):
                scope.bound[filled.id].append(("value", node.args[-1], self.scope))
        self.generic_visit(node)


def called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def parts(value: ast.expr, count: int, each: bool) -> list[ast.expr]:
    """What each of `count` names gets of the value, as far as its form says so."""
    if not each and isinstance(value, ast.Tuple | ast.List) and len(value.elts) == count:
        return value.elts
    if each and isinstance(value, ast.Call) and called(value) == "zip" and len(value.args) == count:
        return value.args
    if each and isinstance(value, ast.Call) and called(value) == "enumerate" and count == 2:
        return [ast.Constant(0), value.args[0]]
    if each and isinstance(value, ast.Tuple | ast.List):
        rows = [row.elts for row in value.elts if isinstance(row, ast.Tuple) and len(row.elts) == count]
        if len(rows) == len(value.elts):
            return [ast.Tuple(list(column)) for column in zip(*rows, strict=True)]
    if isinstance(value, ast.Call) and not each:
        return [ast.Subscript(value, ast.Constant(place)) for place in range(count)]
    return [value] * count


def is_tuple(value: ast.expr, place: int | None) -> bool:
    return isinstance(value, ast.Tuple) and place is not None and place < len(value.elts)


class Code:
    """All files, and what of a reader's text goes where."""

    def __init__(self, files: dict[str, str]):
        self.calls, self.methods, self.modules = defaultdict(list), defaultdict(list), {}
        for file, source in files.items():
            tree = undisturbed(ast.parse, source)
            scope = self.modules[file.removesuffix(".py").replace("/", ".")] = Scope(tree, None, file)
            Reader(self, scope).visit(tree)
        self.asked: set = set()  # what is being followed now: a name may be made of itself

    def holes(self) -> dict[str, str]:
        """Where a reader's text is handed on as it is: "the file: the text", to where that is."""
        found, asked, todo = {}, set(), []

        def hand(values: Iterable[ast.expr], scope: Scope, kind: str, node: ast.Call) -> None:
            for what, where in (one for value in values for one in self.texts(value, scope, kind)):
                if isinstance(what, str):
                    key = (what, where, kind)
                    if key not in asked:
                        asked.add(key)
                        todo.append(key)
                else:
                    where = f"line {node.lineno}: {called(node)} draws it as {kind}"
                    found[f"{scope.file}: {ast.unparse(what)}"] = where

        for name, places in {**MARKDOWN, "html": (0,)}.items():
            for node, scope in self.calls[name]:
                if isinstance(node.func, ast.Attribute):
                    values = [node.args[place] for place in places if place < len(node.args)]
                    values += [word.value for word in node.keywords if word.arg in NAMES]
                    hand(values, scope, "html" if name == "html" else "markdown", node)
                    if name in OPTIONS:  # drawn as they are or as format_func says
                        words = {word.arg: word.value for word in node.keywords}
                        said = words.get("format_func")
                        values, where = (
                            (said.scope.returns, said.scope) if isinstance(said, ast.Lambda) else ([], scope)
                        )
                        hand(values if said else [*node.args[1:2], words.get("options")], where, "markdown", node)
        while todo:
            parameter, function, kind = todo.pop()
            for node, scope in self.calls[getattr(function.node, "name", "")]:
                if function in self.functions(node, scope):
                    hand(given(node, function, parameter), scope, kind, node)
        return found

    def texts(self, value: ast.AST | None, scope: Scope, kind: str) -> Iterator[tuple]:
        """What the value is made of: (an expression that holds a reader's text, where), (a parameter's name, whose)."""
        match value:
            case ast.JoinedStr(values=values):
                for one in values:
                    if isinstance(one, ast.FormattedValue) and not is_number(one.format_spec):
                        yield from self.texts(one.value, scope, kind)
            case ast.BinOp(op=ast.Add() | ast.Mod() | ast.Mult() | ast.BitOr(), left=left, right=right):
                yield from self.texts(left, scope, kind)
                yield from self.texts(right, scope, kind)
            case ast.BoolOp(values=values) | ast.List(elts=values) | ast.Tuple(elts=values) | ast.Set(elts=values):
                yield from self.all(values, scope, kind)
            case ast.IfExp(body=body, orelse=orelse):
                yield from self.all([body, orelse], scope, kind)
            case ast.Dict(keys=keys, values=values):
                yield from self.all([*keys, *values], scope, kind)
            case ast.ListComp(elt=one) | ast.SetComp(elt=one) | ast.GeneratorExp(elt=one):
                yield from self.texts(one, scope, kind)
            case ast.DictComp(key=key, value=one):
                yield from self.all([key, one], scope, kind)
            case ast.Subscript(slice=ast.Constant(value=str(key))) if key in READERS:
                yield value, scope
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=int(place))):
                yield from self.returned(call, scope, kind, place)
            case ast.Starred(value=one) | ast.Subscript(value=one) | ast.NamedExpr(value=one):
                yield from self.texts(one, scope, kind)
            case ast.Attribute(value=of, attr=name):
                of = getattr(of, "id", "")
                if (name in READERS and not of[:1].isupper()) or name == "query_params" or (of, name) in NAMED:
                    yield value, scope
            case ast.Name():
                yield from self.named(value, scope, kind)
            case ast.Call():
                yield from self.returned(value, scope, kind)

    def all(self, values: Iterable, scope: Scope, kind: str) -> Iterator[tuple]:
        for value in values:
            yield from self.texts(value, scope, kind)

    def named(self, name: ast.Name, scope: Scope, kind: str) -> Iterator[tuple]:
        for what, bound, where in self.bound(name.id, scope):
            key = (id(bound), kind)
            if what == "parameter":
                if not is_annotated_number(where.parameters[bound].annotation):
                    yield bound, where
            elif what == "error":
                yield name, scope
            elif what == "value" and key not in self.asked:
                self.asked.add(key)
                yield from self.texts(bound, where, kind)
                self.asked.discard(key)

    def returned(self, call: ast.Call, scope: Scope, kind: str, place: int | None = None) -> Iterator[tuple]:
        """place: only what stands there in the tuple that is returned."""
        name = called(call)
        if name in FIELDS:
            yield call, scope
        if name in FIELDS | NUMBERS | ESCAPES[kind]:
            return
        if name == "map":
            call = ast.Call(call.args[0], call.args[1:], [])
            yield from self.returned(call, scope, kind)
            return
        functions = self.functions(call, scope)
        for function in functions:
            key = (id(function), kind)
            if key in self.asked or is_annotated_number(getattr(function.node, "returns", None)):
                continue
            self.asked.add(key)
            returns = [one.elts[place] if is_tuple(one, place) else one for one in function.returns]
            made = list(self.all(returns, function, kind))
            self.asked.discard(key)
            for what, where in made:
                if what in function.parameters and where is function:
                    yield from self.all(given(call, function, what), scope, kind)
                else:
                    yield what, where
        if not functions:  # one that is not ours makes of text what is still text
            if isinstance(call.func, ast.Attribute):
                yield from self.texts(call.func.value, scope, kind)
            numbers = self.filled_with_numbers(call.func.value, scope) if name == "format" else set()
            yield from self.all(call.args[name == "get" :], scope, kind)
            yield from self.all([word.value for word in call.keywords if word.arg not in numbers], scope, kind)

    def filled_with_numbers(self, template: ast.expr, scope: Scope) -> set[str]:
        """The places of "{n:,} of {all}" that take numbers only."""
        values = [template]
        if isinstance(template, ast.Name):
            values = [value for what, value, _where in self.bound(template.id, scope) if what == "value"]
        constants = [one.value for value in values for one in ast.walk(value) if isinstance(one, ast.Constant)]
        words = "".join(one for one in constants if isinstance(one, str))
        return set(re.findall(r"{(\w+):[^{}]*[defgn%x,]}", words)) - set(re.findall(r"{(\w+)}", words))

    def functions(self, call: ast.Call, scope: Scope) -> list[Scope]:
        """Those of ours that may be called here."""
        match call.func:
            case ast.Name(id=name):
                found = [bound for what, bound, _where in self.bound(name, scope) if what == "function"]
                return found
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                for what, bound, _where in self.bound(module, scope):
                    if what == "import" and (inner := self.modules.get(".".join(bound))):
                        return [one for what, one, _where in self.bound(name, inner) if what == "function"]
        if isinstance(call.func, ast.Attribute):
            return [one for one in self.methods[call.func.attr] if len(call.args) < len(one.parameters)]
        return []

    def bound(self, name: str, scope: Scope) -> list[tuple]:
        where = scope.of(name)
        if where is None:
            return []
        found = [("parameter", name, where)] if name in where.parameters else []
        for what, bound, its in where.bound.get(name, ()):
            module = self.modules.get(bound[0]) if what == "import" else None
            found += self.bound(bound[1], module) if module and bound[1] in module.bound else [(what, bound, its)]
        return found


def given(call: ast.Call, function: Scope, parameter: str) -> list[ast.expr]:
    """What a call gives for the parameter, or what the function takes in its place."""
    takes = function.node.args
    places = [one.arg for one in [*takes.posonlyargs, *takes.args] if one.arg not in ("self", "cls")]
    if takes.vararg and parameter == takes.vararg.arg:
        return call.args[len(places) :]
    named = [word.value for word in call.keywords if word.arg in (parameter, None)]
    if parameter in places and places.index(parameter) < len(call.args):
        named.append(call.args[places.index(parameter)])
    return named + [one for one in call.args if isinstance(one, ast.Starred)]


def is_number(form: ast.JoinedStr | None) -> bool:
    """Whether what stands behind the colon in {x:.2f} takes numbers only."""
    last = form.values[-1] if form and form.values else None
    return isinstance(last, ast.Constant) and last.value[-1:] in "defgn%x,"


def is_annotated_number(annotation: ast.expr | None) -> bool:
    names = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)} if annotation else set()
    return bool(names) and names <= {"int", "float", "bool", "list", "tuple", "Sequence"}


OURS = "prose of the course's own files"
TRUSTED = {
    "sections/encoder_decoder/block.py: place.label": OURS,
    "sections/examination/questions.py: field.label": OURS,
    "sections/examination/questions.py: right.text": OURS,
    "sections/examination/questions.py: task.text": OURS,
    "sections/examination/widgets.py: field.label": OURS,
    "sections/experiments/own_run.py: run.title": "the names of our arms; the same rows are drawn as data, too",
    "sections/features/two_runs.py: run.title": "the names of our arms; the same rows are drawn as data, too",
    "sections/few_labels/claim.py: scale['labels']": "a number",
    "sections/few_labels/ensemble.py: event['labels']": "a number",
    "sections/input/row.py: whole.tokens": "table() escapes each cell; what it does not are names of classes",
    "sections/parameters/arithmetic.py: inputs.tokens": "a number",
    "sections/tokenization/window.py: inputs.steps.encoding.tokens": "no word: special tokens alone",
    "sections/wrong_reasons/real_data.py: file.name": "how many pairs of the file",
    "ui/lesson.py: question.choices[index].text": OURS,
    "ui/lesson.py: question.text": OURS,
    "sections/classroom/progress.py: question.text": OURS,
    "sections/classroom/progress.py: choice.text": OURS,
    "sections/classroom/answers.py: wording.text": "escaped by the page that asks: the same Markdown",
    "ui/task_input.py: example.extra": "the number of a value; its words are escaped",
}


def test_a_reader_s_text_is_never_markup():
    paths = [ROOT / "app.py", ROOT / "course.py", *(path for one in FOLDERS for path in (ROOT / one).rglob("*.py"))]
    holes = Code({path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}).holes()
    new = {name: where for name, where in holes.items() if name not in TRUSTED}
    assert not new, "escape it with ui.text.literal:\n" + "\n".join(f"{name} ({where})" for name, where in new.items())
    assert TRUSTED.keys() <= holes.keys(), f"no exception any more: {TRUSTED.keys() - holes.keys()}"


BAD = {
    "as it is": "st.markdown(seen.text)",
    "in words of ours": 'st.caption(_("“{text}”: {n}").format(text=seen.text, n=3))',
    "a field": 'st.info(f"You said {st.text_input(label)}")',
    "from the link": 'st.title(st.query_params["name"])',
    "a file's name": "st.error(file.name)",
    "an error's words": "try:\n    go()\nexcept ValueError as error:\n    st.error(str(error))",
    "through names": "shown = seen.text.strip()\nname = shown or 'x'\nst.markdown(name)",
    "through a list": "lines = []\nfor word in seen.words:\n    lines.append(word)\nst.markdown(', '.join(lines))",
    "through a table": "st.table([{'word': word} for word in seen.words])",
    "through a function": "def bold(word):\n    return f'**{word}**'\nst.markdown(bold(seen.text))",
    "into a function": "def tell(words):\n    st.markdown(words)\ntell(seen.text)",
    "made visible only": "from ui.text import visible\nst.markdown(visible(seen.text))",
    "escaped for HTML only": "st.markdown(html.escape(seen.text))",
    "in HTML": "st.html(f'<p>{seen.text}</p>')",
    "in a help text": "st.button('Go', help=seen.text)",
}
GOOD = {
    "ours": 'st.markdown(_("Type a text."))',
    "literal": 'st.markdown(f"**{literal(seen.text)}**")',
    "all of them": 'st.caption(", ".join(map(literal, seen.words)))',
    "numbers": 'st.caption(_("{n:,} of {p:.0%}").format(n=seen.tokens, p=0.5) + f" {seen.text:.2f} {len(seen.text)}")',
    "escaped in HTML": "st.html(f'<p>{html.escape(seen.text)}</p>')",
    "through a function": "def bold(word):\n    return literal(word)\nst.markdown(bold(seen.text))",
    "the other of two": "def two(text):\n    return literal(text), text\nshown, _ = two(seen.text)\nst.markdown(shown)",
    "no markup": "st.text(seen.text)\nst.code(seen.text)",
    "only asked": "st.markdown('long' if seen.text > 'x' else 'short')",
}


@pytest.mark.parametrize(
    ("source", "count"),
    [*((source, 1) for source in BAD.values()), *((source, 0) for source in GOOD.values())],
    ids=[*BAD, *(f"good: {name}" for name in GOOD)],
)
def test_the_check_sees_what_is_not_escaped_and_nothing_else(source, count):
    assert len(Code({"sections/part.py": source, "ui/text.py": (ROOT / "ui/text.py").read_text()}).holes()) == count
