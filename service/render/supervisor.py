#!/usr/bin/env -S python3 -I
"""The program that Playwright starts in Chromium's place: confines Chromium, runs it, and outlives no one.

It stands between the two because Playwright offers no hook between fork and exec. In this order: tell
the service who leads the process group; leave the network, where user namespaces exist, for one that
holds nothing but a loopback of its own; give up root; limit memory; run Chromium. After that it hands
out listening sockets of that network on request, and kills the whole group when the service is gone,
however it went. Standard library only, and no import from the service: it must start fast.

Settings come as JSON in `BONMUN_SUPERVISOR`: `executable`, `control` (path of a Unix socket), `memory`
(bytes of each process's data segment), `uid` and `gid` to become (null: stay), `network` (leave it).
"""

import ctypes
import fcntl
import json
import os
import resource
import select
import shutil
import signal
import socket
import struct
import sys

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000  # sched.h
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4  # prctl.h
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1  # sockios.h, if.h

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Everything, in order."""
    settings = json.loads(os.environ.pop("BONMUN_SUPERVISOR"))
    folder = os.path.dirname(settings["control"])
    control = socket.socket(socket.AF_UNIX)
    control.connect(settings["control"])
    note = enter_network(settings) if settings["network"] else "turned off in the settings"
    if settings["uid"] is not None and os.getuid() != settings["uid"]:
        become(settings["uid"], settings["gid"])
    resource.setrlimit(resource.RLIMIT_DATA, (settings["memory"], settings["memory"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    leader = os.getpid()
    if os.getpgid(0) != leader:
        os.setsid()
    # Before anything runs, the service knows whom to kill.
    control.sendall(json.dumps({"leader": leader, "network": note}).encode() + b"\n")
    child = os.fork()
    if child == 0:
        control.close()
        run([settings["executable"], *chromium_arguments(folder)], leader)
    for descriptor in (0, 1, 3, 4):  # Chromium's pipes: it must see when the other end closes
        close(descriptor)
    serve(control, os.pidfd_open(child))
    os.kill(child, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)  # nobody else may be left to do it
    os.killpg(0, signal.SIGKILL)


def enter_network(settings: "dict[str, object]") -> "str | None":
    """Leave the network for one with a loopback only. Returns what keeps it from that, or None."""
    try:
        if os.geteuid() == 0 and settings["uid"] is not None:
            unshare(CLONE_NEWNET)
        else:
            uid, gid = os.getuid(), os.getgid()
            unshare(CLONE_NEWUSER | CLONE_NEWNET)
            for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            flags = struct.unpack("16sH22x", fcntl.ioctl(probe, SIOCGIFFLAGS, struct.pack("16sH22x", b"lo", 0)))[1]
            fcntl.ioctl(probe, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | IFF_UP))
    except OSError as error:
        return error.strerror or type(error).__name__
    return None


def unshare(flags: int) -> None:
    """unshare(2)."""
    if libc.unshare(flags) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def become(uid: int, gid: int) -> None:
    """Give up root for good."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # else /proc/self belongs to root, and Chromium's sandbox needs it


def chromium_arguments(folder: str) -> "list[str]":
    """Playwright's, but the profile goes where nothing is left of it, and whom Chromium runs as may write."""
    os.environ["HOME"] = folder
    given = (argument for argument in sys.argv[1:] if not argument.startswith("--user-data-dir="))
    return [f"--user-data-dir={folder}/profile", *given]


def run(command: "list[str]", parent: int) -> None:
    """Become Chromium, which ends when its parent does."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the supervisor is gone")
    os.execv(command[0], command)


def serve(control: socket.socket, child: int) -> None:
    """Answer each byte with a listening socket of this network, until Chromium or the service ends."""
    while True:
        readable, _, _ = select.select([control.fileno(), child], [], [])
        if child in readable:
            return
        asked = control.recv(1)
        if not asked:
            return
        with socket.socket(socket.AF_INET) as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(128)
            socket.send_fds(control, [b"\n"], [listener.fileno()])


def close(descriptor: int) -> None:
    """Close a descriptor that may not be open."""
    try:
        os.close(descriptor)
    except OSError:
        return  # Playwright did not open it


if __name__ == "__main__":
    main()
