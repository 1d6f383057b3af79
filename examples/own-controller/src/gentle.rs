//! AIMD that gives up less than half of its window at a loss.

use slantpath_base::{Declaration, OwnParameters};
use slantpath_cc::control::{self, Acknowledged, CongestionControl, LossEvent, Sent, TimedOut};
use slantpath_cc::{OwnController, Terms};

/// The controller as scenarios name it: `congestion_control = { kind = "gentle", keep = 0.8 }`.
pub fn kind() -> OwnController {
    let declaration = Declaration::new("gentle", "AIMD that keeps most of its window at a loss.")
        .with_parameter("keep", 0.7, "Share of the window that a loss leaves.");
    OwnController::new(declaration, Gentle::new)
}

/// Window of one path.
#[derive(Clone, Debug)]
pub struct Gentle {
    segment_bytes: u64,
    least_bytes: u64,
    most_bytes: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Bytes that have been acknowledged since the window grew by a segment.
    acknowledged_bytes: u64,
    keep: f64,
}

impl Gentle {
    fn new(terms: &Terms, parameters: &OwnParameters) -> Self {
        Self {
            segment_bytes: terms.segment_bytes,
            least_bytes: 2 * terms.segment_bytes,
            most_bytes: terms.max_cwnd_bytes,
            cwnd: terms.initial_cwnd_bytes,
            ssthresh: terms.initial_ssthresh_bytes.unwrap_or(u64::MAX),
            acknowledged_bytes: 0,
            keep: parameters.number("keep").clamp(0.1, 1.0),
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a window")]
    fn close(&mut self) {
        self.ssthresh = ((self.cwnd as f64 * self.keep) as u64).max(self.least_bytes);
        self.acknowledged_bytes = 0;
    }
}

impl CongestionControl for Gentle {
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn on_sent(&mut self, _: Sent) {}

    fn on_acknowledged(&mut self, acknowledged: &Acknowledged) {
        if acknowledged.is_recovering || !acknowledged.advances_cumulative {
            return;
        }
        if self.cwnd < self.ssthresh {
            self.cwnd += acknowledged.bytes.min(self.segment_bytes);
        } else {
            self.acknowledged_bytes += acknowledged.bytes;
            if self.acknowledged_bytes >= self.cwnd {
                self.acknowledged_bytes -= self.cwnd;
                self.cwnd += self.segment_bytes;
            }
        }
        self.cwnd = self.cwnd.min(self.most_bytes);
    }

    fn on_lost(&mut self, _: control::Congestion) {
        self.close();
        self.cwnd = self.ssthresh;
    }

    fn on_timed_out(&mut self, timed_out: TimedOut) {
        if timed_out.loss == LossEvent::New {
            self.close();
        }
        self.cwnd = self.segment_bytes;
    }

    fn on_marked(&mut self, congestion: control::Congestion) {
        self.on_lost(congestion);
    }

    fn on_idle(&mut self, _: u64) {}

    fn limit_cwnd(&mut self, at_most: u64) {
        self.cwnd = self.cwnd.min(at_most);
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        self.segment_bytes = segment_bytes;
        self.least_bytes = 2 * segment_bytes;
    }
}
