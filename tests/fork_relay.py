"""Have a process forked in place of this one, pass signals on to it, and end as it ended: see `tests/forks.py`."""

import json
import os
import signal
import socket
import sys

PASSED_ON = {number: number for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCONT)}
# This process would not live to pass these on.
PASSED_ON |= {signal.SIGUSR1: signal.SIGKILL, signal.SIGUSR2: signal.SIGSTOP}

connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
for received, sent in PASSED_ON.items():
    signal.signal(received, lambda *_, sent=sent: connection.sendall(bytes([sent])))
request = {"arguments": sys.argv[2:], "environment": dict(os.environ), "directory": os.getcwd()}  # noqa: PTH109  loads quicker
socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2])
for stream in range(3):  # a pipe ends with the forked process
    os.close(stream)
code = int(connection.recv(16) or 1)
if code < 0:
    if -code in PASSED_ON:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
