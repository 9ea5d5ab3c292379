"""Whetstone and Probot side by side: start, memory, acknowledgements, delivery to comment, bursts.

Every contender runs alone against the same fake GitHub, in turns, ROUNDS times (3). AGAINST names another
checkout of Whetstone that is measured as well: AGAINST=../before make bench ARGS=compare
Where Probot could be measured, it writes benchmarks/RESULTS.md and the README's sentence about speed.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import json
import os
import platform
import statistics
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks._servers import (
    APP,
    DATE_ERROR,
    ROOT,
    Server,
    new_database,
    postgres,
    probot,
    serving,
    whetstone,
)
from bot.fakegithub.deliveries import Exchange
from bot.fakegithub.pulls import PullRequest
from tests.scripted_github import ScriptedGitHub

REJECT = "CHANGES_REQUESTED"
IDLE_ROUNDS = 25
BURST = 60
IN_FLIGHT = 64
REVIEWS = 2_000
IGNORED = 6_000
RESULTS = Path(__file__).parent / "RESULTS.md"
README = ROOT / "README.md"
SUMMARY_START = "Side by side with Probot"
GROWTH = "\n## Growth\n"


@dataclass(frozen=True, slots=True)
class Contender:
    """What is measured, and how it is started."""

    name: str
    command: tuple[str, ...]
    store: str = "sqlite"
    checkout: Path = ROOT


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the table."""

    name: str
    digits: int = 0
    aim: str = ""
    """The ratio to Probot: "at most" or "at least" a number."""
    reason: str = ""
    """Why the aim is missed, if it is."""

    def is_missed(self, ratio: float) -> bool:
        """Whether this ratio, rounded as in the table, misses the aim."""
        limit = float(self.aim.rpartition(" ")[2] or "inf")
        ratio = round(ratio, 2)
        return ratio < limit if self.aim.startswith("at least") else ratio > limit


MEASURES = {
    "start": Measure("start to ready, s", 2, "at most 5"),
    "idle_memory": Measure(
        "resident memory after start, MB",
        0,
        "at most 1.35",
        "Before the first delivery, SQLAlchemy takes 11 MB, aiohttp with TLS and its certificates 13 MB, "
        "cryptography 7 MB.",
    ),
    "first": Measure("first review to comment, ms", 0),
    "idle": Measure(
        "review to comment while idle, p50 ms",
        1,
        "at most 1.6",
        "Whetstone waits twice for the disk (the delivery, and the result of its turn) and twice for GitHub "
        "(reviews and inline comments at the same time, then the comment); Probot waits for one request. "
        "Reading, deciding, rendering and storing take the rest.",
    ),
    "idle_p95": Measure("review to comment while idle, p95 ms", 1),
    "burst": Measure(
        f"{BURST} reviews at once to {BURST} comments, s",
        2,
        "at most 1.5",
        "The limit is one interpreter, not the waits: the line about processor time says how much a review "
        "takes. A third of it goes to the store, a quarter to the decision with its comment, a sixth to the "
        "requests to GitHub, and the rest to the event loop and to the deliveries. The ratio varies between "
        "runs: the medians of five were 2.2, 2.0 and 2.0 on one machine.",
    ),
    "cpu": Measure("processor time of the server for a review, ms", 1),
    "acks": Measure(
        f"rejecting reviews acknowledged a second, {IN_FLIGHT} in flight",
        0,
        "at least 5",
        "While Whetstone acknowledges deliveries, it already posts some comments, with the same interpreter. "
        "The ratio varies between runs: the medians of five were 5.5, 5.3 and 6.0 on one machine.",
    ),
    "ack_p99": Measure(
        "acknowledgement of a rejecting review, p99 ms",
        0,
        "at most 0.4",
        "An acknowledgement can wait for the computation of a comment.",
    ),
    "ignored": Measure(
        f"ignored events a second, {IN_FLIGHT} in flight",
        0,
        "at least 1.5",
        "The benchmark's client shares the cores with the server. The ratio varies between runs: the medians "
        "of five were 1.6, 1.7 and 1.9 on one machine.",
    ),
    "memory": Measure(
        f"resident memory after {REVIEWS + IGNORED:,} deliveries, MB",
        0,
        "at most 0.75",
        "What was loaded at the start stays, and so does what the first turns load.",
    ),
}

Figures = dict[str, list[float]]


def main() -> None:
    rounds = int(os.environ.get("ROUNDS", "3"))
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="whetstone-bench-"))
        server = stack.enter_context(postgres())
        contenders = list(_contenders())
        results: dict[str, Figures] = {contender.name: {} for contender in contenders}
        for number in range(rounds):
            for contender in contenders[:: 1 if number % 2 == 0 else -1]:
                figures = asyncio.run(_measure_on(contender, folder, server))
                for key, value in figures.items():
                    results[contender.name].setdefault(key, []).append(value)
    table = "\n".join(_table(results))
    print(table)
    if "Probot" in results:
        summary = _summary(results)
        document = _document(results, table, summary, rounds)
        RESULTS.write_text(document + _growth(), encoding="utf-8")
        readme = README.read_text(encoding="utf-8")
        start = readme.index(SUMMARY_START)
        end = readme.index("\n\n", start)
        README.write_text(readme[:start] + summary + readme[end:], encoding="utf-8")
        print(f"\nwritten to {RESULTS.relative_to(ROOT)} and {README.relative_to(ROOT)}")


def _contenders() -> Iterator[Contender]:
    yield Contender("Whetstone", whetstone())
    if rival := probot():
        yield Contender("Probot", rival)
    if path := os.environ.get("AGAINST"):
        yield Contender("before", whetstone(), checkout=Path(path).absolute())
    if not os.environ.get("SQLITE_ONLY"):
        yield Contender("on PostgreSQL", whetstone(), store="postgresql")


_numbers = itertools.count(1)


async def _measure_on(contender: Contender, folder: str, server: str) -> dict[str, float]:
    number = next(_numbers)
    if contender.store == "postgresql":
        url = await new_database(server, f"bench{number}")
    else:
        url = f"sqlite:///{folder}/bench{number}.db"
    if contender.name != "Probot":
        # The first start creates the tables; what is measured is every later one.
        async with ScriptedGitHub(APP) as github, serving(github, contender.command, url, contender.checkout):
            pass
    github = ScriptedGitHub(APP)
    github.deliveries.in_flight = 16
    async with github, serving(github, contender.command, url, contender.checkout) as running:
        return await _measure(github, running)


async def _measure(github: ScriptedGitHub, server: Server) -> dict[str, float]:
    await asyncio.sleep(1)  # what a start leaves to do: the first sweep, the search for missed deliveries
    idle_memory = server.memory
    repository = github.repository("acme/knowledge", collaborators={"alice": "write"})
    pulls = [github.open_pull_request(repository, "rio-agent[bot]") for _ in range(IDLE_ROUNDS + 1)]
    await github.delivered(60)
    waits = [await _reject(github, pulls[0])]
    used = server.cpu_seconds
    waits += [await _reject(github, pull) for pull in pulls[1:]]
    used = server.cpu_seconds - used
    figures = {
        "start": server.started_in,
        "idle_memory": idle_memory,
        "first": waits[0] * 1000,
        "idle": statistics.median(waits[1:]) * 1000,
        "idle_p95": statistics.quantiles(waits[1:], n=20)[-1] * 1000,
        "burst": await _burst(github),
        "cpu": used / IDLE_ROUNDS * 1000,
    }
    reviews = list(_signed(github, server.url, "pull_request_review", REVIEWS))
    ignored = list(_signed(github, server.url, "watch", IGNORED))
    # The reviews come last: Whetstone works on them after it has acknowledged them.
    figures["ignored"], _ = await _flood(server.url, ignored)
    figures["acks"], figures["ack_p99"] = await _flood(server.url, reviews)
    figures["memory"] = server.memory
    return figures


async def _reject(github: ScriptedGitHub, pull: PullRequest) -> float:
    """Seconds from a rejecting review to the comment about it."""
    begun = time.perf_counter()
    github.submit_review(pull, "alice", REJECT, DATE_ERROR)
    await github.until(lambda: github.comments_of(pull), 60)
    seconds = time.perf_counter() - begun
    await github.delivered(60)
    return seconds


async def _burst(github: ScriptedGitHub) -> float:
    """Seconds from the first of many reviews to the last comment; under the writes allowed in a minute."""
    repository = github.repository("other/knowledge", collaborators={"alice": "write"})
    pulls = [github.open_pull_request(repository, "rio-agent[bot]") for _ in range(BURST)]
    await github.delivered(60)
    await asyncio.sleep(0.5)
    posted = 0

    def count(exchange: Exchange) -> None:
        nonlocal posted
        posted += exchange.method == "POST" and exchange.path.endswith("/comments")

    github.observers.append(count)
    begun = time.perf_counter()
    for pull in pulls:
        github.submit_review(pull, "alice", REJECT, DATE_ERROR)
    await github.until(lambda: posted >= BURST, 120)
    seconds = time.perf_counter() - begun
    github.observers.remove(count)
    await github.delivered(60)
    return seconds


def _signed(github: ScriptedGitHub, url: str, event: str, count: int) -> Iterator[bytes]:
    """Deliveries as GitHub puts them on the wire; made beforehand, so that the client costs little."""
    reviews = [each.payload for each in github.deliveries if each.event == "pull_request_review"]
    for number in range(count):
        payload = reviews[number % len(reviews)]
        if event == "watch":
            payload = {**payload, "action": "started"}
        body = json.dumps(payload).encode()
        signature = hmac.new(APP.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
        head = (
            f"POST /webhook HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nX-GitHub-Event: {event}\r\nUser-Agent: GitHub-Hookshot/0\r\n"
            f"X-GitHub-Delivery: {event}-{number}\r\nX-Hub-Signature-256: sha256={signature}\r\n\r\n"
        )
        yield head.encode() + body


async def _flood(url: str, requests: list[bytes]) -> tuple[float, float]:
    """Deliveries acknowledged a second, and the p99 of an acknowledgement in milliseconds."""
    host, port = urlsplit(url).hostname, urlsplit(url).port
    took: list[float] = []

    async def send() -> None:
        reader, writer = await asyncio.open_connection(host, port)
        while requests:
            request = requests.pop()
            begun = time.perf_counter()
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            if b"content-length: " in head:
                await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
            else:
                while (size := int(await reader.readline(), 16)) or await reader.readline() != b"\r\n":
                    await reader.readexactly(size + 2)
            if head.startswith(b"http/1.1 503"):
                requests.append(request)
            elif head.split()[1] not in {b"200", b"202"}:
                raise SystemExit(f"not acknowledged: {head.decode()}")
            else:
                took.append(time.perf_counter() - begun)
        writer.close()

    begun = time.perf_counter()
    await asyncio.gather(*(send() for _ in range(IN_FLIGHT)))
    return len(took) / (time.perf_counter() - begun), statistics.quantiles(took, n=100)[-1] * 1000


def _table(results: Mapping[str, Figures]) -> Iterator[str]:
    """The median of every figure with its range, and the ratio of Whetstone to every other contender."""
    ours, *others = results
    names = [*results, *(f"ratio to {name}" for name in others if not name.startswith("on "))]
    yield f"| measure | {' | '.join(names)} | aim |"
    yield f"|---|{'--:|' * len(names)}---|"
    for key, measure in MEASURES.items():
        cells = [_cell(figures[key], measure.digits) for figures in results.values()]
        for name in others:
            if not name.startswith("on "):
                pairs = zip(results[ours][key], results[name][key], strict=True)
                cells.append(_cell([mine / theirs for mine, theirs in pairs], 2))
        yield f"| {measure.name} | {' | '.join(cells)} | {measure.aim} |"


def _cell(values: list[float], digits: int) -> str:
    low, high = min(values), max(values)
    return f"{statistics.median(values):,.{digits}f} ({low:,.{digits}f}–{high:,.{digits}f})"


def _summary(results: Mapping[str, Figures]) -> str:
    """The sentences of the README."""

    def ratio(key: str) -> str:
        # Rounded as in the table first, so that a reader who rounds that gets the same.
        return f"{round(_ratio(results, key), 2):.1f} ×"

    text = (
        f"{SUMMARY_START}, which stores nothing and posts a fixed sentence, Whetstone acknowledges "
        f"{ratio('acks')} as many rejecting reviews a second, all of them stored on disk. A comment takes "
        f"{ratio('idle')} as long, and {ratio('burst')} as long in a burst of {BURST}. Startup takes "
        f"{ratio('start')} as long, and memory use is {ratio('idle_memory')} as high. See the "
        "[results](benchmarks/RESULTS.md) for how this was measured."
    )
    return textwrap.fill(text, 120)


def _ratio(results: Mapping[str, Figures], key: str) -> float:
    pairs = zip(results["Whetstone"][key], results["Probot"][key], strict=True)
    return statistics.median(mine / theirs for mine, theirs in pairs)


def _missed(results: Mapping[str, Figures]) -> str:
    missed = [
        textwrap.fill(f"- **{measure.name}.** {measure.reason}", 110, subsequent_indent="  ")
        for key, measure in MEASURES.items()
        if measure.aim and measure.is_missed(_ratio(results, key))
    ]
    return "\n".join(["## Where an aim is missed, and why", "", *missed, "", ""]) if missed else ""


def _growth() -> str:
    """The section of the results about growth, which `ARGS=growth` writes."""
    text = RESULTS.read_text(encoding="utf-8")
    return text[text.index(GROWTH) :] if GROWTH in text else ""


def _document(results: Mapping[str, Figures], table: str, summary: str, rounds: int) -> str:
    return f"""# Results

{summary.replace("(benchmarks/RESULTS.md)", "(RESULTS.md)")}

Measured by `make bench ARGS=compare` on {os.cpu_count()} shared cores, Python
{platform.python_version()}, Probot 14.3.2 from the npm registry with its throttling off. Each ran alone
against the same fake GitHub, alternately, {rounds} times. The table shows the median, with the lowest and the
highest figure in brackets. Compare the ratios, not the figures: the fake GitHub and the benchmark's client
use the same cores.

Whetstone stores every delivery before it acknowledges it, reads the reviews from GitHub, decides, renders the
comment and records it; Probot keeps nothing and posts one fixed sentence.

{table}

{_missed(results)}## Repeat it

`make bench ARGS=compare` needs node and npm for Probot, prints the table and writes this page;
`AGAINST=../other-checkout` measures another version of Whetstone as well, `ROUNDS=5` takes more time.
`make bench ARGS=turn` prints the statements, commits, requests and calls of one review, and
`make bench ARGS=growth` how both stores slow down as they grow.
"""
