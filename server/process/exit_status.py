"""What a command's exit status says, the same for every command."""

from enum import IntEnum


class Exit(IntEnum):
    """What came of it. Of several the first that holds: 2, 4, 3, 0; from 128 on it was cut short.

    0 clean; 2 refused or damaged input; 3 findings for a person to look at; 4 a part of an archive
    was passed over unread; 5 what a journal, a report or an incident says is not proven.
    129 SIGHUP, 141 stdout closed by its reader, 143 SIGTERM: 128 and the signal's number, as
    shells have it.
    """

    CLEAN = 0
    REFUSED = 2
    FINDINGS = 3
    INCOMPLETE = 4
    UNPROVEN = 5
    HUNG_UP = 129
    CUT_OFF = 141
    TERMINATED = 143
