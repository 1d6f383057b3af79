//! Programs in C, Python and Go, as far as the machine can make them.

use std::env;
use std::process::{Command, ExitCode};

use crate::daemon::StandIn;

/// Word by which the program is the parent of what it runs.
const SERVE: &str = "serve";

pub(crate) fn main() {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    if let [word, program, arguments @ ..] = &*arguments
        && word == SERVE
    {
        let code = slantpath_notifier::serve(program, arguments).unwrap_or_else(|failure| {
            eprintln!("{failure}");
            125
        });
        std::process::exit(i32::from(code));
    }
    if let [word, program, arguments @ ..] = &*arguments
        && word == "daemon"
    {
        let name = format!("notified-{}", std::process::id());
        let daemon = StandIn::start(&name);
        let status = Command::new(env::current_exe().unwrap())
            .arg(SERVE)
            .arg(program)
            .args(arguments)
            .env("SLANTPATH_SCTP", format!("@{name}"))
            .status()
            .unwrap();
        eprintln!("{status} {:?}", daemon.ends.lock().unwrap());
        std::process::exit(status.code().unwrap_or(1));
    }
    let _ = ExitCode::SUCCESS;
}
