"""Peer credentials of a unix socket, read from the kernel: unlike file modes they can't be wrong."""

from __future__ import annotations

import os
import socket
import struct
import sys

_LINUX = struct.Struct("3i")
"""`struct ucred`: pid, uid, gid (unix(7))."""
_DARWIN = struct.Struct("=2Ih16I")
"""`struct xucred`: version, uid, count of groups, groups (sys/ucred.h); padded after the count."""
_SOL_LOCAL, _LOCAL_PEERCRED, _LOCAL_PEERPID = 0, 1, 2


def user_of(connection: socket.socket) -> int:
    """Return the user id of the connected process.

    Raises:
        OSError: The connection is closed, or the platform has no peer credentials.
    """
    if sys.platform == "linux":
        return _LINUX.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _LINUX.size))[1]
    if sys.platform == "darwin":
        return struct.unpack_from("=2I", connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _DARWIN.size + 2))[1]
    raise OSError(f"{sys.platform} has no peer credentials")


def process_of(connection: socket.socket) -> int:
    """Return the id of the connected process; errors as in `user_of`."""
    if sys.platform == "linux":
        return _LINUX.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _LINUX.size))[0]
    if sys.platform == "darwin":
        return connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID)
    raise OSError(f"{sys.platform} has no peer credentials")


def is_own(connection: socket.socket) -> bool:
    """Return whether the peer runs as this process's user; False for any other, root included, and when unknown."""
    try:
        return user_of(connection) == os.geteuid()
    except OSError:
        return False
