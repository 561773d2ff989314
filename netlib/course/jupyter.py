"""JupyterLab as a child process: started quietly, on the loopback address, and ended with all its kernels.

It has its own settings folder, so that it neither reads nor changes what a person has set up elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

HOST = "127.0.0.1"
# No question before the first cell: neither about news from another host nor about which kernel, since there is one.
QUIET = {
    "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
    "notebook-extension/tracker": '{"autoStartDefaultKernel": true}',
}


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: its process, its port and the token that opens it."""

    process: subprocess.Popen[bytes]
    port: int
    token: str
    log: Path

    def address(self, path: str = "") -> str:
        """The address that opens JupyterLab at this file or folder of the checkout."""
        return f"http://{HOST}:{self.port}/lab/tree/{path}?token={self.token}"


def lab_settings(home: Path) -> dict[str, str]:
    """The environment of a JupyterLab that keeps all its files below `home` and asks nobody for news."""
    for name, setting in QUIET.items():
        file = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():  # from then on it is the learner's own
            file.write_text(setting)
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    return {name: str(home / folder) for name, folder in folders.items()}


@contextlib.contextmanager
def lab_server(folder: Path, port: int, home: Path, patience: float = 120) -> Iterator[Lab]:
    """Run JupyterLab on `folder` while the block runs, and end it with every kernel that it started."""
    home.mkdir(parents=True, exist_ok=True)
    log = home / "lab.log"
    token = secrets.token_hex(16)
    command = [
        *(
            sys.executable,
            "-m",
            "jupyterlab",
            "--no-browser",
            f"--ServerApp.ip={HOST}",
            f"--ServerApp.port={port}",
        ),
        *(
            "--ServerApp.port_retries=0",
            f"--ServerApp.root_dir={folder}",
            "--LabApp.extension_manager=readonly",
        ),
        *("--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"),
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    # The token travels in the environment: a command line can be read by everyone on the machine.
    surroundings = {
        **os.environ,
        **lab_settings(home),
        "JUPYTER_TOKEN": token,
        "JUPYTER_PREFER_ENV_PATH": "1",
    }
    with log.open("wb") as lines:
        # Its own session: Ctrl-C must not reach JupyterLab, which would ask "are you sure?"; we ask it to end.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=lines,
            env=surroundings,
            start_new_session=True,
        )
    lab = Lab(process, port, token, log)
    try:
        wait_until_ready(lab, patience)
        yield lab
    finally:
        stop(process)


def wait_until_ready(lab: Lab, patience: float) -> None:
    """Return when JupyterLab answers; one sentence when it ends instead, or stays silent."""
    end = time.monotonic() + patience
    question = urllib.request.Request(f"http://{HOST}:{lab.port}/api/status?token={lab.token}")
    while time.monotonic() < end:
        if lab.process.poll() is not None:
            raise ValueError(f"JupyterLab ended as it started (exit code {lab.process.returncode}): see {lab.log}.")
        try:
            with urllib.request.urlopen(question, timeout=5):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.1)
    raise ValueError(f"JupyterLab did not answer within {patience:.0f} seconds: see {lab.log}.")


def stop(process: subprocess.Popen[bytes], patience: float = 10) -> None:
    """End a process and everything below it: politely, and after `patience` seconds for certain."""
    with contextlib.suppress(psutil.NoSuchProcess):
        below = psutil.Process(process.pid).children(recursive=True)
        # At a polite request JupyterLab ends its kernels; whoever is left after that did not hear it.
        process.terminate()
        _, deaf = psutil.wait_procs([psutil.Process(process.pid), *below], timeout=patience)
        for left in deaf:
            with contextlib.suppress(psutil.NoSuchProcess):
                left.kill()
    process.wait()
