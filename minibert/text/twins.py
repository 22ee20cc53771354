"""A translated text names the version of the original it was made from, so that a later change is noticed."""

import hashlib
import json
from typing import Any


def mark_of(original: Any) -> str:
    """Eight characters that change with any word of a text or of a table of texts; line breaks do not count."""
    words = json.dumps(original, ensure_ascii=False, sort_keys=True).replace("\\n", " ").split()
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:8]
