//! File in the place of another one: what it is, and the command that takes it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use slantpath_capture::is_capture;
use slantpath_runner::{Document, FileKind, nearest, read_text};
use slantpath_trace::{ReadError, TraceReader};

use crate::arguments::Command;
use crate::failure::Failure;

/// Beginning of a file that tells a trace: its first line has the command of a live run in it.
const BEGINNING: u64 = 1 << 20;
/// First bytes of a record, by now and of a live run by older versions.
const RECORDS: [&[u8]; 2] = [b"slantpath record", b"slantpath live"];

/// Kind of a file by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Capture,
    Record,
    Toml(FileKind),
    Trace,
}

impl Content {
    /// Content of a file, if it is of a kind that a command reads.
    fn of(path: &Path) -> Option<Self> {
        let mut first = Vec::new();
        File::open(path).ok()?.take(BEGINNING).read_to_end(&mut first).ok()?;
        if first.first_chunk::<4>().is_some_and(|magic| is_capture(*magic)) {
            return Some(Self::Capture);
        }
        if RECORDS.iter().any(|magic| first.starts_with(magic)) {
            return Some(Self::Record);
        }
        if !matches!(TraceReader::open(first.as_slice()), Err(ReadError::NotATrace | ReadError::Io { .. })) {
            return Some(Self::Trace);
        }
        let (entries, _) = Document::parse("", &read_text(path).ok()?).entries().ok()?;
        FileKind::of(&entries).map(Self::Toml)
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Capture => "a packet capture",
            Self::Record => "the record of a run",
            Self::Toml(kind) => kind.words(),
            Self::Trace => "a trace",
        }
    }

    fn taken_by(self, name: &str) -> String {
        match self {
            Self::Capture => {
                format!(
                    "`slantpath import {name}` makes scenarios of it, `slantpath explain {name}` tells it in words"
                )
            }
            Self::Record => format!("`slantpath replay {name}` repeats it"),
            Self::Toml(kind) => kind.taken_by(name),
            Self::Trace => format!("`slantpath explain {name}` tells it in words"),
        }
    }
}

/// Tells if a command takes a file of this content.
type IsRight = fn(Content) -> bool;

/// File that a command reads first, and what it may be.
fn wanted(command: &Command) -> Option<(&Path, IsRight)> {
    // What the reader of these files says of another one shows its place.
    let is_toml = |content| matches!(content, Content::Toml(_));
    Some(match command {
        Command::Check(options) => (&options.file, is_toml),
        Command::Emulate(options) => (options.scenario.as_deref()?, is_toml),
        Command::Gateway(options) => (options.scenario()?, is_toml),
        Command::Traffic(options) => (&options.scenario, is_toml),
        Command::Run(options) => (&options.scenario, is_toml),
        Command::Sweep(options) => (&options.sweep, is_toml),
        Command::Topology(options) => (&options.topology, is_toml),
        Command::Plan(options) => (options.question.as_deref()?, is_toml),
        Command::Load(options) => (options.like.as_deref()?, is_toml),
        Command::Explain(options) => {
            (&options.trace, |content| matches!(content, Content::Trace | Content::Capture))
        }
        Command::Import(options) => (&options.capture, |content| content == Content::Capture),
        Command::Replay(options) => (&options.record, |content| content == Content::Record),
        Command::Completions(_)
        | Command::Echo(_)
        | Command::Keys(_)
        | Command::Man(_)
        | Command::New(_)
        | Command::Schema(_)
        | Command::Sctp(_)
        | Command::SctpNotifier(_)
        | Command::Set(_) => return None,
    })
}

/// Reason for which there is no file at this path, with what is there.
fn no_file(path: &Path, is_right: IsRight) -> Option<String> {
    let name = path.display();
    if path.is_dir() {
        if !path.join("manifest.json").is_file() {
            return Some(format!("{name}: this is a directory; name a file"));
        }
        let run = ["scenario.toml", "topology.toml"].map(|file| path.join(file));
        let run = run
            .iter()
            .find(|file| file.is_file())
            .map_or_else(String::new, |file| format!(", and {} is what was run", file.display()));
        return Some(format!(
            "{name}: this is a directory of results: `slantpath report {name}` shows them{run}"
        ));
    }
    let error = fs::metadata(path).err().filter(|error| error.kind() == io::ErrorKind::NotFound)?;
    let beside = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let there = fs::read_dir(beside).into_iter().flatten().flatten();
    let there: Vec<String> = there.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let given = path.file_name()?.to_str()?;
    let help = match nearest(given, there.iter().map(String::as_str)) {
        Some(near) => format!("; did you mean `{}`?", path.with_file_name(near).display()),
        None if is_right(Content::Toml(FileKind::Scenario)) => {
            "; `slantpath new --list` tells of files to begin with".to_owned()
        }
        None => String::new(),
    };
    Some(format!("{name}: {error}{help}"))
}

/// The failure of a command, or a better one if its file is of a kind that it does not take.
pub(crate) fn named(command: &Command, failure: Failure) -> Failure {
    if !matches!(failure, Failure::Invalid(_) | Failure::Misused(_)) {
        return failure;
    }
    let Some((path, is_right)) = wanted(command) else { return failure };
    if let Some(why) = no_file(path, is_right) {
        return Failure::Misused(why);
    }
    let Some(content) = Content::of(path).filter(|content| !is_right(*content)) else { return failure };
    let name = path.display().to_string();
    Failure::Misused(format!("{name}: this is {}: {}", content.words(), content.taken_by(&name)))
}
