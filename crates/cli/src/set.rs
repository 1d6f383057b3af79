//! Command `slantpath set`: changes a network that runs, and asks how it does.

mod gateway_status;

use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, absolute};
use std::time::Duration;

use slantpath_control::{Command, ControlAnswer, Json, Pairs, Refusal};

use crate::arguments::SetArguments;
use crate::failure::Failure;

/// Longest time that an answer takes: the network looks for commands ten times a second at least.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest answer that is taken, in bytes.
const ANSWER_MAX: u64 = 16 << 20;

pub(crate) fn main(arguments: &SetArguments, out: &mut impl Write) -> Result<(), Failure> {
    let commands = commands(arguments)?;
    let mut connection = Connection::open(&arguments.socket, arguments.json)?;
    for command in &commands {
        let outcome = connection.ask(command)?;
        connection.print(command, &outcome, out)?;
    }
    match (arguments.events, arguments.trace.is_empty()) {
        (true, _) => connection.follow(&|_| Told::Printed, out),
        (false, false) => connection.follow(&of_trace, out),
        (false, true) => Ok(()),
    }
}

/// Asks a network that runs for one thing.
pub(crate) fn ask(socket: &Path, command: &Command) -> Result<Json, Failure> {
    Connection::open(socket, true)?.ask(command)
}

/// The commands in the order in which they are carried out: what is told comes behind what is changed.
fn commands(arguments: &SetArguments) -> Result<Vec<Command>, Failure> {
    let SetArguments { socket, settings, down, up, act, status, reload, stop, events, .. } = arguments;
    let SetArguments { trace, capture, end_capture, .. } = arguments;
    let mut commands = Vec::new();
    let (pairs, rest) = settings.as_chunks::<2>();
    if let [key] = rest {
        return Err(Failure::Misused(format!("`{key}` has no value: write keys and values in turn")));
    }
    if !pairs.is_empty() {
        let pair = |[key, value]: &[String; 2]| (key.clone(), value.clone());
        commands.push(Command::Set(pairs.iter().map(pair).collect()));
    }
    commands.extend(down.iter().map(|link| Command::act("down", link)));
    commands.extend(up.iter().map(|link| Command::act("up", link)));
    if !act.is_empty() {
        commands.push(Command::Do(pairs_of("do", act)?));
    }
    if let Some(path) = capture {
        // The gateway may have another working directory.
        let path = absolute(path).map_err(Failure::of_file(path.clone()))?;
        commands.push(Command::Capture(Some(path)));
    }
    commands.extend(end_capture.then_some(Command::Capture(None)));
    commands.extend((*events || !trace.is_empty()).then_some(Command::Events(true)));
    if !trace.is_empty() {
        commands.push(Command::Trace(pairs_of("trace", trace)?));
    }
    commands.extend(reload.then_some(Command::Reload));
    commands.extend(status.then_some(Command::Status));
    commands.extend(stop.then_some(Command::Stop));
    if commands.is_empty() {
        let form = format!("slantpath set {} links.satellite.loss '5 %'", socket.display());
        return Err(Failure::Misused(format!("say what to set: {form}; or ask: --status, --events")));
    }
    Ok(commands)
}

/// Keys and values of a flag.
fn pairs_of(flag: &str, written: &[String]) -> Result<Pairs, Failure> {
    let pair = |pair: &String| {
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            let like = if flag == "do" { "action=inhibit link=trunk" } else { "title=4917* messages=20" };
            let form = format!("write keys and values, like `--{flag} {like}`");
            Failure::Misused(format!("--{flag} {pair}: there is no `=`; {form}"))
        })?;
        Ok((key.to_owned(), value.to_owned()))
    };
    written.iter().map(pair).collect()
}

/// Use of an event.
enum Told {
    Printed,
    LeftOut,
    Last,
}

/// Of all events those of a trace, up to its end.
fn of_trace(event: &Json) -> Told {
    match event["type"].as_str() {
        Some("message") => Told::Printed,
        Some("trace_ended") => Told::Last,
        _ => Told::LeftOut,
    }
}

/// Connection to a network that runs.
struct Connection {
    stream: BufReader<UnixStream>,
    /// Events that came before an answer.
    heard: Vec<Json>,
    is_json: bool,
}

impl Connection {
    fn open(socket: &Path, is_json: bool) -> Result<Self, Failure> {
        let stream = UnixStream::connect(socket).map_err(|error| {
            let path = socket.display();
            Failure::Failed(format!(
                "{path}: {error}: does an emulation or a gateway run with `--control {path}`?"
            ))
        })?;
        Ok(Self { stream: BufReader::new(stream), heard: Vec::new(), is_json })
    }

    fn ask(&mut self, command: &Command) -> Result<Json, Failure> {
        self.stream.get_ref().set_read_timeout(Some(PATIENCE)).map_err(|error| failed(&error))?;
        match self.stream.get_mut().write_all(command.to_line().as_bytes()) {
            // Whoever has hung up may have said why.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(failed(&error)),
            Ok(()) | Err(_) => {}
        }
        loop {
            match self.answer()? {
                Some(ControlAnswer::Done(outcome)) => return Ok(outcome),
                Some(ControlAnswer::Event(event)) => self.heard.push(event),
                Some(ControlAnswer::Refused(Refusal { message, help })) => {
                    let help = help.map_or_else(String::new, |help| format!("\n  help: {help}"));
                    return Err(Failure::Misused(format!("{message}{help}")));
                }
                None => return Err(Failure::Failed("the run has ended without an answer".to_owned())),
            }
        }
    }

    /// Next line from the network; `None` if its run is over.
    fn answer(&mut self) -> Result<Option<ControlAnswer>, Failure> {
        let mut line = Vec::new();
        self.stream.by_ref().take(ANSWER_MAX).read_until(b'\n', &mut line).map_err(|error| failed(&error))?;
        if line.is_empty() {
            return Ok(None);
        }
        ControlAnswer::parse(&line).map(Some).map_err(|error| Failure::Failed(error.to_string()))
    }

    fn print(&self, command: &Command, outcome: &Json, out: &mut impl Write) -> Result<(), Failure> {
        match command {
            _ if self.is_json => writeln!(out, "{outcome}")?,
            Command::Do(_) | Command::Set(_) => {
                for event in outcome.as_array().into_iter().flatten() {
                    writeln!(out, "{}", event_in_words(event))?;
                }
            }
            Command::Capture(Some(path)) => writeln!(out, "packets are captured into {}", path.display())?,
            Command::Capture(None) => {
                writeln!(out, "packets were captured into {}", outcome.as_str().unwrap_or_default())?;
            }
            Command::Events(_) | Command::Explain(_) | Command::Trace(_) => {}
            Command::Status => print_status(outcome, out)?,
            Command::Reload => writeln!(out, "its file is read; its events tell what comes of that")?,
            Command::Stop => writeln!(out, "the run ends")?,
        }
        Ok(out.flush()?)
    }

    /// Prints events until the run is over, or the last of those that are wanted has come.
    fn follow(&mut self, wanted: &dyn Fn(&Json) -> Told, out: &mut impl Write) -> Result<(), Failure> {
        self.stream.get_ref().set_read_timeout(None).map_err(|error| failed(&error))?;
        let mut heard = std::mem::take(&mut self.heard).into_iter();
        loop {
            let event = match heard.next() {
                Some(event) => event,
                None => match self.answer()? {
                    Some(ControlAnswer::Event(event)) => event,
                    Some(_) => continue,
                    None => return Ok(()),
                },
            };
            match wanted(&event) {
                Told::Printed => self.print_event(&event, out)?,
                Told::LeftOut => {}
                Told::Last => return Ok(()),
            }
        }
    }

    fn print_event(&self, event: &Json, out: &mut impl Write) -> io::Result<()> {
        if self.is_json {
            writeln!(out, "{event}")?;
        } else {
            writeln!(out, "{}", event_in_words(event))?;
        }
        out.flush()
    }
}

fn failed(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::WouldBlock => Failure::Failed(format!("no answer within {} s", PATIENCE.as_secs())),
        _ => Failure::Failed(format!("the run does not answer: {error}")),
    }
}

fn event_in_words(event: &Json) -> String {
    let text = |key: &str| event[key].as_str().unwrap_or_default();
    let at = event["at_s"].as_f64().unwrap_or_default();
    match text("type") {
        "handover" => {
            let satellite = |key: &str| event[key].as_str().unwrap_or("none").to_owned();
            let late_ms = event["late_s"].as_f64().unwrap_or_default() * 1e3;
            let (antenna, cause) = (text("antenna"), text("cause"));
            let (from, to) = (satellite("from"), satellite("to"));
            format!("{at:.3} s: antenna {antenna}: from {from} to {to}, {cause}, {late_ms:.3} ms late")
        }
        "message" => message_in_words(event),
        "program_ended" => format!("{at:.3} s: a program in {} ended with {}", text("node"), event["status"]),
        "script" => {
            let part = event["part"].as_str().map_or_else(String::new, |part| format!(" {part}"));
            format!("{at:.3} s: {} {}{part}: {}", text("kind"), text("name"), text("event"))
        }
        "signalling" => {
            let subjects = event["subjects"].as_object().into_iter().flatten();
            let subjects =
                subjects.map(|(kind, name)| format!("{kind} {}", name.as_str().unwrap_or_default()));
            let subjects = subjects.collect::<Vec<_>>().join(", ");
            let between = if subjects.is_empty() { "" } else { ": " };
            let reason = event["reason"].as_str().map_or_else(String::new, |reason| format!(", {reason}"));
            format!("{at:.3} s: {subjects}{between}{}{reason}", text("event"))
        }
        "trace_ended" => format!("{at:.3} s: the trace is over"),
        "void" => format!("{at:.3} s: void: {}", text("reason")),
        // A newer program may tell more.
        _ => format!("{at:.3} s: {event}"),
    }
}

/// A message of a trace, as one line.
fn message_in_words(message: &Json) -> String {
    let text = |key: &str| message[key].as_str().unwrap_or_default();
    let party =
        |key: &str| message[key].as_str().map_or_else(String::new, |party| format!(", {key} {party}"));
    let at = message["at_s"].as_f64().unwrap_or_default();
    let after = message["after_s"].as_f64();
    let after = after.map_or_else(String::new, |after| format!(" after {:.3} ms", after * 1e3));
    let reason = message["reason"].as_str().map_or_else(String::new, |reason| format!(": {reason}"));
    format!(
        "{at:.6} s: {} to {}, {}{}{}, {} octets: {} over {}{after}{reason}",
        text("from"),
        text("to"),
        text("service"),
        party("called"),
        party("calling"),
        message["octets"],
        text("event"),
        text("association"),
    )
}

fn print_status(status: &Json, out: &mut impl Write) -> io::Result<()> {
    if status["gateway"].is_string() {
        return gateway_status::print(status, out);
    }
    writeln!(out, "{:.3} s", status["at_s"].as_f64().unwrap_or_default())?;
    for interface in status["interfaces"].as_array().into_iter().flatten() {
        let text = |key: &str| interface[key].as_str().unwrap_or_default();
        let (node, link) = (text("node"), text("link"));
        let [from, to, late] =
            ["packets_in", "packets_out", "late"].map(|key| interface[key].as_u64().unwrap_or(0));
        write!(out, "{node} at `{link}`: {from} packets from it, {to} to it, {late} late")?;
        if let Some(most) = interface["lateness"]["max_s"].as_f64() {
            write!(out, ", by {:.3} ms at most", most * 1e3)?;
        }
        writeln!(out)?;
    }
    if let Some(at) = status["next_handover"]["at_s"].as_f64() {
        let antenna = status["next_handover"]["antenna"].as_str().unwrap_or_default();
        writeln!(out, "next handover: {antenna} at {at:.3} s")?;
    }
    match status["void"].as_str() {
        Some(reason) => writeln!(out, "void: {reason}"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use slantpath_control::{ControlEvent, ControlStatus, NextHandover};

    use super::*;

    #[test]
    fn a_handover_is_told_with_both_satellites_and_its_lateness() {
        let event = |from: Option<&str>, to: Option<&str>| ControlEvent::Handover {
            at_s: 12.6,
            antenna: "leo-faial".to_owned(),
            from: from.map(str::to_owned),
            to: to.map(str::to_owned),
            cause: "set".to_owned(),
            late_s: 0.0015,
        };
        let words = |from, to| event_in_words(&event(from, to).to_json());
        assert_eq!(
            words(Some("leo-1-4"), None),
            "12.600 s: antenna leo-faial: from leo-1-4 to none, set, 1.500 ms late"
        );
        assert_eq!(
            words(None, Some("leo-1-5")),
            "12.600 s: antenna leo-faial: from none to leo-1-5, set, 1.500 ms late"
        );
    }

    #[test]
    fn a_status_tells_the_next_handover_if_there_is_one() {
        let told = |next_handover| {
            let mut out = Vec::new();
            let status = ControlStatus { at_s: 1.5, next_handover, ..ControlStatus::default() };
            print_status(&status.to_json(), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let next = NextHandover { at_s: 12.6, antenna: "leo-faial".to_owned() };
        assert_eq!(told(Some(next)), "1.500 s\nnext handover: leo-faial at 12.600 s\n");
        assert_eq!(told(None), "1.500 s\n");
    }
}
