//! SIGTERM, by which services and containers are stopped.

use nix::sys::signal::{SigSet, Signal};

/// Has `act` called by a thread of its own whenever SIGTERM comes, which the threads that are begun from now on leave
/// to that. Where it cannot be, it ends the program as it does otherwise.
pub fn on_termination(act: fn()) {
    let mut set = SigSet::empty();
    set.add(Signal::SIGTERM);
    if set.thread_block().is_ok() {
        std::thread::spawn(move || {
            while set.wait().is_ok() {
                act();
            }
        });
    }
}
