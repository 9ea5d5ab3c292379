"""What validators hand in: a document of their own, and a linter's log."""

PAGE = "claims/first.md"


def make_document(**changes) -> dict:
    return {
        "id": "7c1f0a52-6d3e-4b8e-9a41-2f5b8c7d9e10",
        "timestamp": "2026-11-15T10:42:07+00:00",
        "iteration": {"number": 1, "max": 5, "phase": "initial"},
        "target": {"type": "document", "path": PAGE},
        "feedback_items": [
            {
                "tag": "date_errors",
                "aspect": "correctness",
                "severity": "major",
                "issue": "The created field names a month that no calendar has",
                "location": {"type": "line", "reference": "1"},
                "suggestion": {
                    "action": "Write the day of extraction in the form YYYY-MM-DD",
                    "rationale": "Readers sort the claims by this field",
                },
            }
        ],
        "overall_assessment": {
            "score": 0.4,
            "verdict": "refine",
            "summary": "One blocking issue: the created field names a month that no calendar has.",
        },
        **changes,
    }


def make_sarif_log(*rules: str) -> dict:
    """SARIF: each of these rules is broken in the first line of the page."""
    place = {"artifactLocation": {"uri": PAGE}, "region": {"startLine": 1, "endLine": 1}}
    results = [
        {
            "ruleId": rule,
            "level": "error",
            "message": {"text": f"{rule} is broken here"},
            "locations": [{"physicalLocation": place}],
        }
        for rule in rules
    ]
    return {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "ruff"}}, "results": results}]}
