//! Watches over work that takes its time.

use core::sync::atomic::AtomicBool;

use slantpath_base::Duration;
use slantpath_workers::{Progress, Workers};

/// Listener to the progress of a sky's contacts, and a flag that may stop them.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Hears that they are being worked out, and of each site whose passes are.
    pub progress: &'a dyn Fn(Progress),
    /// Set by another thread: they end within milliseconds.
    pub stop: &'a AtomicBool,
    /// Pieces in which the sky is planned, if it is not planned at once.
    pub pieces: Option<SkyInPieces>,
}

/// Planning of a sky in pieces, of which there is only the first before a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkyInPieces {
    /// Span of the whole, if it is longer than the run's `duration`.
    pub whole: Duration,
    /// End of the first piece, if it is not as the orbits ask for.
    pub first: Option<Duration>,
}

impl SkyInPieces {
    /// Pieces of a run that goes on for as long as somebody likes.
    pub const OPEN_ENDED: Self = Self { whole: Duration::from_secs(30 * 86_400), first: None };
}

impl<'a> Watch<'a> {
    /// Makes a watch that hears of them, and stops nothing.
    pub fn new(progress: &'a dyn Fn(Progress)) -> Self {
        Self { progress, stop: Workers::new(1).stop, pieces: None }
    }
}
