"""The same pair under Patroni, etcd and HAProxy, with the files of deploy/cluster: who is the primary is decided by them."""

import os, pathlib, shutil, signal, subprocess, urllib.error, urllib.request

from machine import Failed, free_port, signal_all, until
from pair import AS, PROGRAMS, command

FILES = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "cluster"
PASSWORD = "of-the-failover"


class Process:
    """A program that runs until it is ended."""

    def __init__(self, folder, name, command, user=(), **settings):
        found = shutil.which(command[0])
        if not found:
            raise Failed(f"{command[0]} is not installed (apt-get install patroni etcd-server haproxy)")
        environment = [f"{key}={value}" for key, value in {"PATH": f"{folder}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", **settings}.items()]
        self.process = subprocess.Popen(
            [*user, "env", "-i", *environment, found, *command[1:]],
            cwd="/", stdin=subprocess.DEVNULL, stdout=open(folder / f"{name}.log", "w"), stderr=subprocess.STDOUT,
        )  # fmt: skip

    def signal(self, number):
        signal_all(self.process.pid, number)

    def end(self):
        self.signal(signal.SIGSTOP)
        self.signal(signal.SIGKILL)
        self.process.wait()


class Member:
    """A server with its Patroni, as on a machine of its own."""

    def __init__(self, folder, name, etcd):
        self.port, self.api = free_port(), free_port()
        settings = {
            "PATRONI_NAME": name, "PATRONI_ETCD3_HOSTS": f"127.0.0.1:{etcd}",
            "PATRONI_RESTAPI_LISTEN": f"127.0.0.1:{self.api}", "PATRONI_RESTAPI_CONNECT_ADDRESS": f"127.0.0.1:{self.api}",
            "PATRONI_POSTGRESQL_LISTEN": f"127.0.0.1:{self.port}", "PATRONI_POSTGRESQL_CONNECT_ADDRESS": f"127.0.0.1:{self.port}",
            "PATRONI_POSTGRESQL_DATA_DIR": f"{folder}/{name}", "PATRONI_POSTGRESQL_BIN_DIR": str(PROGRAMS), "PATRONI_POSTGRESQL_PGPASS": f"{folder}/{name}.pgpass",
            "PATRONI_SUPERUSER_USERNAME": "postgres", "PATRONI_SUPERUSER_PASSWORD": PASSWORD,
            "PATRONI_REPLICATION_USERNAME": "replicator", "PATRONI_REPLICATION_PASSWORD": PASSWORD, "DATABASE_PASSWORD": PASSWORD,
        }  # fmt: skip
        self.process = Process(folder, name, ["patroni", str(folder / "patroni.yaml")], AS, **settings)

    def answers(self, path):
        """Whether Patroni answers 200."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.api}{path}", timeout=2) as answer:
                return answer.status == 200
        except (OSError, urllib.error.URLError):
            return False


class Elected:
    """etcd, two members and HAProxy."""

    def __init__(self, folder):
        self.folder, self.processes = folder / "cluster", []

    def start(self):
        folder = self.folder
        (folder / "bin").mkdir(parents=True)
        shutil.copy(FILES / "patroni.yaml", folder)
        shutil.copy(FILES / "create-database.sh", folder / "bin")
        if AS:
            shutil.chown(folder, "postgres")
        etcd, peers = free_port(), free_port()
        client, peer = f"http://127.0.0.1:{etcd}", f"http://127.0.0.1:{peers}"
        addresses = ["--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
        etcd_command = ["etcd", "--name", "one", "--data-dir", str(folder / "etcd"), "--initial-cluster", f"one={peer}", *addresses]
        self.processes.append(Process(folder, "etcd", etcd_command))
        self.members = []
        for name in ("postgres-1", "postgres-2"):
            member = Member(folder, name, etcd)
            self.members.append(member)
            self.processes.append(member.process)
            if name == "postgres-1":
                # The first makes the cluster, the second joins it.
                until("there is a primary", lambda: member.answers("/primary"))
        one, other = self.members
        self.door = free_port()
        addresses = {
            "DATABASE_LISTEN": f"127.0.0.1:{self.door}", "POSTGRES_1": f"127.0.0.1:{one.port}", "POSTGRES_2": f"127.0.0.1:{other.port}",
            "PATRONI_1": one.api, "PATRONI_2": other.api, "API_LISTEN": f"127.0.0.1:{free_port()}", "NODE_1": "127.0.0.1:1", "NODE_2": "127.0.0.1:1",
        }  # fmt: skip
        self.processes.append(Process(folder, "haproxy", ["haproxy", "-db", "-f", str(FILES / "haproxy.cfg")], **addresses))
        until("the standby is synchronous", lambda: other.answers("/sync"))
        until("HAProxy leads to the primary", self.leads)

    def leads(self):
        try:
            return command("psql", self.url(self.doors()), "-XAtqc", "select not pg_is_in_recovery()") == "t"
        except Failed:
            return False

    def leader(self):
        return next((member for member in self.members if member.answers("/primary")), None)

    def doors(self):
        return [self.door]

    def url(self, doors):
        return f"postgres://dastak:{PASSWORD}@127.0.0.1:{doors[0]}/dastak"

    def unfreeze(self):
        """Ends members that are not the primary."""
        leader = self.leader()
        for member in self.members:
            if member is not leader:
                member.process.signal(signal.SIGKILL)

    def end(self):
        for process in reversed(self.processes):
            process.end()
