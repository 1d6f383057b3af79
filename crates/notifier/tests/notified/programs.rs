//! Programs in C and Go, as far as the machine can make them.

use std::env;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use crate::daemon::StandIn;

/// Word by which the program is the parent of what it runs.
const SERVE: &str = "serve";
/// Exit code of a program that is not served.
const NOT_SERVED: i32 = 125;

pub(crate) fn main() {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    if let [word, program, arguments @ ..] = &*arguments
        && word == SERVE
    {
        let code = slantpath_notifier::serve(program, arguments).map(i32::from);
        std::process::exit(code.unwrap_or_else(|failure| {
            eprintln!("{failure}");
            NOT_SERVED
        }));
    }
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/notified");
    let (calls, echo) = (place.join("notified-calls"), place.join("notified-echo"));
    let mut compiler = Command::new("cc");
    compiler.args(["-static", "-O1", "-o"]).arg(&calls).arg(sources.join("calls.c"));
    let has_calls = is_made("static C", &mut compiler);
    if let [word, arguments @ ..] = &*arguments
        && word == "measure"
    {
        return measure(&calls, arguments);
    }
    refused();
    if has_calls {
        every_call_is_answered_as_linux_answers_it(&calls);
        a_killed_program_marks_nothing(&calls);
        programs_end_with_a_killed_notifier(&calls);
        a_process_that_outlives_the_program_sees_its_end(&calls);
    }
    let mut compiler = Command::new("go");
    compiler.args(["build", "-o"]).arg(&echo).arg(sources.join("echo.go")).env("CGO_ENABLED", "0");
    if is_made("Go", &mut compiler) {
        threads_of_go_share_the_notifier(&echo);
    }
}

/// Makes a program; says so if it cannot be made.
fn is_made(language: &str, compiler: &mut Command) -> bool {
    let made = compiler.status();
    let is_made = made.as_ref().is_ok_and(std::process::ExitStatus::success);
    if !is_made {
        eprintln!("SKIPPED: no {language} program can be made here: {made:?}");
    }
    is_made
}

/// Starts a program behind the filter.
fn start(name: &str, program: &Path, arguments: &[&OsStr]) -> (Arc<StandIn>, Child) {
    let name = format!("notified-{name}-{}", std::process::id());
    let daemon = StandIn::start(&name);
    let mut command = Command::new(env::current_exe().unwrap());
    command.arg(SERVE).arg(program).args(arguments).env("SLANTPATH_SCTP", format!("@{name}"));
    (daemon, command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

fn every_call_is_answered_as_linux_answers_it(calls: &Path) {
    let (daemon, child) = start("calls", calls, &[]);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && output.stdout == b"passed\n", "{said}");
    assert_eq!(said.matches("`--door preload`").count(), 1, "what has another door is said once: {said}");
    assert!(daemon.ends().iter().all(|is_marked| *is_marked), "all were closed in order");
}

fn a_killed_program_marks_nothing(calls: &Path) {
    let (daemon, child) = start("killed", calls, &["hang", "killed"].map(OsStr::new));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(128 + 9));
    assert!(daemon.ends().contains(&false), "that of the killed one");
}

fn programs_end_with_a_killed_notifier(calls: &Path) {
    let (daemon, mut child) = start("alone", calls, &["hang", "alone"].map(OsStr::new));
    let mut told = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert_eq!(line, "hangs\n");
    child.kill().unwrap();
    // It comes to its end once no process has it any more.
    told.read_to_end(&mut Vec::new()).unwrap();
    assert!(daemon.ends().contains(&false));
}

fn a_process_that_outlives_the_program_sees_its_end(calls: &Path) {
    let (daemon, child) = start("outlives", calls, &["bench", "10", "1"].map(OsStr::new));
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    assert!(daemon.ends().iter().all(|is_marked| *is_marked), "ended without a close");
}

fn threads_of_go_share_the_notifier(echo: &Path) {
    let (daemon, child) = start("go", echo, &[]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"passed\n", "{}", String::from_utf8_lossy(&output.stderr));
    let ends = daemon.ends();
    assert_eq!((ends.len(), ends.iter().all(|is_marked| *is_marked)), (17, true));
}

fn refused() {
    let (_, child) = start("refused", Path::new("/nonexistent/program"), &[]);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(NOT_SERVED));
    assert_eq!(said, "cannot start the program: No such file or directory (os error 2)\n");
    let output = Command::new(env::current_exe().unwrap())
        .args([SERVE, "true"])
        .env_remove("SLANTPATH_SCTP")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(NOT_SERVED));
    assert_eq!(output.stderr, b"SLANTPATH_SCTP is not set: the command `slantpath sctp` sets it\n");
}

/// Runs the program for measurements: `cargo test -p slantpath-notifier --test notified -- measure bench 20000 16`.
fn measure(calls: &Path, arguments: &[std::ffi::OsString]) {
    let arguments: Vec<&OsStr> = arguments.iter().map(AsRef::as_ref).collect();
    let (_daemon, child) = start("measure", calls, &arguments);
    let output = child.wait_with_output().unwrap();
    eprint!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
}
