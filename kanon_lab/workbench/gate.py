"""The gate of the workbench's page: who may pass, and what every answer says of what a browser may load and keep."""

from __future__ import annotations

import hmac
from functools import cache
from html import escape
from typing import Any

from tornado.web import Application, Finish, RequestHandler

from kanon_lab.terms import texts

#: What tells the page which file is opened at first, and in which language, so that neither is in an address.
OPEN_FILE, OPEN_LANGUAGE = "KANON_LAB_OPEN_FILE", "KANON_LAB_OPEN_LANGUAGE"
_COOKIE = "kanon-lab"
BLANK = '<!DOCTYPE html><title>kanon-lab</title><link rel="icon" href="data:,">'  # else browsers ask for an icon


class Sealed(RequestHandler):
    """Headers of every answer: nothing is loaded from elsewhere, kept, or shown inside another page."""

    def set_default_headers(self) -> None:
        """Set them beside those of the handler."""
        super().set_default_headers()
        for name, value in self.settings["headers"].items():
            self.set_header(name, value)

    def set_header(self, name: str, value: Any) -> None:
        """Set a header that is not one of ours, which no handler changes."""
        super().set_header(name, self.settings["headers"].get(name, value))

    def compute_etag(self) -> None:
        """No mark by which a browser would keep an answer."""


@cache
def _sealed(handler: type) -> type:
    return type(handler.__name__, (Sealed, handler), {})


class Gate(Application):
    """All handlers behind one gate: only a browser with the cookie passes, and gets the cookie for the token."""

    def find_handler(self, request: Any, **kwargs: Any) -> Any:
        """The handler of a request that may pass, or the one that refuses."""
        home, key = self.settings["base_url"], self.settings["key"]
        if request.headers.get("Host") != self.settings["address"]:
            return self.get_handler_delegate(request, Refusal)
        if request.path == home and (request.method == "POST" or "token" in request.query):
            return self.get_handler_delegate(request, Entry)
        cookie = request.cookies.get(_COOKIE)
        origin = request.headers.get("Origin", self.settings["origin"])
        if cookie is None or not _same(cookie.value, key) or origin != self.settings["origin"]:
            return self.get_handler_delegate(request, Refusal)
        return super().find_handler(request, **kwargs)

    def get_handler_delegate(self, request: Any, target_class: Any, *args: Any, **kwargs: Any) -> Any:
        """The handler with our headers."""
        return super().get_handler_delegate(request, _sealed(target_class), *args, **kwargs)


def _same(text: str, secret: str) -> bool:
    return hmac.compare_digest(text.encode(), secret.encode())


class Refusal(RequestHandler):
    """Says that a request has not passed the gate, and nothing else."""

    def prepare(self) -> None:
        """Answer any request."""
        self.set_status(403)
        self.finish(self.settings["refused"])


class Entry(RequestHandler):
    """Gives the cookie for the token; the page that follows has no token in its address."""

    def get(self) -> None:
        """Of the address that the command printed."""
        self._enter(self.get_query_argument("token", ""))
        self.redirect(self.settings["base_url"], status=303)

    def post(self) -> None:
        """Of the file that the command opened: a browser follows the page, but not a redirection, with the cookie."""
        self._enter(self.get_body_argument("token", ""))
        self.finish(f'{BLANK}<meta http-equiv="refresh" content="0; url={self.settings["base_url"]}">')

    def _enter(self, token: str) -> None:
        if not _same(token, self.settings["token"]):
            self.set_status(403)
            raise Finish(self.settings["refused"])
        home = self.settings["base_url"]
        self.set_cookie(_COOKIE, self.settings["key"], path=home, httponly=True, samesite="Strict")


def refusal(language: str) -> str:
    """The page of whoever does not pass the gate."""
    return f'{BLANK}<html lang="{language}"><p>{escape(texts("open", language)["refused"])}'


def headers(address: str) -> dict[str, str]:
    """Headers that keep a browser from loading, keeping and telling anything."""
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": f"'self' ws://{address}",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in policy.items()),
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
    }
