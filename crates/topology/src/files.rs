//! Files that a topology names: their text, their digest, and faults that point into them.

use slantpath_orbit::elements::ElementError;
use slantpath_reader::{Fault, Faults, Files, Place, Setting, fault_of};

/// The text of a file whose name stands in `name`. Its digest is checked, or written down where it is absent.
pub(super) fn read(
    name: &Setting<String>,
    digest: &mut Option<Setting<String>>,
    files: &Files,
    faults: &mut Faults,
) -> Option<String> {
    let text = match files(name) {
        Ok(text) => text,
        Err(error) => {
            let fault = Fault::new(format!("`{}` cannot be read: {error}", **name))
                .help("the name is relative to the directory of the topology");
            faults.report(name.place(), fault);
            return None;
        }
    };
    let found = blake3::hash(text.as_bytes()).to_hex().to_string();
    match digest {
        Some(given) if **given != found => {
            let fault = Fault::new(format!("`{}` has changed: its digest is now {found}", **name))
                .help("leave `digest` out to take the file as it is");
            faults.report(given.place(), fault);
            return None;
        }
        Some(_) => {}
        None => *digest = Some(Setting::derived(found, "of the file", name.place())),
    }
    Some(text)
}

/// The place of a line of a file, counted from 1.
pub(super) fn line(name: &str, text: &str, line: usize, faults: &mut Faults) -> Place {
    let source = faults.add_source(name, text);
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let end = start + text[start..].lines().next().map_or(0, str::len);
    Place::new(source, start..end)
}

/// A fault of an element set.
pub(super) fn element_fault(error: &ElementError) -> Fault {
    let cure = "correct the line, or leave the object out";
    let fault = fault_of(&error.fault, cure);
    Fault::new(format!("{}: {}", error.object, fault.message)).help(fault.help.unwrap_or_default())
}

/// The place that a message names which begins with `name:line: `; the first line if it names none.
pub(super) fn place_of(name: &str, text: &str, message: &str, faults: &mut Faults) -> Place {
    let number = message.strip_prefix(name).and_then(|rest| rest.strip_prefix(':'));
    let number = number.and_then(|rest| rest.split(':').next()?.parse().ok());
    line(name, text, number.unwrap_or(1), faults)
}

/// A message `name:line: what is wrong: cure` without its place, which is shown anyway.
pub(super) fn without_place(name: &str, message: &str) -> Fault {
    let rest =
        message.strip_prefix(name).and_then(|rest| rest.strip_prefix(':')).unwrap_or(message).trim_start();
    let rest = match rest.split_once(": ") {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => rest,
    };
    fault_of(&rest, "correct the line, or leave it out")
}
