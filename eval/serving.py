"""The real web process, `python -m bot serve` as an operator runs it, for the length of a benchmark."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from forum.errors import ThreadciteError


@contextmanager
def serving(url: str, *, config: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[int]:
    """Yields its port; `environment` holds the secrets. Raises ThreadciteError if it does not start."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    with tempfile.TemporaryDirectory(prefix="threadcite-bench-") as folder:
        written = Path(folder) / "config.yml"
        written.write_text(yaml.safe_dump(dict(config)))
        whole = {**os.environ, "THREADCITE_CONFIG": str(written), "THREADCITE_DATABASE_URL": url, **environment}
        log = Path(folder) / "serve.log"
        with log.open("wb") as output:
            command = [sys.executable, "-m", "bot", "serve", "--port", str(port)]
            process = subprocess.Popen(command, env=whole, stdout=output, stderr=output)
        try:
            _wait_for(port, process, log)
            yield port
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        with suppress(OSError):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:
                return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise ThreadciteError(f"The web process did not start: {log.read_text(errors='replace')[-500:]}")
