//! SIGTERM, by which services and containers are stopped, and SIGHUP, by which they are told to read their files anew.

use nix::sys::signal::{SigSet, SigmaskHow, Signal};

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
    // The thread hears nothing else: what another one waits for, now or later, is left to that.
    let Ok(before) = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK) else { return };
    std::thread::spawn(move || {
        while set.wait().is_ok() {
            act();
        }
    });
    let _ = before.thread_set_mask();
    let _ = set.thread_block();
}

/// Calls `act`, which starts a program, with SIGTERM let through: a program inherits what its parent has blocked, and
/// would not hear of it.
pub fn with_termination<T>(act: impl FnOnce() -> T) -> T {
    let mut set = SigSet::empty();
    set.add(Signal::SIGTERM);
    let was_blocked = SigSet::thread_get_mask().is_ok_and(|blocked| blocked.contains(Signal::SIGTERM));
    // Where it cannot be, the program is ended by force.
    let is_open = was_blocked && set.thread_unblock().is_ok();
    let result = act();
    if is_open {
        let _ = set.thread_block();
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_started_with_the_signal_let_through_and_others_are_not() {
        let blocks = || SigSet::thread_get_mask().unwrap().contains(Signal::SIGTERM);
        let mut set = SigSet::empty();
        set.add(Signal::SIGTERM);
        set.thread_block().unwrap();
        assert!(!with_termination(blocks));
        assert!(blocks());
        set.thread_unblock().unwrap();
        assert!(!with_termination(blocks) && !blocks());
    }
}
