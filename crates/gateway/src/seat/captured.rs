//! Events of a capture that who operates a seat orders.

use slantpath_base::Instant;

use super::Seat;

/// Something that has become of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureChange {
    /// The capture has begun, in a file of this path.
    Begun(String),
    /// The capture has been ended, and is in a file of this path.
    Ended(String),
    /// Nothing more can be written, for this reason.
    GivenUp(String),
}

impl Seat {
    /// Tells what has become of a capture of its packets.
    pub fn tell_capture(&mut self, now: Instant, change: CaptureChange) {
        let (event, file, reason) = match change {
            CaptureChange::Begun(file) => ("capture-begun", Some(file), None),
            CaptureChange::Ended(file) => ("capture-ended", Some(file), None),
            CaptureChange::GivenUp(reason) => ("capture-given-up", None, Some(reason)),
        };
        self.tell(now, file.map(|file| ("file", file)).into_iter().collect(), event, reason);
    }
}
