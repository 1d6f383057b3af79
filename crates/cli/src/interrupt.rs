//! Ctrl-C: the first lets running work finish, the second ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit status of a program that SIGINT ended.
const INTERRUPTED: i32 = 130;

/// A flag that the first Ctrl-C sets. Nothing is installed twice: in Python, the command may be called again.
pub(crate) fn flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&stop);
    let handler = move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
    };
    // Without a handler Ctrl-C ends the program at once, and what is stored is whole all the same.
    let _ = ctrlc::set_handler(handler);
    stop
}
