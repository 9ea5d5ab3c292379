"""What does GitHub tell the App about its webhook?"""

from __future__ import annotations

from bot.standin.api.call import BY_APP, Answer, Call, Route


def get_config(call: Call) -> Answer:
    """Where deliveries go; the secret is shown as stars."""
    return Answer(
        {
            "content_type": "json",
            "insecure_ssl": "0",
            "secret": "********" if call.github.deliveries.secret else "",
            "url": call.github.deliveries.url or "",
        }
    )


ROUTES = (Route("GET", "/app/hook/config", get_config, BY_APP),)
