//! The congestion controller of a path: which one, and what it is told.

use std::net::IpAddr;

use slantpath_base::Instant;
use slantpath_cc::control::{Acknowledged, Congestion, LossEvent, TimedOut};
use slantpath_cc::cubic::{CubicConfig, IdleWindow};
use slantpath_cc::new_reno::AvoidanceIncrease;
use slantpath_cc::sctp::{SctpController, WindowPolicy, initial_cwnd};
use slantpath_cc::{
    Algorithm, Backlog, BacklogConfig, Bbr, Bbr3, BbrConfig, CongestionControl, Controller, Cubic, Hybla,
    HyblaConfig,
};

use super::{Allowance, Path, SackTally};
use crate::config::SctpConfig;

/// The controller of a new path.
pub(super) fn controller(config: &SctpConfig, pmdcs: u64, destination: IpAddr) -> Controller<SctpController> {
    let cwnd = config.initial_cwnd_bytes.unwrap_or_else(|| initial_cwnd(pmdcs, destination.is_ipv6()));
    //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.1
    //# The initial value of ssthresh SHOULD be arbitrarily high (e.g.,
    //# the size of the largest-possible advertised window).
    let ssthresh = u64::from(u32::MAX);
    if let WindowPolicy::Fixed { .. } = config.congestion.window {
        return Controller::Standard(SctpController::new(config.congestion, pmdcs, cwnd, ssthresh));
    }
    let bbr = BbrConfig { segment_bytes: pmdcs, initial_cwnd_bytes: cwnd, max_cwnd_bytes: ssthresh };
    match config.congestion_control {
        Algorithm::Backlog => Controller::Backlog(Box::new(Backlog::new(BacklogConfig {
            segment_bytes: pmdcs,
            initial_cwnd_bytes: cwnd,
            max_cwnd_bytes: ssthresh,
            capacity: None,
        }))),
        Algorithm::Bbr => Controller::Bbr(Box::new(Bbr::new(bbr))),
        Algorithm::Bbr3 => Controller::Bbr3(Box::new(Bbr3::new(bbr))),
        Algorithm::Hybla => Controller::Hybla(Hybla::new(HyblaConfig {
            segment_bytes: pmdcs,
            initial_cwnd_bytes: cwnd,
            initial_ssthresh_bytes: Some(ssthresh),
            max_cwnd_bytes: ssthresh,
            slow_start: config.congestion.slow_start,
        })),
        Algorithm::Cubic => Controller::Cubic(Cubic::new(CubicConfig {
            segment_bytes: pmdcs,
            initial_cwnd_bytes: cwnd,
            initial_ssthresh_bytes: Some(ssthresh),
            max_cwnd_bytes: ssthresh,
            slow_start: config.congestion.slow_start,
            byte_counting_limit: config.congestion.byte_counting_limit.into(),
            avoidance_increase: AvoidanceIncrease::ByteCounting,
            fast_convergence: config.fast_convergence,
            idle_window: IdleWindow::Halve,
        })),
        Algorithm::Standard => {
            Controller::Standard(SctpController::new(config.congestion, pmdcs, cwnd, ssthresh))
        }
    }
}

impl Path {
    /// Opens the window by what the SACK at hand acknowledges.
    pub(crate) fn grow_window(&mut self, now: Instant, advances_cumulative: bool, is_recovering: bool) {
        let SackTally { flight_size_before: in_flight_before, newly_acked: bytes, .. } = self.tally;
        if bytes == 0 {
            return;
        }
        self.allowance = Allowance::Window;
        let round_trip = self.tally.round_trip;
        let reading = self.delivery.read(now, round_trip);
        self.cc.on_acknowledged(&Acknowledged {
            now,
            bytes,
            in_flight_before,
            in_flight: self.flight_size,
            advances_cumulative,
            is_recovering,
            round_trip,
            smoothed_round_trip: self.rtt.srtt(),
            starts_round: reading.starts_round,
            delivery: reading.sample,
            counts: reading.counts,
        });
    }

    /// Closes the window for what the SACK at hand has shown to be lost.
    pub(crate) fn reduce_window(&mut self) {
        self.cc.on_lost(Congestion { in_flight: self.tally.flight_size_before });
    }

    /// T3-rtx has expired without an answer: one packet goes out at a time until something is acknowledged.
    pub(crate) fn collapse_window(&mut self, loss: LossEvent) {
        self.cc.on_timed_out(TimedOut { in_flight: self.flight_size, loss });
        //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.3
        //# ensure that no more than one SCTP packet will be in flight for
        //# that address until the endpoint receives acknowledgement for
        //# successful delivery of data to that address.
        self.allowance = Allowance::OnePacket;
    }
}
