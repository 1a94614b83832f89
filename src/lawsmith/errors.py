"""The one error type of lawsmith: it says where, what was got, what was wanted, and a hint."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 400  # characters of a value that a message repeats


class LawsmithError(Exception):
    """Bad input, in one line: ``where: got …, want … (hint)``.

    The command line prints the message and exits with 2; in Python, catch it.

    where   what is wrong: a file and row, an option, a key; or a whole sentence
    got     the value found
    want    the value expected
    hint    what to try

    >>> try:
    ...     load("tinylm", where="lr <")
    ... except LawsmithError as error:
    ...     print("caught", type(error.want).__name__)
    caught ...
    """

    def __init__(
        self,
        where: str,
        *,
        got: object = None,
        want: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.where, self.got, self.want, self.hint = where, got, want, hint
        parts = []
        if got is not None:
            value = str(got)
            parts.append(f"got {value if len(value) <= LONGEST else value[:LONGEST] + '…'}")
        if want is not None:
            parts.append(f"want {want}")
        message = f"{where}: {', '.join(parts)}" if parts else where
        super().__init__(f"{message} ({hint})" if hint else message)

    def renamed(self, where: str) -> LawsmithError:
        """The same error about ``where``."""
        return LawsmithError(where, got=self.got, want=self.want, hint=self.hint)


def suggest(word: str, known: Iterable[str]) -> str | None:
    """'did you mean X?' when a known name is close to ``word``, else None."""
    by_lower = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f"did you mean {by_lower[close[0]]}?" if close else None


def unknown(where: str, word: str, known: Iterable[str]) -> LawsmithError:
    """The error for a name that is not one of ``known``."""
    names = list(known)
    want = "one of " + ", ".join(names)
    return LawsmithError(where, got=repr(word), want=want, hint=suggest(word, names))
