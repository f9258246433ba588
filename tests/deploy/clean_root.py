"""A clean machine: an overlay of this one's root in which pages' commands and units are run.

systemd itself does not run there. What the units ask of it is done by mounts and ``setpriv``: the
user, its groups and umask, state folders, credentials, and a root that is read-only but for the
folders that a unit may write. Not done: ``ProtectHome`` (the Python of a checkout may lie in a
home folder), the filter of system calls, devices.
"""

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.deploy.tools import BIN, ROOT

USER: Final = "pitwatch"
_NEEDED: Final = ("unshare", "nsenter", "chroot", "setpriv", "systemd-sysusers", "systemd-tmpfiles")
_BUILT: Final = """
set -e
mount -t tmpfs -o mode=0755 tmpfs "$1" && cd "$1" && mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
mount --rbind /proc root/proc && mount --rbind /dev root/dev
mount -t tmpfs -o mode=1777 tmpfs root/tmp && mount -t tmpfs -o mode=0755 tmpfs root/run
shift
printf '%s\n' "$@" >places
for place; do
    [ -n "$(ls -A "root$place" 2>/dev/null)" ] ||
        { mkdir -p "root$place" && mount --bind "$place" "root$place"; }
    while [ "$place" != / ]; do place=$(dirname "$place") && chmod go+x "root$place"; done
done
"$BIN/python" -c 'import fcntl, socket, struct
with socket.socket() as any: fcntl.ioctl(any, 0x8914, struct.pack("16sh22x", b"lo", 1))'
echo built && exec sleep infinity
"""
_SANDBOX: Final = """
set -e
root=$1 user=$2 credentials=$3 state=$4 mode=$5 places=$6 && shift 6
for one in $state; do
    [ -d "$root/var/lib/$one" ] || mkdir -p "$root/var/lib/$one"
    chroot "$root" sh -c "chown $user:$user /var/lib/$one && chmod $mode /var/lib/$one"
done
sealed=$root/../sealed.$$ && mkdir "$sealed" && mount --rbind "$root" "$sealed"
mount -o remount,bind,ro "$sealed"
# The checkout and its Python stay where they are, below a folder that the unit has to itself, too.
own() {
    mount -t tmpfs -o "mode=$2" tmpfs "$sealed$1"
    while read -r place; do case $place in "$1"/*)
        mkdir -p "$sealed$place" && mount -o bind,ro "$root$place" "$sealed$place"
    esac done <"$root/../places"
}
own /tmp 1777
for one in $places; do
    mount --bind "$root${one#*:}" "$sealed${one#*:}"
    mount -o "remount,bind,${one%%:*}" "$sealed${one#*:}"
done
if [ -n "$credentials" ]; then
    own /run 0755 && mkdir "$sealed/run/credentials"
    for one in $credentials; do
        cp "$root${one#*:}" "$sealed/run/credentials/${one%%:*}"
    done
    chroot "$sealed" sh -ec "cd /run/credentials; chown $user . *; chmod 0400 *; chmod 0500 ."
fi
exec chroot "$sealed" "$@"
"""

_WITHOUT_SYSTEMD: Final = """
export SYSTEMD_OFFLINE=1
udevadm() { :; }
systemctl() {
    for word; do shift && [ "$word" = --now ] || set -- "$@" "$word"; done
    command systemctl "$@"
}
"""


def why_not() -> str | None:
    """Return why no clean root can be made here."""
    if os.geteuid() != 0:
        return "a clean root needs root"
    if missing := [name for name in _NEEDED if shutil.which(name) is None]:
        return f"not installed: {', '.join(missing)}"
    if not Path(__file__).stat().st_mode & stat.S_IROTH:
        return "the site's user cannot read this checkout: clone it with umask 022"
    return None


@dataclass(frozen=True, slots=True)
class Unit:
    """A service's unit, with its instance filled in."""

    lines: tuple[tuple[str, str], ...]

    def all(self, name: str) -> list[str]:
        """Return every value of a setting."""
        return [value for key, value in self.lines if key == name]

    def words(self, name: str) -> list[str]:
        """Return the words of all values of a setting."""
        return [word for value in self.all(name) for word in value.split()]


def unit_in(file: Path, instance: str = "") -> Unit:
    """Read a unit as systemd does."""
    text = file.read_text().replace("\\\n", " ").replace("%i", instance)
    text = text.replace("%d", "/run/credentials")
    return Unit(tuple(re.findall(r"(?m)^(\w+)=(.*)$", text)))


@dataclass(frozen=True, slots=True)
class CleanRoot:
    """A running namespace of mounts, with no network but loopback, and the root in it."""

    pid: int
    path: Path

    def inside(self, *command: str) -> list[str]:
        """Return the command that runs another in the namespace, outside of the clean root."""
        return ["nsenter", f"--target={self.pid}", "--mount", "--net", "--", *command]

    def run(self, script: str, user: str = "root") -> "subprocess.CompletedProcess[str]":
        """Run a script in the clean root as a user with nothing but its rights.

        No systemd runs there, so ``systemctl`` works on files only, and no udev to reload.
        """
        who = [f"--reuid={user}", f"--regid={'nogroup' if user == 'nobody' else user}"]
        shell = ["setpriv", *who, "--init-groups", "sh", "-ec", _WITHOUT_SYSTEMD + script]
        return _ran(self.inside("chroot", str(self.path), *shell))

    def done(self, script: str, user: str = "root") -> str:
        """Run a script that must succeed; return what it printed."""
        ran = self.run(script, user)
        assert ran.returncode == 0, f"{script}\n{ran.stdout}{ran.stderr}"
        return ran.stdout

    def as_unit(self, unit: Unit, command: str) -> list[str]:
        """Return the call that runs a shell command with what a unit may do, and no more."""
        state = unit.words("StateDirectory")
        places = {f"/var/lib/{one}": "rw" for one in state}
        places |= dict.fromkeys(unit.words("ReadWritePaths"), "rw")
        places |= dict.fromkeys(unit.words("ReadOnlyPaths"), "ro")
        mounted = " ".join(f"{places[one]}:{one}" for one in sorted(places))
        (user,), (umask,) = unit.all("User"), unit.all("UMask")
        groups = ",".join([unit.all("Group")[0], *unit.words("SupplementaryGroups")])
        mode = (unit.all("StateDirectoryMode") or ["0755"])[0]
        who = [f"--reuid={user}", f"--regid={unit.all('Group')[0]}", f"--groups={groups}"]
        caps = ["--no-new-privs", *_capabilities(unit)]
        clean = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *unit.words("Environment")]
        shell = ["sh", "-c", f"umask {umask}; exec {command}"]
        settings = (user, " ".join(unit.words("LoadCredential")), " ".join(state), mode)
        sandbox = ["sh", "-c", _SANDBOX, "sh", str(self.path), *settings, mounted]
        return self.inside(
            "unshare", "--mount", *sandbox, "setpriv", *who, *caps, "--", *clean, *shell
        )

    def run_as(self, unit: Unit, command: str) -> "subprocess.CompletedProcess[str]":
        """Run a command with what a unit may do, and no more."""
        return _ran(self.as_unit(unit, command))

    @contextmanager
    def started(self, unit: Unit) -> Iterator["subprocess.Popen[str]"]:
        """Start a unit's command; it is killed at the end where it still runs."""
        (command,) = unit.all("ExecStart")
        with subprocess.Popen(
            self.as_unit(unit, command.replace("$PITWATCH_MORE", "")),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()


def _capabilities(unit: Unit) -> list[str]:
    """Return the options that leave a unit the capabilities that it names, and no other."""
    kept = [one.removeprefix("CAP_").lower() for one in unit.words("AmbientCapabilities")]
    assert set(unit.words("CapabilityBoundingSet")) <= {*unit.words("AmbientCapabilities")}
    named = ",".join(["-all", *(f"+{one}" for one in kept)])
    ambient = [f"--ambient-caps={named}"] if kept else []
    return [f"--bounding-set={named}", f"--inh-caps={named}", *ambient]


@contextmanager
def clean_root(checkout: Path = ROOT) -> Iterator[CleanRoot]:
    """Make a clean root with a checkout as release; it is gone with the processes in it.

    Raises:
        PermissionError: this machine allows no overlay.
    """
    place = Path(tempfile.mkdtemp(prefix="pitwatch-root-"))
    places = sorted({str(checkout), str(BIN.parent), sys.base_prefix})
    build = ["sh", "-c", _BUILT, "sh", str(place), *places]
    with subprocess.Popen(
        ["unshare", "--mount", "--net", *build],
        env={**os.environ, "BIN": str(BIN)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stderr is not None
        try:
            if holder.stdout.readline() != "built\n":
                raise PermissionError(f"no overlay: {holder.stderr.read().strip()}")
            root = CleanRoot(holder.pid, place / "root")
            root.done(_release(checkout))
            yield root
        finally:
            holder.kill()
            place.rmdir()


def _release(checkout: Path) -> str:
    """Return the script that puts the checkout in the place of an installed release."""
    names = [one.name for one in checkout.iterdir() if one.name not in {".git", ".venv"}]
    links = [f"ln -s {shlex.quote(str(checkout / name))} ." for name in names]
    venv = f"ln -s {shlex.quote(str(BIN.parent))} .venv"
    return "\n".join(["mkdir -p /opt/pitwatch/current && cd /opt/pitwatch/current", *links, venv])


def _ran(command: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
