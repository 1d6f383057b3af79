"""The schemas that editors hold a file to before anything reads it."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]


def schema(name: str) -> Any:  # noqa: ANN401
    return json.loads((ROOT / "schema" / f"{name}.schema.json").read_text())


def file_of(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "scenarios" / name).read_text())


SCENARIO = jsonschema.Draft202012Validator(schema("slantpath"))
TOPOLOGY = jsonschema.Draft202012Validator(schema("topology"))


def definition(part: dict[str, Any]) -> dict[str, Any]:
    """The part of the schema of scenarios that stands where a reference may stand."""
    if "$ref" not in part:
        return part
    found: dict[str, Any] = schema("slantpath")["$defs"][part["$ref"].removeprefix("#/$defs/")]
    return found


def patterns(key: str) -> list[str]:
    """The patterns that a string behind a key of a link may match."""
    links = schema("slantpath")["properties"]["links"]
    value = definition(links["additionalProperties"]["properties"][key])
    forms = [definition(form) for form in value.get("anyOf", [value])]
    return [form["pattern"] for form in forms if "pattern" in form]


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


@pytest.mark.parametrize("name", ["plan", "slantpath", "sweep", "topology"])
def test_a_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda file: file.stem)
def test_the_schema_takes_every_scenario(file: Path) -> None:
    content = file_of(file.name)
    validator = TOPOLOGY if "topology" in content else SCENARIO
    assert [error.message for error in validator.iter_errors(content)] == []


def test_what_is_wrong_behind_a_reference_is_refused_at_its_place() -> None:
    content = file_of("first.toml")
    content["links"]["satellite"]["shaper"] = {"rate": "1 apple"}
    shaper = ["links", "satellite", "shaper"]
    places = [list(error.absolute_path) for error in SCENARIO.iter_errors(content)]
    assert sorted(places) == [shaper, [*shaper, "rate"]]
