"""What a command's exit status says, the same for every command."""

from enum import IntEnum


class Exit(IntEnum):
    """0 clean; 2 refused or damaged input; 3 findings for a person to look at; 5 unproven."""

    CLEAN = 0
    REFUSED = 2
    FINDINGS = 3
    UNPROVEN = 5
