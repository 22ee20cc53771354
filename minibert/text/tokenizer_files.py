"""The files beside a vocabulary: tokenizer_config.json, tokenizer.json, added_tokens.json, special_tokens_map.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import AddedToken

from minibert.text.json_values import check_kinds, json_object, short

# Types of the optional entries of tokenizer_config.json; a special token there is a text or an object.
CONFIG_KINDS = {
    "do_lower_case": bool,
    "strip_accents": bool,
    "tokenize_chinese_chars": bool,
    "add_prefix_space": bool,
    "tokenizer_class": str,
    "max_input_chars_per_word": int,
    "extra_special_tokens": list[str | dict[str, Any]] | dict[str, str | dict[str, Any]],
    "additional_special_tokens": list[str | dict[str, Any]],
    "added_tokens_decoder": dict[str, dict[str, Any]],
}
TOKEN_KINDS = {"content": str, **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), bool)}
# Fields of a BertNormalizer, and arguments of transformers' classes → ours
NORMALIZER = {
    "lowercase": "lowercase",
    "strip_accents": "strip_accents",
    "handle_chinese_chars": "chinese_chars",
    "clean_text": "clean_text",
}
ARGUMENTS = {"do_lower_case": "lowercase", "strip_accents": "strip_accents", "tokenize_chinese_chars": "chinese_chars"}
NAMES = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))  # in transformers' order


def tokenizer_config(directory: Path, named: Mapping[str, str]) -> dict[str, Any]:
    """tokenizer_config.json over special_tokens_map.json, without nulls; {} without these files.

    Raises ValueError for values of the wrong type, and for a special token other than that in `named`.
    """
    config: dict[str, Any] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if not (file := directory / name).is_file():
            continue
        values = {name: value for name, value in json_object(file).items() if value is not None}
        try:
            check_kinds(values, CONFIG_KINDS)
            for name, token in named.items():
                if name in values and (content := added_token(values[name]).content) != token:
                    raise ValueError(f"{name} is {short(content)}; this tokenizer only does {token!r}")
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
        config |= values
    return config


def described_tokenizer(directory: Path) -> dict[str, Any]:
    """tokenizer.json; {} without it."""
    return json_object(file) if (file := directory / "tokenizer.json").is_file() else {}


def check_parts(directory: Path, described: Mapping[str, Any], parts: Mapping[str, str | None]) -> None:
    """Raise ValueError where a part of tokenizer.json has another type than in `parts`; None: it must be null."""
    for name, known in parts.items():
        part = described.get(name)
        kind = part.get("type") if isinstance(part, dict) else part and [part]
        if name in described and kind != known:
            raise ValueError(
                f"{directory / 'tokenizer.json'}: its {name} is {short(kind)}; this tokenizer only does {short(known)}"
            )


def bert_options(described: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a `Tokenizer` that are in tokenizer.json, whose parts `check_parts` knows. Raises ValueError."""
    normalizer, model = described.get("normalizer", {}), described.get("model", {})
    for key, known in (("unk_token", "[UNK]"), ("continuing_subword_prefix", "##")):
        if model.get(key, known) != known:
            raise ValueError(f"{key} is {short(model[key])}; this tokenizer only does {known!r}")
    values = {**normalizer, "max_word_chars": model.get("max_input_chars_per_word")}
    options = {NORMALIZER.get(name, name): value for name, value in values.items() if value is not None}
    check_kinds(options, {**dict.fromkeys(NORMALIZER.values(), bool), "max_word_chars": int})
    return {name: value for name, value in options.items() if name != "type"}


def added_token(value: Any, **flags: bool) -> AddedToken:
    """A token as these files hold it: a text, or an object with its content and flags. Raises ValueError."""
    values = {"content": value} if isinstance(value, str) else value
    if not (isinstance(values, dict) and isinstance(values.get("content"), str) and values["content"]):
        raise ValueError(f"a special token must be a text, or an object with its content, not {short(value)}")
    values = {name: known for name, known in values.items() if name in TOKEN_KINDS and known is not None}
    check_kinds(values, TOKEN_KINDS)
    arguments: dict[str, Any] = {**flags, **values}
    return AddedToken(**arguments)


def stored_tokens(
    directory: Path, config: Mapping[str, Any], described: Mapping[str, Any]
) -> dict[str, tuple[AddedToken, int | None]]:
    """Content → (added token, its id) for all that the files name, in the order of their ids; None for a special token
    without one, which gets the next. Raises ValueError."""
    try:
        extra = config.get("extra_special_tokens") or config.get("additional_special_tokens") or []
        further = [*extra.values()] if isinstance(extra, dict) else extra
        special = [added_token(value, special=True) for value in (*(config[n] for n in NAMES if n in config), *further)]
        found = {token.content: (token, number) for token, number in numbered(directory, config, described, special)}
    except ValueError as error:
        raise ValueError(f"{directory}: {error}") from None
    ordered = dict(sorted(found.items(), key=lambda item: item[1][1]))
    return {**ordered, **{token.content: (token, None) for token in special if token.content not in found}}


def numbered(
    directory: Path, config: Mapping[str, Any], described: Mapping[str, Any], special: Sequence[AddedToken]
) -> Iterator[tuple[AddedToken, int]]:
    """The added tokens that have an id; the later of two with one content counts."""
    names = {token.content for token in special}
    plain = json_object(file) if (file := directory / "added_tokens.json").is_file() else {}
    decoder = config.get("added_tokens_decoder", {})
    values = [
        *(({"content": content, "special": content in names}, number) for content, number in plain.items()),
        *((value, value.get("id")) for value in listed(described.get("added_tokens"))),
        *((value, int(key) if key.isdecimal() else key) for key, value in decoder.items()),
    ]
    for value, number in values:
        if isinstance(number, bool) or not isinstance(number, int):
            raise ValueError(f"the id of the added token {short(value.get('content'))} is {short(number)}")
        yield added_token(value), number


def listed(values: Any) -> list[dict[str, Any]]:
    """A list of objects, [] for null."""
    if not isinstance(values or [], list) or not all(isinstance(value, dict) for value in values or []):
        raise ValueError(f"added_tokens must be a list of objects, not {short(values)}")
    return values or []


def check_ids(directory: Path, tokens: Mapping[str, tuple[AddedToken, int | None]], ids: Mapping[str, int]) -> None:
    """Raise ValueError where a token's id is not the one that these files give it."""
    for content, (_, number) in tokens.items():
        if number is not None and ids[content] != number:
            raise ValueError(
                f"{directory}: the added token {short(content)} has the id {number}, and here it has {ids[content]}: "
                "ids go on from the vocabulary without a gap"
            )
