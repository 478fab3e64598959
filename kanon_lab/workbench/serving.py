"""The page of the workbench, served by Voila on this machine to whoever has the token, and nothing kept at the end."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.identity import IdentityProvider, User
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager, ServerKernelManager
from tornado.httpserver import HTTPServer
from tornado.web import HTTPError
from traitlets import default
from traitlets.config import Config
from voila.app import Voila
from voila.tornado.handler import TornadoVoilaHandler

from kanon_lab import files
from kanon_lab.errors import StorageError
from kanon_lab.folders import held_folder
from kanon_lab.terms import texts
from kanon_lab.workbench.gate import BLANK, OPEN_FILE, OPEN_LANGUAGE, Gate, headers, refusal

HOST = "127.0.0.1"
CELL = "from kanon_lab.workbench import workbench\n\nworkbench()"
_TEMPLATES = Path(__file__).with_name("templates")
_KERNEL, _NOTEBOOK = "kanon-lab-workbench", "workbench.ipynb"
# Handlers of Voila that the page needs, and no others: none that lists or sends files of the user.
_NEEDED = {
    "FileFindHandler",
    "KernelHandler",
    "MultiStaticFileHandler",
    "TemplateStaticFileHandler",
    "VoilaKernelWebsocketHandler",
    "VoilaShutdownKernelHandler",
}
# Extensions of JupyterLab that draw widgets; others that are installed here are not loaded.
_EXTENSIONS = ["@jupyter-widgets/jupyterlab-manager", "@voila-dashboards/widgets-manager8"]
_DIED = "the Python process of a window died, perhaps for lack of memory: reload the page; your settings are kept"
_LOADING = 60  # seconds that a browser may take to load the page
_LONGEST_SOCKET = 100  # bytes of the path of a socket that systems allow
_MOST_OF_A_FORM = 1_000_000  # bytes; files come by the websocket


def serve(
    cell: str = CELL,
    *,
    port: int = 0,
    language: str = "en",
    file: str | None = None,
    wait: float = 20,
    tell: Callable[[str, Path], None],
    warn: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve one page until its last window has been closed for `wait` seconds, or the process is interrupted.

    Parameters
    ----------
    cell : str
        The Python code whose result the page shows.
    port : int
        Port of 127.0.0.1 to listen on; 0 takes a free one.
    language : {"en", "es"}
        Language of the page.
    file : str, optional
        File that the workbench opens first.
    wait : float
        Seconds that a closed window may be opened again.
    tell : callable
        Called once the page can be opened, with its address, which holds the token, and with a file that opens it
        without any other user seeing the token.
    warn : callable, optional
        Called with a sentence when the Python process of a window has died.

    Raises
    ------
    StorageError
        If the port is in use.
    """
    listener = _listen(port)
    with listener, held_folder() as folder, _private(folder, file, language):
        _write_kernel(folder)
        _write_notebook(folder, cell)
        page = Page(folder, language, wait, warn)
        page.initialize([])
        asyncio.run(page.run(listener, tell))
    if page.stopped not in (None, signal.SIGINT):
        raise SystemExit(128 + page.stopped)


def _listen(port: int) -> socket.socket:
    """A socket of this machine that listens."""
    listener = socket.socket()
    try:
        if os.name == "posix":  # elsewhere it would let two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        fault = "is in use" if port else error.strerror
        raise StorageError(f"port {port}: {fault}; choose another (--port), or leave it out") from None
    listener.setblocking(False)
    return listener


@contextmanager
def _private(folder: Path, file: str | None, language: str) -> Iterator[None]:
    """Let Jupyter, IPython and what they start keep all they write in a folder, and let nobody log."""
    inside = {name: folder / name.lower() for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    inside |= {"IPYTHONDIR": folder / "ipython", "TMPDIR": folder / "tmp"}
    for path in inside.values():
        path.mkdir(mode=0o700)
    wanted = {**inside, OPEN_LANGUAGE: language, **({} if file is None else {OPEN_FILE: file})}
    before = {name: os.environ.get(name) for name in wanted}
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    os.environ.update({name: str(value) for name, value in wanted.items()})
    try:
        yield
    finally:
        logging.disable(disabled)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _write_kernel(folder: Path) -> None:
    """Describe the kernel: this Python, without a history and without a log."""
    place = folder / "jupyter_data_dir" / "kernels" / _KERNEL
    place.mkdir(parents=True)
    quiet = ["--HistoryManager.enabled=False", "--IPKernelApp.log_level=50"]
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", *quiet]
    (place / "kernel.json").write_text(json.dumps({"argv": command, "display_name": _KERNEL, "language": "python"}))


def _write_notebook(folder: Path, cell: str) -> None:
    """The notebook that Voila shows, of one cell."""
    from nbformat.v4 import new_code_cell, new_notebook, writes

    kernel = {"kernelspec": {"name": _KERNEL, "display_name": _KERNEL, "language": "python"}}
    (folder / _NOTEBOOK).write_text(writes(new_notebook(cells=[new_code_cell(cell)], metadata=kernel)), "utf-8")


class Kernel(ServerKernelManager):
    """A kernel that other users of the machine can't listen to: its sockets are in a folder that they can't enter."""

    @default("transport")
    def _not_heard(self) -> str:
        longest = f"{self._short()}-5"
        return "ipc" if os.name == "posix" and len(os.fsencode(longest)) < _LONGEST_SOCKET else "tcp"

    @default("ip")
    def _place(self) -> str:
        return self._short() if self.transport == "ipc" else HOST

    def _short(self) -> str:
        """Where its sockets are: systems take short paths only."""
        return str(Path(self.connection_file).with_name(self.kernel_id[:8]))


class Kernels(AsyncMappingKernelManager):
    """Kernels that work in the folder where the command was started, and print nothing to its terminal."""

    @default("kernel_manager_class")
    def _own_kernel(self) -> str:
        return f"{__name__}.Kernel"

    def cwd_for_path(self, path: str, **kwargs: Any) -> str:
        """The folder where the command was started, whatever the path of the notebook."""
        return str(Path.cwd())

    def _kernel_start_kwargs(self, **kwargs: Any) -> dict[str, Any]:
        return super()._kernel_start_kwargs(**kwargs) | {"stdout": DEVNULL, "stderr": DEVNULL}


class Owner(IdentityProvider):
    """Whoever passes the gate is the one user."""

    def get_user(self, handler: Any) -> User:
        """The one user."""
        return User("owner")


class Window(TornadoVoilaHandler):
    """The page itself; while it is being made, its window counts as open."""

    async def get(self, path: str | None = None) -> None:
        """The page, with a kernel of its own."""
        page = self.settings["page"]
        page.opening += 1
        try:
            await super().get(path)
        finally:
            page.opening -= 1


class Page(Voila):
    """Voila for one page, which ends with its last window.

    Attributes
    ----------
    stopped : int or None
        The signal that ended it; None where its last window was closed.
    """

    def __init__(self, folder: Path, language: str, wait: float, warn: Callable[[str], None]) -> None:
        super().__init__(config=self._settings(folder, language))
        self.folder, self.language, self.wait, self.warn = folder, language, wait, warn
        self.opening = 0
        self.stopped: int | None = None

    @staticmethod
    def _settings(folder: Path, language: str) -> Config:
        config = Config()
        config.Voila.base_url = f"/{secrets.token_hex(8)}/"  # cookies know paths, but not ports
        config.Voila.identity_provider_class = Owner
        config.Voila.connection_dir_root = str(folder)
        config.Voila.notebook_path = str(folder / _NOTEBOOK)
        config.Voila.log_level = logging.CRITICAL
        config.VoilaConfiguration.allow_template_override = "NO"
        config.VoilaConfiguration.allow_theme_override = "NO"
        config.VoilaConfiguration.extension_allowlist = _EXTENSIONS
        config.VoilaConfiguration.multi_kernel_manager_class = Kernels
        config.VoilaConfiguration.resources = {"language": language, "words": texts("open", language)}
        config.VoilaExporter.template_file = "page.html"
        config.ZMQChannelsWebsocketConnection.limit_rate = False
        return config

    def load_config_file(self, *args: Any, **kwargs: Any) -> None:
        """Load none: those of the user and the folder are for other pages."""

    def setup_template_dirs(self) -> None:
        """Take our own template before those of Voila."""
        super().setup_template_dirs()
        self.template_paths.insert(0, str(_TEMPLATES))

    def init_handlers(self) -> list[Any]:
        """The page, and those of Voila's handlers that it needs."""
        needed = [row for row in super().init_handlers() if row[1].__name__ in _NEEDED]
        options = {
            "notebook_path": _NOTEBOOK,
            "template_paths": self.template_paths,
            "config": self.config,
            "voila_configuration": self.voila_configuration,
        }
        return [*needed, (self.base_url, Window, options)]

    async def run(self, listener: socket.socket, tell: Callable[[str, Path], None]) -> None:
        """Serve until the last window is closed, or a signal asks for the end."""
        address = "{}:{}".format(*listener.getsockname())
        token = secrets.token_urlsafe(32)
        self.connection_dir = str(self.folder)
        most = files.limit() or files.MAX_BYTES
        own: dict[str, Any] = {
            "address": address,
            "origin": f"http://{address}",
            "token": token,
            "key": secrets.token_urlsafe(32),
            "page": self,
            "refused": refusal(self.language),
            "headers": headers(address),
            "log_function": lambda _: None,
            "websocket_max_message_size": most,
            "disable_check_xsrf": True,  # the gate asks for more
        }
        self.app = Gate(**self.init_settings() | own)
        self.app.add_handlers(".*$", self.init_handlers())
        server = HTTPServer(self.app, max_buffer_size=most, max_body_size=_MOST_OF_A_FORM)
        server.add_sockets([listener])
        try:
            with self._asked_to_stop() as stop:
                home = f"http://{address}{self.base_url}"
                tell(f"{home}?token={token}", self._write_start(home, token))
                await self._last_window(stop)
        finally:
            server.stop()
            await server.close_all_connections()
            for kernel in self.kernel_manager.list_kernel_ids():
                await self._end(kernel)

    def _write_start(self, home: str, token: str) -> Path:
        """A file that sends the token: as an argument of the browser every user of the machine would see it."""
        path = self.folder / "open.html"
        form = f'<form method="post" action="{home}"><input type="hidden" name="token" value="{token}"></form>'
        path.touch(mode=0o600)
        path.write_text(f"{BLANK}{form}<script>document.forms[0].submit()</script>")
        return path

    @contextmanager
    def _asked_to_stop(self) -> Iterator[asyncio.Event]:
        """What is set when a signal asks the process to end."""
        loop, stop = asyncio.get_running_loop(), asyncio.Event()

        def heard(number: int, _: Any) -> None:
            self.stopped = number
            loop.call_soon_threadsafe(stop.set)

        names = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
        # what is ignored, as a hangup after nohup, is ignored here too
        wanted = [number for number in names if signal.getsignal(number) != signal.SIG_IGN]
        before = {number: signal.signal(number, heard) for number in wanted}
        try:
            yield stop
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def _end(self, kernel: str) -> None:
        """End a kernel; what it is just writing it first takes away."""
        with suppress(HTTPError):  # its window may end it at the same time
            await ensure_async(self.kernel_manager.interrupt_kernel(kernel))
            await ensure_async(self.kernel_manager.shutdown_kernel(kernel))

    async def _last_window(self, stop: asyncio.Event) -> None:
        """Wait for the signal, or until no window has been open for a while; end kernels whose window has gone."""
        now = asyncio.get_running_loop().time
        born: dict[str, float] = {}
        used: dict[str, float] = {}
        last: float | None = None
        while not stop.is_set():
            for model in self.kernel_manager.list_kernels():
                kernel = model["id"]
                if kernel not in born:
                    born[kernel] = now()
                    self.kernel_manager.add_restart_callback(kernel, lambda: self.warn(_DIED), "restart")
                # a page that was sent connects to its kernel when it has loaded
                if model["connections"] or (kernel not in used and now() - born[kernel] < _LOADING):
                    last = now()
                    used |= {kernel: last} if model["connections"] else {}
                elif now() - used.get(kernel, born[kernel]) > self.wait:
                    await self._end(kernel)
            if self.opening:
                last = now()
            elif last is not None and now() - last > self.wait:
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), timeout=max(0.1, min(1, self.wait)))
