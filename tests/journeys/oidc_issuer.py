"""An issuer of OIDC tokens over loopback, as GitHub Actions has one: discovery, keys, and tokens for jobs."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from jwt.algorithms import RSAAlgorithm

from bot.fakegithub.apps import KeyPair, new_key_pair

JOB_SECRET = "job-secret"


@dataclass
class Issuer:
    """Signs what a test asks for, and counts how often its keys are read."""

    keys: dict[str, KeyPair] = field(default_factory=lambda: {"first": new_key_pair()})
    url: str = ""
    reads: int = 0
    is_away: bool = False
    claims: dict[str, object] = field(default_factory=dict)
    """What the tokens of the job say, besides the audience that it asks for."""

    def sign(self, key_id="first", *, key=None, algorithm="RS256", **changes) -> str:
        """A token of the job that `claims` describes, with these changes; None leaves a claim out."""
        now = int(time.time())
        claims = {"iss": self.url, "iat": now, "nbf": now, "exp": now + 300, **self.claims, **changes}
        claims = {name: value for name, value in claims.items() if value is not None}
        signing = self.keys[key_id].private_pem if key is None else key
        return jwt.encode(claims, signing, algorithm=algorithm, headers={"kid": key_id})

    async def describe(self, _request: web.Request) -> web.Response:
        """The discovery document."""
        return web.json_response({"issuer": self.url, "jwks_uri": f"{self.url}/keys"})

    async def list_keys(self, _request: web.Request) -> web.Response:
        """The public keys."""
        self.reads += 1
        if self.is_away:
            return web.Response(status=500)
        public = {
            key_id: RSAAlgorithm.to_jwk(load_pem_public_key(pair.public_pem.encode()), as_dict=True)
            for key_id, pair in self.keys.items()
        }
        keys = [{**key, "kid": key_id, "alg": "RS256", "use": "sig"} for key_id, key in public.items()]
        return web.json_response({"keys": keys})

    async def issue(self, request: web.Request) -> web.Response:
        """A token for a job that shows its secret, for the audience that it names."""
        if request.headers.get("Authorization") != f"Bearer {JOB_SECRET}":
            return web.Response(status=401)
        return web.Response(text=json.dumps({"value": self.sign(aud=request.query["audience"])}))


@asynccontextmanager
async def run_issuer() -> AsyncIterator[Issuer]:
    """The issuer while it listens."""
    issuer = Issuer()
    app = web.Application()
    app.add_routes(
        [
            web.get("/.well-known/openid-configuration", issuer.describe),
            web.get("/keys", issuer.list_keys),
            web.get("/token", issuer.issue),
        ]
    )
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        issuer.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield issuer
    finally:
        await runner.cleanup()
