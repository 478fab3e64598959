"""The page of the workbench, served by Voila on this machine to whoever has the token, and nothing kept at the end."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.identity import IdentityProvider, User
from jupyter_server.services.kernels.connection.base import serialize_msg_to_ws_v1
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from nbformat.v4 import new_code_cell, new_notebook, writes
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import HTTPError
from tornado.websocket import WebSocketClosedError
from traitlets.config import Config
from voila.app import Voila
from voila.tornado.handler import TornadoVoilaHandler

from kanon_lab import files
from kanon_lab.errors import StorageError
from kanon_lab.folders import held_folder, temporary_root
from kanon_lab.terms import texts
from kanon_lab.workbench.gate import BLANK, LINE, OPEN_FILE, OPEN_LANGUAGE, Gate

HOST = "127.0.0.1"
CELL = "from kanon_lab.workbench import workbench\n\nworkbench()"
_TEMPLATES = Path(__file__).with_name("templates")
_NAME, _NOTEBOOK = "kanon-lab-workbench", "workbench.ipynb"
_KERNEL = {"name": _NAME, "display_name": _NAME, "language": "python"}
# Handlers of Voila that the page needs, and no others: none that lists or sends files of the user.
_NEEDED = {
    "FileFindHandler",
    "KernelHandler",
    "MultiStaticFileHandler",
    "TemplateStaticFileHandler",
    "TornadoVoilaHandler",
    "VoilaKernelWebsocketHandler",
    "VoilaShutdownKernelHandler",
}
# Extensions of JupyterLab that draw widgets; others that are installed here are not loaded.
_EXTENSIONS = ["@jupyter-widgets/jupyterlab-manager", "@voila-dashboards/widgets-manager8"]
_DIED = "the Python process of a window died, perhaps for lack of memory: reload the page; your settings are kept"
_LOADING = 60  # seconds that a browser may take to load the page
_LONGEST_ROOT = 24  # bytes of the path of a folder in which kernels can have sockets: systems take some 100 in all
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
    """Serve one page, the result of a cell, until its last window has been closed for `wait` seconds, or a signal.

    `tell` is called once the page can be opened, with its address, which holds the token, and with a file that opens it
    without any other user seeing the token; `warn` with a sentence when the Python process of a window has died. A
    `StorageError` if the port is in use.
    """
    with (
        _listen(port) as listener,
        held_folder() as folder,
        held_folder(_short_root()) as sockets,
        _private(folder, file, language),
        suppress(KeyboardInterrupt),
    ):
        _write_kernel(folder)
        notebook = new_notebook(cells=[new_code_cell(cell)], metadata={"kernelspec": _KERNEL})
        (folder / _NOTEBOOK).write_text(writes(notebook), "utf-8")
        page = Page(folder, sockets, language)
        page.initialize([])
        asyncio.run(page.run(listener, wait, tell, warn))


def _listen(port: int) -> socket.socket:
    """A socket of this machine that listens."""
    try:
        return bind_sockets(port, HOST)[0]
    except OSError as error:
        fault = "is in use" if port else error.strerror
        raise StorageError(f"port {port}: {fault}; choose another (--port), or leave it out") from None


def _short_root() -> Path | None:
    """A folder for sockets that other users can't enter: /tmp where the path of the usual one is too long for them."""
    is_long = os.name == "posix" and len(os.fsencode(temporary_root())) > _LONGEST_ROOT
    return Path("/tmp") if is_long else None


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
    place = folder / "jupyter_data_dir" / "kernels" / _KERNEL["name"]
    place.mkdir(parents=True)
    quiet = ["--HistoryManager.enabled=False", "--IPKernelApp.log_level=50"]
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", *quiet]
    (place / "kernel.json").write_text(json.dumps(_KERNEL | {"argv": command}))


class Kernels(AsyncMappingKernelManager):
    """Kernels that print nothing to the terminal of the command."""

    def _kernel_start_kwargs(self, **kwargs: Any) -> dict[str, Any]:
        return super()._kernel_start_kwargs(**kwargs) | {"stdout": DEVNULL, "stderr": DEVNULL}

    def kernel_model(self, kernel_id: str) -> dict[str, Any]:
        """What is known of a kernel; one that is just being started is not there yet, for it has no state."""
        if kernel_id in self and getattr(self.get_kernel(kernel_id), "execution_state", None) is None:
            raise HTTPError(404)
        return super().kernel_model(kernel_id)


class Channels(ZMQChannelsWebsocketConnection):
    """What goes between a window and its kernel; the window is told when nobody answers any more."""

    def show(self, key: str) -> None:
        """Show a wording on the line of the page that says what went wrong."""
        words = escape(self.config.VoilaConfiguration.resources["words"][key])
        state = {"value": f'<p role="alert" class="kanon-fault">{words}</p>'}
        data = {"method": "update", "state": state, "buffer_paths": []}
        message = self.session.msg("comm_msg", {"comm_id": LINE, "data": data})
        with suppress(WebSocketClosedError):
            self.write_message(serialize_msg_to_ws_v1(message, "iopub", self.session.pack), binary=True)

    def on_kernel_restarted(self) -> None:
        """Say it before the window forgets its widgets."""
        self.show("died")
        super().on_kernel_restarted()


class Owner(IdentityProvider):
    """Whoever passes the gate is the one user."""

    def get_user(self, handler: Any) -> User:
        """The one user."""
        return User("owner")


class Page(Voila):
    """Voila for one page, which ends with its last window."""

    def __init__(self, folder: Path, sockets: Path, language: str) -> None:
        config = Config()
        config.Voila.base_url = f"/{secrets.token_hex(8)}/"  # cookies know paths, but not ports
        config.Voila.identity_provider_class = Owner
        config.Voila.kernel_websocket_connection_class = Channels
        config.Voila.notebook_path = str(folder / _NOTEBOOK)
        config.Voila.root_dir = str(folder)
        config.Voila.log_level = logging.CRITICAL
        config.VoilaConfiguration.allow_template_override = "NO"
        config.VoilaConfiguration.allow_theme_override = "NO"
        config.VoilaConfiguration.extension_allowlist = _EXTENSIONS
        config.VoilaConfiguration.multi_kernel_manager_class = Kernels
        config.VoilaConfiguration.resources = {"language": language, "words": texts("open", language)}
        config.VoilaExporter.template_file = "page.html"
        config.ZMQChannelsWebsocketConnection.limit_rate = False
        # kernels work where the command was started; other users of the machine could listen at a port
        config.AsyncMappingKernelManager.root_dir = str(Path.cwd())
        config.KernelManager.transport = "ipc" if os.name == "posix" else "tcp"
        super().__init__(config=config)
        self.folder, self.language, self.connection_dir = folder, language, str(sockets)

    def load_config_file(self, *args: Any, **kwargs: Any) -> None:
        """Load none: those of the user and the folder are for other pages."""

    def setup_template_dirs(self) -> None:
        """Take our own template before those of Voila."""
        super().setup_template_dirs()
        self.template_paths.insert(0, str(_TEMPLATES))

    def init_handlers(self) -> list[Any]:
        """Those of Voila's handlers that the page needs; the page itself is at one address."""
        needed = [row for row in super().init_handlers() if row[1].__name__ in _NEEDED]
        return [(self.base_url if row[1] is TornadoVoilaHandler else row[0], *row[1:]) for row in needed]

    def _handle_signal_stop(self, sig: int, frame: Any) -> None:
        raise SystemExit(128 + sig)

    async def run(
        self, listener: socket.socket, wait: float, tell: Callable[[str, Path], None], warn: Callable[[str], None]
    ) -> None:
        """Serve until the last window is closed, or a signal asks for the end."""
        address = "{}:{}".format(*listener.getsockname())
        token, most = secrets.token_urlsafe(32), files.limit() or files.MAX_BYTES
        own: dict[str, Any] = {
            "log_function": lambda _: None,
            "websocket_max_message_size": most,
            "disable_check_xsrf": True,  # the gate asks for more
        }
        app = Gate(address, token, self.language, **self.init_settings() | own)
        app.add_handlers(".*$", self.init_handlers())
        server = HTTPServer(app, max_buffer_size=most, max_body_size=_MOST_OF_A_FORM)
        server.add_sockets([listener])
        try:
            home = f"http://{address}{self.base_url}"
            tell(f"{home}?token={token}", self._write_start(home, token))
            await self._last_window(wait, warn)
        finally:
            windows: Any = [*Channels._open_sockets]
            for window in windows:
                window.show("ended")
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

    async def _end(self, kernel: str) -> None:
        """End a kernel; what it is just writing it first takes away."""
        with suppress(HTTPError):  # its window may end it at the same time
            await ensure_async(self.kernel_manager.interrupt_kernel(kernel))
            await ensure_async(self.kernel_manager.shutdown_kernel(kernel))

    async def _last_window(self, wait: float, warn: Callable[[str], None]) -> None:
        """Wait until no window has been open for a while; end kernels whose window has gone."""
        now = asyncio.get_running_loop().time
        until: dict[str, float] = {}  # how long each kernel may be without a window
        while not until or now() < max(until.values()):
            await asyncio.sleep(max(0.1, min(1, wait)))
            for model in self.kernel_manager.list_kernels():
                kernel = model["id"]
                if kernel not in until:
                    self.kernel_manager.add_restart_callback(kernel, lambda: warn(_DIED), "restart")
                if model["connections"]:
                    until[kernel] = now() + wait
                elif kernel not in until or model["execution_state"] in ("starting", "busy"):  # its page is being made
                    until[kernel] = now() + _LOADING
                elif now() > until[kernel]:
                    await self._end(kernel)
