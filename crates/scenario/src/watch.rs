//! Watches over work that takes its time.

use core::sync::atomic::AtomicBool;

use slantpath_workers::{Progress, Workers};

/// Listener to the progress of a sky's contacts, and a flag that may stop them.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Hears that they are being worked out, and of each site whose passes are.
    pub progress: &'a dyn Fn(Progress),
    /// Set by another thread: they end within milliseconds.
    pub stop: &'a AtomicBool,
}

impl<'a> Watch<'a> {
    /// Makes a watch that hears of them, and stops nothing.
    pub fn new(progress: &'a dyn Fn(Progress)) -> Self {
        Self { progress, stop: Workers::new(1).stop }
    }
}
