"""The gate of the workbench's page: who may pass, and what every answer says of what a browser may load and keep."""

from __future__ import annotations

import hmac
import secrets
from functools import partial
from html import escape
from typing import Any

from tornado.web import Application, OutputTransform, RequestHandler

from kanon_lab.terms import texts

#: What tells the page which file is opened at first, and in which language, so that neither is in an address.
OPEN_FILE, OPEN_LANGUAGE = "KANON_LAB_OPEN_FILE", "KANON_LAB_OPEN_LANGUAGE"
#: The widget of the page on what went wrong, by which the server can say it too.
LINE = "kanon-lab-line"
_COOKIE = "kanon-lab"
# What a browser may load: what this machine sends, and nothing from elsewhere.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self' ws://{address}; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
BLANK = '<!DOCTYPE html><title>kanon-lab</title><link rel="icon" href="data:,">'  # else browsers ask for an icon


class Sealed(OutputTransform):
    """Headers of every answer: nothing is loaded from elsewhere, kept, or shown inside another page."""

    def __init__(self, policy: str, request: Any) -> None:
        self._headers = {**_HEADERS, "Content-Security-Policy": policy}

    def transform_first_chunk(self, status_code: int, headers: Any, chunk: bytes, finishing: bool) -> Any:
        """Set them in place of those of the handler."""
        headers.pop("Etag", None)  # by it a browser would keep an answer
        headers.update(self._headers)
        return status_code, headers, chunk


class Gate(Application):
    """All handlers behind one gate: only a browser with the cookie passes, and gets the cookie for the token."""

    def __init__(self, address: str, token: str, language: str, **settings: Any) -> None:
        sealed: Any = partial(Sealed, _POLICY.format(address=address))
        super().__init__(transforms=[sealed], **settings)
        words = escape(texts("open", language)["refused"])
        self.refused = f'{BLANK}<html lang="{language}"><p>{words}'
        self.address, self.token, self.key = address, token, secrets.token_urlsafe(32)

    def find_handler(self, request: Any, **kwargs: Any) -> Any:
        """The handler of a request that may pass, or the one that refuses."""
        if request.headers.get("Host") != self.address:
            return self.get_handler_delegate(request, Refusal)
        if request.path == self.settings["base_url"] and (request.method == "POST" or "token" in request.query):
            return self.get_handler_delegate(request, Entry)
        cookie, own = request.cookies.get(_COOKIE), f"http://{self.address}"
        if cookie is None or not _same(cookie.value, self.key) or request.headers.get("Origin", own) != own:
            return self.get_handler_delegate(request, Refusal)
        return super().find_handler(request, **kwargs)


def _same(text: str, secret: str) -> bool:
    return hmac.compare_digest(text.encode(), secret.encode())


class Refusal(RequestHandler):
    """Says that a request has not passed the gate, and nothing else."""

    application: Gate

    def prepare(self) -> None:
        """Answer any request."""
        self.set_status(403)
        self.finish(self.application.refused)


class Entry(Refusal):
    """Gives the cookie for the token; the page that follows has no token in its address."""

    def prepare(self) -> None:
        """Refuse what has another token."""
        if not _same(self.get_argument("token", ""), self.application.token):
            super().prepare()
        else:
            home = self.settings["base_url"]
            self.set_cookie(_COOKIE, self.application.key, path=home, httponly=True, samesite="Strict")

    def get(self) -> None:
        """Of the address that the command printed."""
        self.redirect(self.settings["base_url"], status=303)

    def post(self) -> None:
        """Of the file that the command opened: a browser follows the page, but not a redirection, with the cookie."""
        self.finish(f'{BLANK}<meta http-equiv="refresh" content="0; url={self.settings["base_url"]}">')
