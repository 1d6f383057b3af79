//! Arguments as they are meant, and words for those that are refused without a cure.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};

use clap::error::ErrorKind;

use crate::terminal::Visible;

/// Words of parsers that do not say what would be right, and words that do.
const CURES: [(&str, &str); 5] = [
    ("invalid digit found in string", "give a whole number, without unit or point"),
    ("cannot parse integer from empty string", "give a whole number"),
    ("number too large to fit in target type", "give a smaller number"),
    ("number too small to fit in target type", "give a number that is not negative"),
    ("invalid IP address syntax", "give an IP address, like 192.0.2.1 or 2001:db8::1"),
];

/// Commands whose `--udp` may have a port behind it.
const IN_UDP: [&str; 5] = ["echo", "gateway", "load", "sctp", "traffic"];

/// Meanings of exit statuses, which end the program's help.
pub(crate) const STATUS: &str =
    "Exit status: 0 done, 1 failed, 2 misused, 3 done although flows failed, demands
cannot be met or an emulation is void, 130 interrupted.";

/// Commands that the Python packages add, and what each does.
pub(crate) const OF_PYTHON: [(&str, &str); 4] = [
    ("plot", "Draw what a result directory shows"),
    ("report", "Make one page of a result directory, or of the differences of two"),
    ("study", "Run a study, and compare it with its paper"),
    ("view", "Show a result directory over time, as one page that opens from disk"),
];

/// Parts that the program lacks where no Python has called it.
pub(crate) fn lacks() -> String {
    let names = OF_PYTHON.map(|(name, _)| format!("`{name}`"));
    let (last, others) = names.split_last().expect("there are some");
    format!(
        "This is the program alone. It lacks {} and {last}, and the figures of\n`topology --out`: \
         the Python package has them (its wheel, or pip install . ./studies).",
        others.join(", ")
    )
}

/// Why arguments are refused that the Python package would understand.
pub(crate) fn of_python(args: &[OsString]) -> Option<String> {
    let asked_about = args.get(1).is_some_and(|word| word == "help" || word == "man");
    let name = args.get(if asked_about { 2 } else { 1 })?;
    let (name, _) = OF_PYTHON.iter().find(|(own, _)| name == own)?;
    Some(format!("slantpath {name}: no command of the program alone\n\n{}", lacks()))
}

/// Arguments in which `--udp 9899` is `--udp=9899`. No address is a number, and no scenario is called by one, so that
/// nothing else can be meant.
pub(crate) fn joined(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for arg in args {
        let is_live = joined.get(1).is_some_and(|command| IN_UDP.iter().any(|own| command == own));
        match joined.last_mut() {
            Some(last) if is_live && last == "--udp" && is_number(&arg) => {
                last.push("=");
                last.push(arg);
            }
            _ => joined.push(arg),
        }
    }
    joined
}

fn is_number(arg: &OsStr) -> bool {
    arg.to_str().is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Prints why arguments are refused, or help and version, which come this way, too.
pub(crate) fn print(error: &clap::Error) -> io::Result<()> {
    let plain = error.render().to_string();
    match CURES.iter().find(|(words, _)| error.kind() == ErrorKind::ValueValidation && plain.contains(words))
    {
        Some((words, cure)) => write!(Visible(io::stderr().lock()), "{}", plain.replace(words, cure)),
        None => error.print(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_the_python_package_is_known_as_one() {
        let of = |words: &[&str]| of_python(&words.iter().map(OsString::from).collect::<Vec<_>>());
        let told = of(&["slantpath", "plot", "out"]).unwrap();
        assert!(told.starts_with("slantpath plot: no command of the program alone"), "{told}");
        assert!(told.contains("the Python package has them"), "{told}");
        assert_eq!(
            [of(&["slantpath", "help", "plot"]), of(&["slantpath", "man", "plot"])].map(Option::unwrap),
            [told.as_str(), told.as_str()]
        );
        assert_eq!([of(&["slantpath", "run", "plot"]), of(&["slantpath"])], [None, None]);
    }

    #[test]
    fn a_port_of_udp_may_stand_behind_a_blank() {
        let of = |line: &str| joined(line.split(' ').map(OsString::from)).join(OsStr::new(" "));
        assert_eq!(
            of("slantpath load 127.0.0.1 --udp 9899 --count 1"),
            "slantpath load 127.0.0.1 --udp=9899 --count 1"
        );
        assert_eq!(of("slantpath echo --udp 9899"), "slantpath echo --udp=9899");
        assert_eq!(of("slantpath gateway --udp 9899 lab.toml"), "slantpath gateway --udp=9899 lab.toml");
        for kept in
            ["slantpath load --udp 127.0.0.1", "slantpath load --udp --count 1", "slantpath run --udp 9899"]
        {
            assert_eq!(of(kept), kept);
        }
    }
}
