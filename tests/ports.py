"""A port for processes that have to be told one."""

import socket
from contextlib import contextmanager


@contextmanager
def reserved_port():
    """Keep a port free for one server on this machine, for as long as the block lasts.

    A port that was free a moment ago may be taken by the time the server starts. This one stays bound: the
    system gives it to nobody who asks for just any port, and a server that names it may still listen, since
    both sides reuse addresses and only one of them listens.
    """
    with socket.socket() as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", 0))
        yield keeper.getsockname()[1]
