"""Errors, named by who must act. A dealer's mistake is not an error: it is a violation.

::

    PitwatchError
    ├── InputRefused     the file's author: a field does not match the format
    ├── OperatorError    the person at the command or the console
    ├── InstallerError   the table's installer: layout, camera pose, rulebook, ports
    └── TechnicianError  the machine's technician: a device, a disk, a damaged journal
"""


class PitwatchError(Exception):
    """One line for a person: what is wrong, where, and the way out.

    Args:
        what: what is wrong, naming the thing.
        where: the file, line, field, port or record concerned.
        way_out: what the reader can do about it.
    """

    def __init__(self, what: str, *, where: str, way_out: str) -> None:
        super().__init__(f"{where}: {what}. {way_out}")
        self.what, self.where, self.way_out = what, where, way_out


class OperatorError(PitwatchError):
    """The command or the request cannot be carried out as given."""


class InstallerError(PitwatchError):
    """The table's own description is missing, impossible or contradicts itself."""


class TechnicianError(PitwatchError):
    """A device, a disk or a record on it is damaged or lost."""


class InputRefused(PitwatchError):
    """A field of an input does not match its format; nothing after it was applied.

    Args:
        source: the file.
        field: the field in it.
        expected: what the format requires.
        found: what stands there.
        line: the line, where the file has lines.
        applied: what had been done by then.
    """

    def __init__(
        self,
        *,
        source: str,
        field: str,
        expected: str,
        found: str,
        line: int | None = None,
        applied: str = "nothing was applied",
    ) -> None:
        place = source if line is None else f"{source}:{line}"
        super().__init__(
            f"field {field!r}: expected {expected}, found {found}",
            where=place,
            way_out=f"Correct that field and run again; {applied}",
        )
        self.source, self.line, self.field = source, line, field
        self.expected, self.found = expected, found

    def after(self, applied: str) -> "InputRefused":
        """Return the same refusal with ``applied``, the work done before it."""
        return InputRefused(
            source=self.source,
            field=self.field,
            expected=self.expected,
            found=self.found,
            line=self.line,
            applied=applied,
        )
