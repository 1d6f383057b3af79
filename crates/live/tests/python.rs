//! Events of SCTP for Python, which follow from the dictionary: `python/slantpath/sctp_events.py`.

use std::fmt::Write as _;

use slantpath_sctp::Notice;
use slantpath_testkit::page;

/// Longest line of the file.
const WIDTH: usize = 110;
const INDENT: &str = "    ";
const QUOTES: &str = "\"\"\"";

const HEAD: &str = "\
\"\"\"Events that an SCTP association tells as notifications of `slantpath.live`, with the fields of each.

Written by ``SLANTPATH_UPDATE=1 cargo test -p slantpath-live --test python``; a test holds it to the
declaration.
\"\"\"

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence

";

/// The name of a class: `streams_changed` is `StreamsChanged`.
fn class(name: &str) -> String {
    let parts = name.split('_').map(|part| part[..1].to_uppercase() + &part[1..]);
    parts.collect()
}

/// Text in lines that are not too long: the first has so many characters before it, and the last so many behind.
fn wrapped(text: &str, before: usize, behind: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.replace('`', "``").split_whitespace() {
        let beside = if lines.len() == 1 { before } else { 0 };
        let last = lines.last_mut().expect("one line");
        let blank = if last.is_empty() { "" } else { " " };
        let long = INDENT.len() + beside + last.chars().count() + blank.len() + word.chars().count() + behind;
        if long > WIDTH {
            lines.push(word.to_owned());
        } else {
            last.extend([blank, word]);
        }
    }
    lines.join(&format!("\n{INDENT}"))
}

#[test]
fn the_events_of_python_are_those_of_the_dictionary() {
    let mut text = HEAD.to_owned();
    let mut names = String::new();
    // Some are told in traces alone.
    for entry in Notice::described().into_iter().filter(|entry| !entry.called.is_empty()) {
        let class = class(entry.name);
        let called: Vec<String> = entry.called.iter().map(|name| format!("`{name}`")).collect();
        let about = wrapped(&entry.about, 0, 0);
        write!(
            text,
            "\nclass {class}(TypedDict, total=False):\n{INDENT}{QUOTES}{}\n\n{INDENT}{about}\n{INDENT}{QUOTES}\n",
            wrapped(&format!("Fields of {}.", called.join(", ")), 3, 0)
        )
        .expect("a string takes everything");
        for field in &entry.fields {
            // Words out of a few are named; of a number or a text the type says all.
            let words = if field.kind.starts_with('`') && field.python == "str" { &field.kind } else { "" };
            let words = if words.is_empty() { String::new() } else { format!(" One of {words}.") };
            let meaning = wrapped(&format!("{}{words}", field.meaning), 3, 3);
            write!(text, "\n{INDENT}{}: {}\n{INDENT}{QUOTES}{meaning}{QUOTES}\n", field.name, field.python)
                .expect("a string takes everything");
        }
        text += "\n";
        for name in &entry.called {
            writeln!(names, "    \"{name}\": {class},").expect("a string takes everything");
        }
    }
    write!(
        text,
        "\nEVENTS: dict[str, type] = {{\n{names}}}\n\"\"\"The class of the fields of each event, by the name that \
         `live.Notification.what` has.\"\"\"\n"
    )
    .expect("a string takes everything");
    page::hold("python/slantpath/sctp_events.py", &text);
}
