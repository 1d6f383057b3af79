//! Reports to the congestion controller, and the window that follows.

use slantpath_base::{DataRate, Duration, Instant, Timer};
use slantpath_cc::control::{Acknowledged, Sent};
use slantpath_cc::{self as cc, CongestionControl, Controller, Pacer};

use super::Tx;
use super::recovery::{FastWindow, Recovery};

impl Tx {
    /// Number of bytes that may be in flight now: the controller's window, but for a recovery that has its own.
    pub(crate) fn cwnd(&self) -> u64 {
        match &self.recovery {
            Recovery::Fast(fast) if !self.control.rules_recovery() => match &fast.window {
                FastWindow::Controlled => self.control.cwnd(),
                FastWindow::Inflated(window) => window.bytes(),
                FastWindow::Proportional(window) => window.bytes(),
            },
            _ => self.control.cwnd(),
        }
    }

    pub(crate) fn ssthresh(&self) -> u64 {
        self.control.ssthresh()
    }

    /// The last sample of the rate at which segments arrive at the peer.
    pub(crate) fn delivery_rate(&self) -> Option<DataRate> {
        self.board.latest_delivery().map(|sample| sample.rate())
    }

    /// A segment was sent that takes so many bytes of the window.
    #[inline]
    pub(super) fn report_sent(&mut self, now: Instant, bytes: u64, in_flight_before: u64) {
        let sent = Sent { now, bytes, in_flight_before };
        // The compiler knows that the first is told nothing and paces nothing.
        match &mut self.control {
            Controller::Standard(standard) => self.pacer.follow(standard, sent),
            control => pace(control, &mut self.pacer, sent),
        }
        if let Recovery::Fast(fast) = &mut self.recovery
            && let FastWindow::Proportional(window) = &mut fast.window
        {
            window.on_sent(bytes);
        }
    }

    /// Tells if the controller's rate lets nothing out now, though the window would.
    pub(super) fn is_held(&mut self, now: Instant) -> bool {
        // The pacer knows at once, the controller has to reckon.
        if let Some(until) = self.pacer.held_until(now)
            && self.control.pacing_rate().is_some()
        {
            self.held_until = Timer::set(until);
        }
        !self.held_until.is_off()
    }

    /// An acknowledgement has been taken in that acknowledges `bytes` more cumulatively, or SACKs something, or both.
    /// Returns how many bytes it told of for the first time.
    pub(super) fn report_acknowledged(
        &mut self,
        now: Instant,
        bytes: u64,
        in_flight_before: u64,
        round_trip: Option<Duration>,
        is_echo: bool,
    ) -> u64 {
        //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.2
        //# The sending
        //# TCP SHOULD NOT increase the congestion window in response to the
        //# receipt of an ECN-Echo ACK packet.
        // After a timeout it may: until all is repeated there is no new data, which alone ends the echo.
        let is_recovering = match self.recovery {
            Recovery::Fast(_) => true,
            Recovery::Open { .. } => is_echo,
            Recovery::Timeout { .. } => false,
        };
        let reading = self.board.read_delivery(now, round_trip);
        let acknowledged = Acknowledged {
            now,
            bytes,
            in_flight_before,
            in_flight: self.board.pipe(),
            advances_cumulative: bytes > 0,
            is_recovering,
            round_trip,
            smoothed_round_trip: self.rtt.srtt(),
            starts_round: reading.starts_round,
            delivery: reading.sample,
            counts: reading.counts,
        };
        if let Controller::Standard(standard) = &mut self.control {
            standard.on_acknowledged(&acknowledged);
        } else {
            // A copy: what is lent here has to lie in memory, and nothing of it does before.
            let lent = acknowledged;
            self.control.on_acknowledged(&lent);
        }
        reading.counts.newly_delivered
    }

    /// An acknowledgement has told of so many bytes, and what is lost by it is known: the window of a recovery follows.
    pub(super) fn shrink_proportionally(&mut self, delivered: u64) {
        if let Recovery::Fast(fast) = &mut self.recovery
            && let FastWindow::Proportional(window) = &mut fast.window
        {
            window.on_delivered(delivered, self.board.pipe(), self.mss);
        }
    }
}

#[inline(never)]
fn pace(control: &mut Controller<cc::NewReno>, pacer: &mut Pacer, sent: Sent) {
    control.on_paced(pacer, sent);
}
