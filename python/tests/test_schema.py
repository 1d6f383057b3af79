"""The patterns of the schemas, which editors hold a file to before anything reads it."""

import json
import re
from pathlib import Path

SCHEMA = Path(__file__).parents[2] / "schema" / "slantpath.schema.json"


def patterns(key: str) -> list[str]:
    """The patterns that a text behind a key of a link may match."""
    links = json.loads(SCHEMA.read_text())["properties"]["links"]
    schema = links["additionalProperties"]["properties"][key]
    return [form["pattern"] for form in schema.get("anyOf", [schema]) if "pattern" in form]


def matches(key: str, text: str) -> bool:
    return any(re.search(pattern, text) for pattern in patterns(key))


def test_a_probability_is_at_most_certain() -> None:
    for text in [
        "0",
        "1",
        "0.01",
        "1.0",
        "0 %",
        "1 %",
        "99.5%",
        "100 %",
        "100.0 %",
        "1e-6",
        "12e-3",
        "2.5e-3 %",
    ]:
        assert matches("loss", text), text
    for text in ["120 %", "100.1 %", "1000 %", "1.2", "2", "1e6", "1e0", "-1 %", "one"]:
        assert not matches("loss", text), text
