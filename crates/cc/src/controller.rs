//! A transport's choice of controller, told apart by an enum: no allocation, no dynamic dispatch.

use slantpath_base::DataRate;

use crate::control::{Acknowledged, Congestion, CongestionControl, Sent, TimedOut};
use crate::cubic::Cubic;

/// The algorithm that governs a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// CUBIC (RFC 9438).
    Cubic,
    /// The transport's own: RFC 5681 for TCP, RFC 9260, section 7.2, for SCTP.
    #[default]
    Standard,
}

/// One of the controllers that a transport may use; `S` is its own.
#[derive(Clone, Debug)]
pub enum Controller<S> {
    /// CUBIC.
    Cubic(Cubic),
    /// The transport's own.
    Standard(S),
}

/// The same call, whichever it is.
macro_rules! each {
    ($self:ident, $controller:ident => $call:expr) => {
        match $self {
            Controller::Cubic($controller) => $call,
            Controller::Standard($controller) => $call,
        }
    };
}

impl<S: CongestionControl> CongestionControl for Controller<S> {
    fn cwnd(&self) -> u64 {
        each!(self, controller => controller.cwnd())
    }

    fn ssthresh(&self) -> u64 {
        each!(self, controller => controller.ssthresh())
    }

    fn pacing_rate(&self) -> Option<DataRate> {
        each!(self, controller => controller.pacing_rate())
    }

    fn on_sent(&mut self, sent: Sent) {
        each!(self, controller => controller.on_sent(sent));
    }

    fn on_acknowledged(&mut self, acknowledged: &Acknowledged) {
        each!(self, controller => controller.on_acknowledged(acknowledged));
    }

    fn on_lost(&mut self, congestion: Congestion) {
        each!(self, controller => controller.on_lost(congestion));
    }

    fn on_timed_out(&mut self, timed_out: TimedOut) {
        each!(self, controller => controller.on_timed_out(timed_out));
    }

    fn on_marked(&mut self, congestion: Congestion) {
        each!(self, controller => controller.on_marked(congestion));
    }

    fn on_idle(&mut self, timeouts: u64) {
        each!(self, controller => controller.on_idle(timeouts));
    }

    fn limit_cwnd(&mut self, at_most: u64) {
        each!(self, controller => controller.limit_cwnd(at_most));
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        each!(self, controller => controller.set_segment_bytes(segment_bytes));
    }
}
