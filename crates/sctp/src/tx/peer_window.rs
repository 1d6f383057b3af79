//! Receive window of the peer, and the probing of a window that it has closed.

use slantpath_base::{Duration, Instant, Timer};

use crate::types::Tsn;

/// State of zero window probing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    /// No reason to probe.
    Idle,
    /// The window is closed and nothing is outstanding; the first probe leaves at `at`.
    Waiting { at: Instant },
    /// A probe may leave.
    Due,
    /// This chunk has gone into a closed window and is repeated by T3-rtx.
    Outstanding { tsn: Tsn },
}

/// Contact with the peer since T3-rtx expired last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contact {
    Silent,
    Answering,
}

/// The peer's receiver window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerWindow {
    /// As advertised last.
    a_rwnd: u32,
    probe: Probe,
    contact: Contact,
}

impl PeerWindow {
    pub(crate) const fn new(a_rwnd: u32) -> Self {
        Self { a_rwnd, probe: Probe::Idle, contact: Contact::Silent }
    }

    /// Window of the peer while `in_flight` bytes of payload are in flight.
    pub(crate) const fn rwnd(&self, in_flight: u64) -> u64 {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2.1
        //# Set rwnd equal to the newly received a_rwnd minus the
        //# number of bytes still outstanding after processing the
        //# Cumulative TSN Ack and the Gap Ack Blocks.
        // What is sent later adds to the bytes in flight and what is given up leaves them, as rules B and C ask.
        (self.a_rwnd as u64).saturating_sub(in_flight)
    }

    /// A SACK advertised `a_rwnd`.
    pub(crate) const fn advertise(&mut self, a_rwnd: u32) {
        self.a_rwnd = a_rwnd;
        self.contact = Contact::Answering;
    }

    /// The room that was advertised last, in bytes.
    pub(crate) fn advertised(&self) -> u64 {
        self.a_rwnd.into()
    }

    /// Tells if `room` bytes are more than was advertised last.
    pub(crate) fn is_exceeded_by(&self, room: u64) -> bool {
        room > u64::from(self.a_rwnd)
    }

    /// Tells if a new chunk with `len` bytes of payload may leave.
    pub(crate) fn admits(&self, len: usize, in_flight: u64) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.1
        //# At any given time, the data sender MUST NOT transmit new data to
        //# any destination transport address if its peer's rwnd indicates
        //# that the peer has no buffer space (i.e., rwnd is smaller than the
        //# size of the next DATA chunk; see Section 6.2.1), except for zero
        //# window probes.
        len as u64 <= self.rwnd(in_flight) || self.probe == Probe::Due
    }

    /// The window is too small for the next chunk and nothing is outstanding that a SACK could answer.
    pub(crate) fn wait_closed(&mut self, now: Instant, rto: Duration) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.1
        //# The sender SHOULD send the first zero window probe after 1 RTO
        //# when it detects that the receiver has closed its window and
        //# SHOULD increase the probe interval exponentially afterwards.
        if self.probe == Probe::Idle {
            self.probe = Probe::Waiting { at: now + rto };
        }
    }

    /// A new chunk with `len` bytes of payload leaves while `in_flight` bytes are on their way.
    pub(crate) fn on_new_chunk(&mut self, tsn: Tsn, len: u64, in_flight: u64) {
        let is_probe = len > self.rwnd(in_flight);
        self.probe = if is_probe { Probe::Outstanding { tsn } } else { Probe::Idle };
    }

    /// T3-rtx has expired for a closed window: `tsn` is the next probe.
    pub(crate) const fn probe_again(&mut self, tsn: Tsn) {
        self.probe = Probe::Outstanding { tsn };
    }

    /// The chunk that is outstanding as a probe.
    pub(crate) const fn outstanding_probe(&self) -> Option<Tsn> {
        match self.probe {
            Probe::Outstanding { tsn } => Some(tsn),
            Probe::Idle | Probe::Waiting { .. } | Probe::Due => None,
        }
    }

    /// The probe has been acknowledged, or there is room for it now.
    pub(crate) const fn end_probe(&mut self) {
        self.probe = Probe::Idle;
    }

    /// Tells if a chunk with `len` bytes of payload has a place in the window as it was advertised last.
    pub(crate) fn has_room(&self, len: u64) -> bool {
        len <= u64::from(self.a_rwnd)
    }

    /// Instant at which the first probe is due.
    pub(crate) const fn probe_deadline(&self) -> Timer {
        match self.probe {
            Probe::Waiting { at } => Timer::set(at),
            Probe::Idle | Probe::Due | Probe::Outstanding { .. } => Timer::OFF,
        }
    }

    /// The time has come to look at the deadline.
    pub(crate) fn handle_deadline(&mut self, now: Instant) {
        if let Probe::Waiting { at } = self.probe
            && at <= now
        {
            self.probe = Probe::Due;
        }
    }

    /// T3-rtx expired while `len` bytes of payload were first in line: whether that only shows that the peer
    /// keeps its window closed.
    pub(crate) fn excuses_timeout(&mut self, len: u64) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.1
        //# If the sender continues to receive SACK chunks from the peer
        //# while doing zero window probing, the unacknowledged window probes
        //# SHOULD NOT increment the error counter for the association or any
        //# destination transport address.
        let is_excused = self.contact == Contact::Answering && !self.has_room(len);
        self.contact = Contact::Silent;
        is_excused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_window_is_probed_after_one_rto() {
        let mut window = PeerWindow::new(100);
        assert!(window.admits(100, 0) && !window.admits(100, 1));
        window.advertise(0);
        window.wait_closed(Instant::START, Duration::from_secs(1));
        window.wait_closed(Instant::from_millis(500), Duration::from_secs(1));
        window.handle_deadline(Instant::from_millis(999));
        assert!(!window.admits(1, 0));
        window.handle_deadline(Instant::from_secs(1));
        assert!(window.admits(1, 0));
    }

    #[test]
    fn a_timeout_is_excused_only_while_the_peer_answers_with_a_closed_window() {
        let mut window = PeerWindow::new(0);
        assert!(!window.excuses_timeout(10), "never heard of");
        window.advertise(0);
        assert!(window.excuses_timeout(10));
        assert!(!window.excuses_timeout(10), "no answer since");
        window.advertise(10);
        assert!(!window.excuses_timeout(10), "the window is open");
    }
}
