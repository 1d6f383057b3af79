"""The page as one file: the bundle of its program and its style, and the data that they show."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slantpath.view.blocks import Blocks

POLICY = "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data: blob:"
"""Rules by which the browser runs our program alone, and asks nobody for anything."""


def document(title: str, told: Mapping[str, Any], blocks: Blocks) -> str:
    """Give the whole page. Equal data give equal pages: there is no date in it."""
    bundle = files("slantpath.view") / "bundle"
    script = (bundle / "view.js").read_text(encoding="utf-8")
    style = (bundle / "view.css").read_text(encoding="utf-8")
    policy = POLICY.format(script=_digest(script), style=_digest(style))
    # No letter of a name ends the element: what would begin a tag is written as a number.
    data = json.dumps(told, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><style>{style}</style></head>\n'
        f'<body><div id="view"><h1>{escape(title)}</h1><p>This page needs JavaScript.</p></div>\n'
        f'<script type="application/json" id="told">{data}</script>\n{blocks.html()}\n'
        f"<script>{script}</script></body></html>\n"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
