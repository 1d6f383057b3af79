//! The controllers, with ten segments at the start.

use slantpath_base::DataRate;
use slantpath_cc::cubic::{CubicConfig, IdleWindow};
use slantpath_cc::hybla::HyblaConfig;
use slantpath_cc::new_reno::AvoidanceIncrease;
use slantpath_cc::{
    Backlog, BacklogConfig, Bbr, Bbr3, BbrConfig, CongestionControl, Cubic, Hybla, InitialWindow, NewReno,
    NewRenoConfig, SlowStart, Westwood,
};

use crate::model::PAYLOAD;

pub(crate) fn backlog() -> Box<dyn CongestionControl> {
    backlog_with(10, None)
}

pub(crate) fn backlog_with(initial_segments: u64, capacity: Option<DataRate>) -> Box<dyn CongestionControl> {
    Box::new(Backlog::new(BacklogConfig {
        segment_bytes: PAYLOAD,
        initial_cwnd_bytes: initial_segments * PAYLOAD,
        max_cwnd_bytes: 1 << 30,
        capacity,
    }))
}

const BBR: BbrConfig =
    BbrConfig { segment_bytes: PAYLOAD, initial_cwnd_bytes: 10 * PAYLOAD, max_cwnd_bytes: 1 << 30 };

pub(crate) fn bbr() -> Box<dyn CongestionControl> {
    Box::new(Bbr::new(BBR))
}

pub(crate) fn bbr3() -> Box<dyn CongestionControl> {
    Box::new(Bbr3::new(BBR))
}

pub(crate) fn hybla() -> Box<dyn CongestionControl> {
    Box::new(Hybla::new(HyblaConfig {
        segment_bytes: PAYLOAD,
        initial_cwnd_bytes: 10 * PAYLOAD,
        initial_ssthresh_bytes: None,
        max_cwnd_bytes: 1 << 30,
        slow_start: SlowStart::HyStartPlusPlus,
    }))
}

pub(crate) fn cubic() -> Box<dyn CongestionControl> {
    Box::new(Cubic::new(CubicConfig {
        segment_bytes: PAYLOAD,
        initial_cwnd_bytes: 10 * PAYLOAD,
        initial_ssthresh_bytes: None,
        max_cwnd_bytes: 1 << 30,
        slow_start: SlowStart::Standard,
        byte_counting_limit: 2,
        avoidance_increase: AvoidanceIncrease::ByteCounting,
        fast_convergence: true,
        idle_window: IdleWindow::Restart,
    }))
}

fn tens() -> NewRenoConfig {
    NewRenoConfig { initial_window: InitialWindow::Segments(10), ..NewRenoConfig::new(1_452) }
}

pub(crate) fn new_reno() -> Box<dyn CongestionControl> {
    Box::new(NewReno::new(tens()))
}

pub(crate) fn westwood() -> Box<dyn CongestionControl> {
    Box::new(Westwood::new(tens()))
}
