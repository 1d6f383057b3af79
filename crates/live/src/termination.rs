//! SIGTERM, by which services and containers are stopped, and SIGHUP, by which they are told to read their files anew.

use nix::sys::signal::{SigSet, Signal};

/// Has `act` called by a thread of its own whenever SIGTERM comes, which the threads that are begun from now on leave
/// to that. Where it cannot be, it ends the program as it does otherwise.
pub fn on_termination(act: fn()) {
    on(Signal::SIGTERM, act);
}

/// Variant of [`on_termination`] for SIGHUP.
pub fn on_hangup(act: fn()) {
    on(Signal::SIGHUP, act);
}

fn on(signal: Signal, act: fn()) {
    let mut set = SigSet::empty();
    set.add(signal);
    if set.thread_block().is_ok() {
        std::thread::spawn(move || {
            while set.wait().is_ok() {
                act();
            }
        });
    }
}
