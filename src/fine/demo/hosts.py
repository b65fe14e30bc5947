"""The names that the server answers to.

A page of another site can give its own name the address of this machine and then ask the server as
if it were that site (DNS rebinding). Its requests still carry its name, as `Host`.
"""

import ipaddress
import re
import socket
from collections.abc import Collection

from starlette.types import Scope

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(\[[0-9a-fA-F:.]{1,60}\]|[^\[\]:@/\\?#\s]{1,255})(?::([0-9]{1,5}))?")


def names_of(host: str) -> set[str]:
    """The names by which others may call a server that listens on ``host``."""
    try:
        everywhere = ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return {host.lower()}
    if not everywhere:
        return {_plain(host)}
    name = socket.gethostname().lower()
    return {name, f"{name}.local"}


def is_own_host(scope: Scope, names: Collection[str]) -> bool:
    """Whether `Host` is one of the names, a local one, or the address that was connected to.

    A port in it must be that of the server.
    """
    match = _HOST.fullmatch(host_of(scope))
    if match is None:
        return False
    address, own_port = scope.get("server") or ("localhost", None)
    name, port = _plain(match[1]), match[2]
    if port is not None and int(port) != own_port:
        return False
    return name in LOCAL or name in names or name == _plain(address)


def host_of(scope: Scope) -> str:
    """The `Host` of a request; empty if there is none, or more than one."""
    found = [value for name, value in scope["headers"] if name == b"host"]
    return found[0].decode("latin-1") if len(found) == 1 else ""


def address_in(scope: Scope) -> str:
    """The address and port that were connected to."""
    address, port = scope.get("server") or ("localhost", None)
    host = f"[{_plain(address)}]" if ":" in _plain(address) else _plain(address)
    return host if port in (None, 80) else f"{host}:{port}"


def _plain(name: str) -> str:
    """A name in lower case, an address in its shortest form, without brackets."""
    try:
        address = ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return name.lower()
    mapped = getattr(address, "ipv4_mapped", None)  # how an IPv6 socket sees IPv4 visitors
    return str(mapped or address)
