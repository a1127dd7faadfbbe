"""Who is at the other end of a unix socket, as the kernel tells it: modes of files can be wrong, this can't."""

from __future__ import annotations

import os
import socket
import struct
import sys

_LINUX = struct.Struct("3i")
"""`struct ucred`: pid, uid, gid (unix(7))."""
_DARWIN = struct.Struct("=2Ih16I")
"""`struct xucred`: version, uid, count of groups, groups (sys/ucred.h); padded after the count."""
_SOL_LOCAL, _LOCAL_PEERCRED = 0, 1


def user_of(connection: socket.socket) -> int:
    """Return the user id of the process that is connected.

    Raises:
        OSError: it isn't connected any more, or this platform doesn't tell.
    """
    if sys.platform == "linux":
        told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _LINUX.size)
        return _LINUX.unpack(told)[1]
    if sys.platform == "darwin":
        return struct.unpack_from("=2I", connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _DARWIN.size + 2))[1]
    raise OSError(f"{sys.platform} doesn't tell who is connected")


def is_own(connection: socket.socket) -> bool:
    """Tell whether this process's own user is at the other end; of any other, root included, and of doubt: no."""
    try:
        return user_of(connection) == os.geteuid()
    except OSError:
        return False
