"""A private network namespace, for servers that listen on every address."""

import ctypes
import fcntl
import os
import socket
import struct
import sys

CLONE_NEWNET = 0x40000000


def bring_up_loopback():
    """Enables loopback, which is down in a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH14x", b"lo", 0x1)  # IFF_UP
        fcntl.ioctl(control, 0x8914, request)  # SIOCSIFFLAGS


def enter_private_network():
    """Moves this process and its future children into a new namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        sys.exit("interop needs a private network namespace: run as root "
                 f"({os.strerror(ctypes.get_errno())})")
    bring_up_loopback()
