//! The command: a daemon, and the program that it serves, until that has ended.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use slantpath_daemon::Daemon;
use slantpath_live::Instant;
use slantpath_runner::OwnKinds;
use slantpath_system::signals::{Signal, Signals};

use super::executable::Executable;
use super::kept::Kept;
use super::library::Library;
use super::opened::{self, Opened};
use super::started::{self, Started, written_library};
use super::usual::above_usual;
use crate::arguments::{NotifierArguments, ProgramArguments};
use crate::failure::Failure;
use crate::live::outputs::say_changes;
use crate::live::settings::{failed, profile};
use crate::terminal::Visible;

// Numbers of descriptors that are waited for beside the daemon's.
const SIGNALS: u64 = 0;
const PROGRAM: u64 = 1;

/// Signals that stop the work, or are the program's.
const STOPPING: [Signal; 4] = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM];
/// Signals that are the program's alone.
const PASSED_ON: [Signal; 3] = [Signal::SIGUSR1, Signal::SIGUSR2, Signal::SIGWINCH];

/// Time that associations have to end in order, and then to be aborted.
const PATIENCE: slantpath_base::Duration = slantpath_base::Duration::from_secs(5);
/// Interval at which files are written.
const GLANCE: Duration = Duration::from_millis(200);
/// The exit status of a program that SIGINT ended.
const INTERRUPTED: u8 = 130;

pub(crate) fn main(arguments: &ProgramArguments, own: &OwnKinds, command: &[String]) -> Result<(), Failure> {
    let mut arguments = arguments.clone();
    let settings = profile(&above_usual(&arguments.sctp), own)?;
    arguments.sctp.resolved = Some(settings.clone());
    let arguments = &arguments;
    let executable = match (arguments.program.first(), &arguments.serve) {
        (Some(program), None) => Some(Executable::of(program, arguments.door).map_err(Failure::Misused)?),
        (None, Some(_)) => None,
        (Some(_), Some(path)) => {
            let path = path.display();
            return Err(Failure::Misused(format!(
                "--serve serves programs that are started elsewhere: leave the program out, and start it with \
                 SLANTPATH_SCTP={path}"
            )));
        }
        (None, None) => {
            let message =
                "name a program behind `--`, like `slantpath sctp -- ncat --sctp -l 7001`, or --serve PATH";
            return Err(Failure::Misused(message.to_owned()));
        }
    };
    let mut kept = Kept::create(arguments)?;
    let signals = Signals::open(&[&STOPPING[..], &PASSED_ON].concat()).map_err(failed)?;
    let mut opened = opened::open(arguments)?;
    kept.begin(&mut opened, command, &settings)?;
    let Opened { mut daemon, line, .. } = opened;
    say(&line);
    daemon.wait_for(&signals, SIGNALS).map_err(failed)?;
    let served = match (&arguments.serve, executable) {
        (Some(path), _) => Served::at(&mut daemon, path)?,
        (None, Some(executable)) => {
            let name = format!("@slantpath-sctp-{}", std::process::id());
            daemon.listen(&name).map_err(failed)?;
            let started = Started::start(&arguments.program, &executable, &name, &signals)?;
            daemon.wait_for(&started, PROGRAM).map_err(failed)?;
            Served::Program(started)
        }
        (None, None) => return Ok(()),
    };
    // The program has the limit as it was: one that uses select counts on it.
    raise_limit_of_files();
    serve(daemon, served, &signals, &mut kept)
}

/// The process behind door 2, which starts the program.
pub(crate) fn notifier(arguments: &NotifierArguments) -> Result<(), Failure> {
    let Some((program, rest)) = arguments.program.split_first() else {
        return Err(Failure::Misused("name a program behind `--`".to_owned()));
    };
    match slantpath_notifier::serve(program, rest) {
        Ok(0) => Ok(()),
        Ok(status) => Err(Failure::Ended(status)),
        Err(failure) => Err(Failure::Failed(failure.to_string())),
    }
}

/// Programs that are served.
enum Served {
    /// Programs that are started elsewhere.
    Path {
        path: std::path::PathBuf,
        _library: Option<Library>,
    },
    Program(Started),
}

impl Served {
    fn at(daemon: &mut Daemon, path: &Path) -> Result<Self, Failure> {
        let name = path.to_str().filter(|name| !name.starts_with('@'));
        let name = name.ok_or_else(|| Failure::Misused("--serve: name a path in UTF-8".to_owned()))?;
        let refused = |error: io::Error| {
            let help = if error.kind() == io::ErrorKind::AddrInUse {
                ": remove it if nobody serves there"
            } else {
                ""
            };
            Failure::Misused(format!("--serve {name}: {error}{help}"))
        };
        daemon.listen(name).map_err(refused)?;
        let library = written_library().ok();
        let front = library
            .as_ref()
            .map_or_else(String::new, |library| format!(" LD_PRELOAD={}", library.path().display()));
        say(&format!("start programs with {}={name}{front}; Ctrl-C stops", started::DAEMON));
        Ok(Self::Path { path: path.to_owned(), _library: library })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Self::Path { path, .. } = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Stage of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Serving,
    /// Associations end in order, and from this instant on at once.
    Stopping(Instant),
    /// Associations are aborted; from this instant on nobody waits for them.
    Aborting(Instant),
}

fn serve(mut daemon: Daemon, mut served: Served, signals: &Signals, kept: &mut Kept) -> Result<(), Failure> {
    let mut phase = Phase::Serving;
    let mut outcome = Ok(());
    loop {
        let now = daemon.live().now();
        match phase {
            Phase::Stopping(_) | Phase::Aborting(_) if daemon.is_over() => break,
            Phase::Stopping(until) if now >= until => {
                daemon.stop();
                phase = Phase::Aborting(now.saturating_add(GRACE));
            }
            Phase::Aborting(until) if now >= until => break,
            _ => {}
        }
        let ready = daemon.turn(Some(GLANCE)).map_err(failed)?.to_vec();
        for number in ready {
            if number == SIGNALS {
                while let Some(signal) = signals.read().map_err(failed)? {
                    phase = heard(signal, &mut daemon, &served, phase, &mut outcome);
                }
                continue;
            }
            let Served::Program(program) = &mut served else { continue };
            if phase == Phase::Serving
                && let Some(status) = program.ended().map_err(failed)?
            {
                outcome = if status == 0 { Ok(()) } else { Err(Failure::Ended(status)) };
                phase = stopped(&mut daemon);
            }
        }
        for saying in daemon.take_sayings() {
            say(&saying);
        }
        say_changes(daemon.live());
        if let Err(failure) = kept.keep(&mut daemon) {
            // What the program does goes on without the file.
            let _ = failure.report(&mut io::stderr().lock());
        }
    }
    kept.finish(&mut daemon)?;
    outcome
}

/// Time in which what aborts associations leaves.
const GRACE: slantpath_base::Duration = slantpath_base::Duration::from_millis(100);

/// Begins the end: in order, for a time.
fn stopped(daemon: &mut Daemon) -> Phase {
    daemon.stop();
    Phase::Stopping(daemon.live().now().saturating_add(PATIENCE))
}

/// Acts on a signal: it is the program's while there is one, and ends the work otherwise.
fn heard(
    signal: slantpath_system::signals::ReceivedSignal,
    daemon: &mut Daemon,
    served: &Served,
    phase: Phase,
    outcome: &mut Result<(), Failure>,
) -> Phase {
    match (phase, served) {
        (Phase::Serving, Served::Program(program)) => {
            // What the terminal sends all its processes have.
            if signal.is_from_program {
                program.signal(signal.number);
            }
            Phase::Serving
        }
        _ if PASSED_ON.iter().any(|passed_on| *passed_on as i32 == signal.number) => phase,
        (Phase::Serving, Served::Path { .. }) => {
            say("stopping in good order; Ctrl-C again ends at once");
            stopped(daemon)
        }
        (Phase::Stopping(_), _) => {
            if outcome.is_ok() {
                *outcome = Err(Failure::Ended(INTERRUPTED));
            }
            daemon.stop();
            Phase::Aborting(daemon.live().now().saturating_add(GRACE))
        }
        (Phase::Aborting(_), _) => phase,
    }
}

/// Allows this process as many files as it may allow itself: each socket of a program takes one, and more on raw
/// sockets.
fn raise_limit_of_files() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// Says a line, behind the command's name: the program writes to the same terminal.
pub(super) fn say(line: &str) {
    // When nobody listens the work goes on.
    let _ = writeln!(Visible(io::stderr().lock()), "slantpath sctp: {line}");
}
