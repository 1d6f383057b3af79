//! Ctrl-C: the first stops the work in good order, the second ends the program.

use std::io::Write;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit status of a program that SIGINT ended.
const INTERRUPTED: i32 = 130;

/// Whether the command that is running is to stop. There is one terminal, and one command at a time.
static STOP: AtomicBool = AtomicBool::new(false);

static HANDLER: Once = Once::new();

/// A flag that the first Ctrl-C sets. In Python the command may be called again: each begins with the flag unset.
pub(crate) fn flag() -> &'static AtomicBool {
    STOP.store(false, Ordering::Relaxed);
    HANDLER.call_once(|| {
        // Without a handler Ctrl-C ends the program at once, and what is stored is whole all the same.
        let _ = ctrlc::set_handler(interrupt);
    });
    &STOP
}

fn interrupt() {
    if STOP.swap(true, Ordering::Relaxed) {
        std::process::exit(INTERRUPTED);
    }
    let _ = writeln!(std::io::stderr(), "stopping in good order; Ctrl-C again ends at once");
}
