"""A primary of PostgreSQL and its synchronous standby."""

import glob, os, pathlib, shutil, signal, subprocess

from machine import Failed, family, free_port, run, signal_all, until


def programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4].split(".")[0]))
    if not found:
        raise Failed("PostgreSQL is not installed (apt-get install postgresql)")
    return pathlib.Path(found[-1]).parent


PROGRAMS = programs()
# The server refuses to run as root.
AS = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
# The last as docs/operating/many-nodes.md says.
COMMON = "-c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=100 -c wal_level=replica -c hot_standby=on -c logging_collector=off -c idle_in_transaction_session_timeout=5s"


def command(name, *arguments):
    # In a folder that the user of the server may enter.
    return run([*AS, PROGRAMS / name, *arguments], cwd="/")


class Server:
    """One server in a folder."""

    def __init__(self, name, folder):
        self.name, self.folder, self.port = name, folder, free_port()
        self.data = folder / "data"
        folder.mkdir(exist_ok=True)
        if AS:
            shutil.chown(folder, "postgres")

    def start(self):
        command("pg_ctl", "-D", self.data, "-w", "-t", "60", "-l", self.folder / "log", "-o", f"-p {self.port} {COMMON}", "start")

    def stop(self, mode):
        command("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def pid(self):
        """The server's first process; none when it is not there."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
            os.kill(pid, 0)
            return pid
        except (FileNotFoundError, IndexError, ProcessLookupError):
            return None

    def signal(self, number):
        pid = self.pid()
        if pid:
            signal_all(pid, number)

    def kill(self):
        """As when its machine dies: every process at once."""
        pid = self.pid()
        if pid:
            gone = family(pid)
            # Frozen first, so that none of them notices the end of another.
            signal_all(pid, signal.SIGSTOP)
            signal_all(pid, signal.SIGKILL)
            until(f"the {self.name} is gone", lambda: not any(os.path.exists(f"/proc/{one}/cwd") and alive(one) for one in gone))

    def promote(self):
        command("pg_ctl", "-D", self.data, "-w", "-t", "60", "promote")

    def ask(self, sql, database="postgres"):
        return command("psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "dastak", "-d", database, "-XAtqc", sql)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Pair:
    """Both. The standby is named in `synchronous_standby_names`: a commit is answered when both have it."""

    def __init__(self, folder):
        self.primary, self.standby = Server("primary", folder / "primary"), Server("standby", folder / "standby")

    def start(self):
        primary, standby = self.primary, self.standby
        command("initdb", "-D", primary.data, "-U", "dastak", "--auth=trust", "-E", "UTF8")
        primary.start()
        come_from = f"host=127.0.0.1 port={primary.port} user=dastak application_name=standby"
        command("pg_basebackup", "-d", come_from, "-D", standby.data, "-R", "-X", "stream", "-c", "fast")
        standby.start()
        # Only now, so that the copy does not wait for a standby of its own after its promotion.
        primary.ask("alter system set synchronous_standby_names = 'standby'")
        primary.ask("select pg_reload_conf()")
        self.until_synchronous()

    def until_synchronous(self):
        until("the standby is synchronous", lambda: self.primary.ask("select sync_state from pg_stat_replication") == "sync")

    def doors(self):
        """Ports at which the database is reached."""
        return [self.primary.port, self.standby.port]

    def url(self, doors):
        one, other = doors
        return f"postgres://dastak@127.0.0.1:{one},127.0.0.1:{other}/postgres?target_session_attrs=read-write"

    def unfreeze(self):
        """Ends a primary that is frozen or left over."""
        self.primary.signal(signal.SIGKILL)

    def end(self):
        for server in (self.primary, self.standby):
            server.signal(signal.SIGKILL)


class SmallDisk:
    """A file system of its own for a folder, small enough to be filled."""

    # Whoever mounts it has the rights, or may take them without a question.
    ROOT = [] if os.geteuid() == 0 else ["sudo", "-n"]

    def __init__(self, folder, megabytes):
        self.folder = folder
        folder.mkdir()
        owner = f"uid={os.getuid()},gid={os.getgid()}"
        options = f"size={megabytes}m,mode=0755,{owner}"
        made = subprocess.run([*self.ROOT, "mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True)
        if made.returncode != 0:
            raise Failed(f"this machine does not let the run mount a small file system: {made.stderr.strip()}")

    def fill(self):
        """Takes every free byte."""
        with open(self.folder / "filler", "wb", buffering=0) as filler:
            piece = bytes(1 << 16)
            try:
                while True:
                    filler.write(piece)
            except OSError:
                pass

    def empty(self):
        (self.folder / "filler").unlink(missing_ok=True)

    def end(self):
        subprocess.run([*self.ROOT, "umount", "-l", self.folder], capture_output=True)
