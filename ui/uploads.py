"""Files uploaded on a page: access to the stored files, and the reasons why some were refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from ui.door.uploads import MB, PER_VISITOR, upload_info
from ui.text import literal
from ui.translations import _

HEAD = 2 * MB  # bytes read to recognise a file's format


@dataclass(frozen=True)
class UploadedFile:
    """An uploaded file. path: of the stored file; content: the bytes if it is not stored (page tests run without the
    server that stores files)."""

    name: str
    file_id: str
    size: int
    path: Path | None = None
    content: bytes = b""

    @property
    def there(self) -> bool:
        return self.path is None or self.path.is_file()

    def getvalue(self) -> bytes:
        return self.content if self.path is None else self.path.read_bytes()

    def head(self) -> bytes:
        """The complete lines within the first HEAD bytes."""
        if self.size <= HEAD:
            return self.getvalue()
        if self.path is None:
            begun = self.content[:HEAD]
        else:
            with open(self.path, "rb") as file:
                begun = file.read(HEAD)
        return begun[: begun.rfind(b"\n") + 1] or begun


def uploader(label: str, types: Sequence[str] | None, key: str, **options) -> UploadedFile | None:
    """`st.file_uploader` for one file; None while there is none or if it was refused."""
    uploaded = st.file_uploader(label, types, key=key, **options)
    taken = received([uploaded] if uploaded else [])
    return taken[0] if taken else None


def received(uploaded: Sequence) -> list[UploadedFile]:
    """The stored files behind the result of st.file_uploader; for refused ones the page shows the reason."""
    files, refused = [], {}
    for file in uploaded:
        content = file.getvalue()
        info = upload_info(content)
        if info is None:
            files.append(UploadedFile(file.name, file.file_id, len(content), content=content))
        elif "refused" in info:
            refused.setdefault(info["refused"], []).append(file.name)
        elif (path := Path(info["path"])).is_file():
            files.append(UploadedFile(file.name, file.file_id, info["size"], path))
        else:
            refused.setdefault("gone", []).append(file.name)
    for why, names in refused.items():
        st.error(_in_words(why).format(names=_(", ").join(map(literal, names))), icon=":material/hard_drive:")
    return files


def _in_words(why: str) -> str:
    return {
        "visitor": _(
            "{names}: not taken. All files of one visitor may have {most} MB together: remove another one first (also "
            "in other windows), or give a part of this one."
        ).replace("{most}", str(PER_VISITOR // MB)),
        "server": _(
            "{names}: not taken, the files of all visitors fill what this server keeps for them. Try again in "
            "some minutes, or give a part of it."
        ),
        "disk": _("{names}: not taken, the disk of this server is nearly full."),
        "gone": _("{names}: this server does not have it any more. Give it again."),
    }[why]
