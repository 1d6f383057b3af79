//! Tail loss probes (RFC 8985, section 7): what shows that the last of what was sent is lost.

use slantpath_base::{Duration, Instant};
use slantpath_cc::CongestionControl;
use slantpath_cc::control;

use super::timed::Early;
use super::{Range, Tx, Urgent};

/// Time after which a probe is due while no round trip is known.
const FIRST_PROBE: Duration = Duration::from_secs(1);

/// The probe that is out, if any.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    out: Option<Probe>,
    /// True if a probe has been sent since a round trip was last measured.
    is_unmeasured: bool,
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    /// SND.NXT behind it (TLP.end_seq).
    end: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Data that was not sent before.
    New,
    /// The last segment, again (TLP.is_retrans).
    Repeated,
}

impl Probes {
    /// A round trip has been measured.
    pub(super) const fn on_measured(&mut self) {
        self.is_unmeasured = false;
    }

    /// A recovery begins: what a probe would tell is known.
    pub(super) const fn forget(&mut self) {
        self.out = None;
    }
}

impl Tx {
    /// Sets when the next probe is due: after new data, and after every acknowledgement.
    //= https://www.rfc-editor.org/rfc/rfc8985#section-7.2
    //# The sender SHOULD start or
    //# restart a loss probe PTO timer after transmitting new data (that was
    //# not itself a loss probe) or upon receiving an ACK that cumulatively
    //# acknowledges new data unless it is already in fast recovery, RTO
    //# recovery, or segments have been SACKed
    pub(super) fn schedule_probe(&mut self, now: Instant) {
        if let Some(Early::Reordering(_)) = self.early {
            return;
        }
        self.early = None;
        let is_excluded = self.is_recovering() || self.board.is_empty() || !self.board.is_in_order();
        let Some(timeout_at) = self.timer.at().filter(|_| !is_excluded && self.timing.probe.out.is_none())
        else {
            return;
        };
        if self.peer.edge() <= self.board.una() {
            // The timer is that of a closed window.
            return;
        }
        let interval = match self.rtt.srtt() {
            Some(srtt) if self.board.flight() <= self.mss => {
                srtt.saturating_mul(2).saturating_add(self.config.max_ack_delay)
            }
            Some(srtt) => srtt.saturating_mul(2),
            None => FIRST_PROBE,
        };
        // A round trip that took no time leaves some: a probe is never due at the instant that it is set at.
        let interval = interval.max(Duration::from_nanos(1));
        self.early = Some(Early::Probe(now.saturating_add(interval).min(timeout_at)));
    }

    /// A probe is due.
    pub(super) fn handle_probe_timeout(&mut self, now: Instant) {
        if !self.timing.probe.is_unmeasured {
            self.urgent = Urgent::LossProbe;
        }
        //= https://www.rfc-editor.org/rfc/rfc8985#section-7.3
        //# After attempting to send a loss probe, regardless of whether a loss
        //# probe was sent, the sender MUST re-arm the RTO timer, not the PTO
        //# timer, if the FlightSize is not zero.
        self.start_timer(now);
    }

    /// The segment of a probe: new data if there is any and the peer's window allows it, whatever cwnd says.
    pub(super) fn next_probe(&mut self, now: Instant) -> Option<super::Sent> {
        let ready = self.data_ready();
        let is_allowed = self.board.nxt() + ready <= self.peer.edge();
        let (sent, kind) = if self.unsent() > 0 && is_allowed {
            (self.sent_new(ready, now), Kind::New)
        } else {
            let sent = self.board.retransmit_as_probe(now)?;
            (self.resent(sent, now), Kind::Repeated)
        };
        self.timing.probe = Probes { out: Some(Probe { end: self.board.nxt(), kind }), is_unmeasured: true };
        self.early = None;
        Some(sent)
    }

    /// An acknowledgement has come: what it says of the probe (RFC 8985, section 7.4.2).
    pub(super) fn settle_probe(&mut self, ack: u64, duplicate: Option<Range>, is_plain_duplicate: bool) {
        let Some(Probe { end, kind }) = self.timing.probe.out.filter(|probe| ack >= probe.end) else {
            return;
        };
        let has_both_arrived =
            duplicate.is_some_and(|range| range.end == end) || (ack == end && is_plain_duplicate);
        if kind == Kind::New || has_both_arrived {
            self.timing.probe.out = None;
        } else if ack > end {
            //= https://www.rfc-editor.org/rfc/rfc8985#section-7.4.2
            //# if the TLP.end_seq is still set and thus indicates that the TLP probe
            //# retransmission remains unacknowledged, then the sender should presume
            //# that at least one of its data segments was lost.
            self.timing.probe.out = None;
            self.control.on_lost(control::Congestion { in_flight: self.board.flight() });
        }
    }
}
