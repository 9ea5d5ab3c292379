"""The alert rules and the dashboard ask for metrics that exist, with labels that they have."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path

import aiohttp
import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from bot import app
from bot.store.model import ReconcileOutcome
from tests.journeys.harness import Harness

ROOT = Path(__file__).parents[2]
ALERTS = yaml.safe_load((ROOT / "deploy" / "prometheus-alerts.yml").read_text(encoding="utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
DASHBOARD = json.loads((ROOT / "deploy" / "grafana-dashboard.json").read_text(encoding="utf-8"))
QUERIES = [
    *(rule["expr"] for rule in RULES),
    *(target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]),
]
PROMETHEUS = {"job", "instance", "le"}
"""Labels that Prometheus itself adds, and the bucket of a histogram."""


@pytest.fixture(scope="module")
def metrics(tmp_path_factory):
    """Names and labels of what a server shows after one rejection and a reconcile run."""
    text = asyncio.run(scrape(f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db"))
    labels = {"up": set()}
    for family in text_string_to_metric_families(text):
        suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}
        for suffix in suffixes.get(family.type, ("",)):
            labels[family.name + suffix] = set()
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    return labels


async def scrape(url):
    harness = Harness(url)
    knowledge = harness.github.repository("acme/knowledge", collaborators={"alice": "write"})
    pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
    async with harness.github, app.run_instance(replace(harness.settings, metrics_token="t")) as bot:
        harness.bot = bot
        address = "http://{}:{}".format(*bot.address)
        harness.github.webhook_url = f"{address}/webhook"
        harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", "<!-- ISSUES: date_errors -->")
        await harness.wait_until_idle()
        await bot.store.begin_reconcile(every=600)
        await bot.store.end_reconcile(ReconcileOutcome(is_complete=True))
        async with aiohttp.ClientSession() as session, session.get(f"{address}/metrics") as answer:
            return await answer.text()


def selectors(query):
    """Every metric of a query with the labels that it asks for."""
    found = []

    def visit(node):
        if isinstance(node, promql_parser.VectorSelector):
            found.append((node.name, {matcher.name for matcher in node.matchers.matchers}))
        return True

    promql_parser.walk(promql_parser.parse(query.replace("$job", "whetstone")), visit)
    return found


LATER = {
    "whetstone_bodies_refused_total",
    "whetstone_feedback_items",
    "whetstone_feedback_clarity_score",
    "whetstone_grounding_rate",
}
"""What has samples only once there is something to count."""


@pytest.mark.parametrize("query", QUERIES)
def test_every_query_asks_for_a_metric_that_exists(query, metrics):
    from tests.docs.test_docs import metrics as documented

    asked = selectors(query)
    assert asked
    for name, labels in asked:
        assert name in metrics or name in (documented() & LATER), name
        if metrics.get(name):
            assert labels - PROMETHEUS <= metrics[name], name


@pytest.mark.parametrize("query", QUERIES)
def test_every_label_that_a_query_groups_by_exists(query, metrics):
    grouped = {
        label.strip() for labels in re.findall(r"by \(([^)]*)\)", query) for label in labels.split(",")
    }
    documented = (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    known = {label for labels in metrics.values() for label in labels} | PROMETHEUS
    assert {label for label in grouped if label not in known and f"`{label}`" not in documented} == set()


def test_the_alerts_are_those_of_the_documents():
    page = (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    table = page.partition("## Worth an alert")[2].partition("\n## ")[0]
    told = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert sorted(rule["expr"] for rule in RULES) == sorted(told)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_alert_says_what_it_means_and_how_bad_it_is(rule):
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert set(rule["annotations"]) == {"summary", "description"}
    assert re.fullmatch(r"\d+m", rule.get("for", "1m"))


def test_the_dashboard_can_be_imported():
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    assert {variable["name"] for variable in DASHBOARD["templating"]["list"]} == {"datasource", "job"}
    assert all(panel["datasource"]["uid"] == "${datasource}" for panel in DASHBOARD["panels"])
    taken = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert (len(taken), max(x for x, _ in taken)) == (len(set(taken)), 23)
