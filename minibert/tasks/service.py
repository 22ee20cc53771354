"""A task as a service: what a client may send, and its answer in a line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from minibert.tasks.given import extra_given, fields, some_text, text_given


class TaskService(ABC):
    """A user's input → an example. example_input: an input as a client sends it · given_texts: the fields of an input
    that the model reads, texts or lists of texts."""

    example_type: ClassVar[type]
    example_input: ClassVar[dict[str, Any]]
    given_texts: ClassVar[tuple[str, ...]]

    def example(self, given: Any) -> Any:
        """Build an example without its answer from a user's input, a text or a JSON object. ValueError if unusable."""
        return self.example_type(*text_given(given, *self.given_texts), extra=extra_given(given))

    def input_schema(self, most: int, columns: Sequence[str] = ()) -> dict:
        """JSON Schema of one input. most: most characters per text · columns: further columns that the model reads."""
        text = some_text(most)
        whole = fields(dict.fromkeys(self.given_texts, text), columns)
        return {"anyOf": [text, whole]} if len(self.given_texts) == 1 else whole

    def given_names(self, columns: Sequence[str] = ()) -> list[str]:
        """The keys that an input object may have."""
        schema = self.input_schema(1, columns)
        return [*schema.get("anyOf", [schema])[-1]["properties"]]

    def texts_in(self, given: Any) -> list[tuple[list[str | int], str]]:
        """(path, text) of each text that the model reads in a valid input. Lists of words are left out: a single word
        may well be unknown to the tokenizer."""
        if isinstance(given, str):
            return [([], given)]
        if isinstance(given, list):
            return []
        found: list[tuple[list[str | int], str]] = []
        for name in self.given_texts:
            value = given.get(name)
            if isinstance(value, list):
                found += [([name, i], text) for i, text in enumerate(value)]
            elif value:
                found.append(([name], value))
        return found

    @abstractmethod
    def plain(self, answer: Mapping[str, Any]) -> str:
        """A prediction of `decode` as one line of text."""
