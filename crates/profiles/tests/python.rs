//! The settings of SCTP for Python, which follow from the declaration: `python/slantpath/sctp_settings.py`.

use std::fmt::Write as _;

use slantpath_profiles::Assignment;
use slantpath_profiles::sctp::schema;
use slantpath_reader::Json;

/// Longest line of the file.
const WIDTH: usize = 110;
const INDENT: &str = "    ";

const HEAD: &str = "\
\"\"\"The settings of SCTP, by the names that ``[sctp.NAME]`` of a scenario has.

Written by ``SLANTPATH_UPDATE=1 cargo test -p slantpath-profiles``; a test holds it to the declaration.
\"\"\"

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SctpSettings(TypedDict, total=False):
    \"\"\"Times are numbers of seconds, or text with a unit; sizes numbers of bytes, or text with a unit.\"\"\"

";

/// The words that a value may be, if it is one of some.
fn words(schema: &Json) -> Vec<&str> {
    let listed = ["/oneOf", "/anyOf", "/items/oneOf"].into_iter().filter_map(|place| schema.pointer(place));
    listed
        .flat_map(|all| all.as_array().into_iter().flatten())
        .filter_map(|one| one["const"].as_str())
        .collect()
}

fn python_type(key: &str, schema: &Json) -> String {
    let of_type = |kind: &str| schema["type"] == kind;
    let plain = if key == "congestion_control" {
        // A controller of one's own may have parameters.
        "str | Mapping[str, object]"
    } else if of_type("boolean") {
        "bool"
    } else if of_type("array") {
        "Sequence[str]"
    } else if Assignment::quantity(key, 1.0).is_some() {
        "float | str"
    } else if of_type("integer") {
        "int"
    } else if schema["anyOf"].is_array() {
        "int | str"
    } else {
        "str"
    };
    let may_be_off = schema["anyOf"].is_array() && words(schema).contains(&"off");
    format!("{plain}{}", if may_be_off { " | None" } else { "" })
}

/// A documentation string, in lines that are not too long.
fn documented(text: &str) -> String {
    let mut lines = vec![format!("{INDENT}\"\"\"")];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("one line");
        let blank = if last.ends_with("\"\"\"") || *last == INDENT { "" } else { " " };
        // The last line has the end of the string as well.
        if last.chars().count() + blank.len() + word.chars().count() + 3 > WIDTH {
            lines.push(format!("{INDENT}{word}"));
        } else {
            last.extend([blank, word]);
        }
    }
    lines.join("\n") + "\"\"\"\n"
}

#[test]
fn the_settings_of_python_are_those_of_the_declaration() {
    let schema = schema();
    let mut text = HEAD.to_owned();
    for (key, schema) in schema["properties"].as_object().expect("a table has keys") {
        let about = schema["description"].as_str().expect("every key has a description").replace('`', "``");
        let words = words(schema).iter().map(|word| format!("``{word}``")).collect::<Vec<_>>();
        let before = match schema {
            _ if words.is_empty() => String::new(),
            several if several["type"] == "array" => " Any of ".to_owned(),
            quantity if quantity["anyOf"].is_array() => " Or ".to_owned(),
            _ => " One of ".to_owned(),
        };
        let end = if words.is_empty() { "" } else { "." };
        let choices = format!("{before}{}{end}", words.join(", "));
        let default = schema.get("default").map_or_else(String::new, |value| format!(" Default: {value}."));
        writeln!(text, "{INDENT}{key}: {}", python_type(key, schema)).expect("a string takes everything");
        text += &documented(&format!("{about}{choices}{default}"));
    }
    slantpath_testkit::page::hold("python/slantpath/sctp_settings.py", &text);
}
