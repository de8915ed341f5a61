"""Where a server of tools is, with the variables filled in."""

from __future__ import annotations

import pytest

from endpoints import Portal, redaction
from endpoints.redaction import redact
from providers.agent.server_settings import fill_in, parse_servers


def test_what_is_a_credential_by_its_name_is_masked_once_it_is_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_remembered", set())
    (server,) = parse_servers(
        [
            {
                "name": "shop",
                "url": "${SHOP_URL}/mcp",
                "headers": {"Authorization": "Bearer ${SHOP}", "X-Region": "${REGION}", "X-Mode": "${SHOP_PASSWORD}"},
            }
        ],
        "servers",
    )
    names = {
        "SHOP_URL": "https://shop.example",
        "SHOP": "plain-word",
        "REGION": "westeurope",
        "SHOP_PASSWORD": "hunter22",
    }
    address = fill_in(server, Portal("https://portal.example/mcp", "https://portal.example", "t"), names)
    assert address.headers == {"Authorization": "Bearer plain-word", "X-Region": "westeurope", "X-Mode": "hunter22"}
    assert redact("plain-word in westeurope at https://shop.example with hunter22") == (
        "[redacted] in westeurope at https://shop.example with [redacted]"
    )
