"""The exit statuses, the same for every command."""

from enum import IntEnum


class Exit(IntEnum):
    """The result of a command. Of several, the first of 2, 4, 3, 0 counts; from 128 it was cut off.

    0 clean; 2 refused or damaged input; 3 findings for a person to look at; 4 a part of an archive
    was skipped unread; 5 a statement of a journal, a report or an incident is unproven. 129 SIGHUP,
    141 stdout closed by its reader, 143 SIGTERM: 128 plus the signal's number, as in shells.
    """

    CLEAN = 0
    REFUSED = 2
    FINDINGS = 3
    INCOMPLETE = 4
    UNPROVEN = 5
    HUNG_UP = 129
    CUT_OFF = 141
    TERMINATED = 143
