//! Ctrl-C, and on Linux SIGTERM, by which services and containers are stopped: the first stops the work in good order,
//! the second ends the program. SIGHUP is left as it is, but by what takes it for the wish to read its file anew:
//! whoever starts a command with `nohup` has it ignored.

use std::io::Write;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit status of a program that SIGINT ended.
const INTERRUPTED: i32 = 130;

/// True if the command that is running is to stop. There is one terminal, and one command at a time.
static STOP: AtomicBool = AtomicBool::new(false);

static HANDLER: Once = Once::new();

/// A flag that the first of these signals sets. In Python the command may be called again: each begins with the flag
/// unset.
pub(crate) fn flag() -> &'static AtomicBool {
    STOP.store(false, Ordering::Relaxed);
    HANDLER.call_once(|| {
        // In front of the thread that the other handler has.
        #[cfg(target_os = "linux")]
        slantpath_live::on_termination(interrupt);
        // Without a handler Ctrl-C ends the program at once, and what is stored is whole all the same.
        let _ = ctrlc::set_handler(interrupt);
    });
    &STOP
}

/// A flag that SIGHUP sets.
#[cfg(target_os = "linux")]
pub(crate) fn reload_flag() -> &'static AtomicBool {
    static RELOAD: AtomicBool = AtomicBool::new(false);
    static HANDLER: Once = Once::new();
    RELOAD.store(false, Ordering::Relaxed);
    HANDLER.call_once(|| slantpath_live::on_hangup(|| RELOAD.store(true, Ordering::Relaxed)));
    &RELOAD
}

/// A flag that nothing sets: for what is to be finished although the command is to stop.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "live commands are refused there"))]
pub(crate) fn never() -> &'static AtomicBool {
    static NEVER: AtomicBool = AtomicBool::new(false);
    &NEVER
}

fn interrupt() {
    if STOP.swap(true, Ordering::Relaxed) {
        std::process::exit(INTERRUPTED);
    }
    let _ = writeln!(std::io::stderr(), "stopping in good order; Ctrl-C again ends at once");
}
