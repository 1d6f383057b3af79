//! What NewReno and CUBIC do, as the measure of the others, and of the model.

use slantpath_cc::cubic::{CubicConfig, IdleWindow};
use slantpath_cc::new_reno::AvoidanceIncrease;
use slantpath_cc::{Cubic, InitialWindow, NewReno, NewRenoConfig, SlowStart};

use crate::model::{PAYLOAD, PathSpec};
use crate::table::alone;

pub(crate) fn cubic() -> Cubic {
    Cubic::new(CubicConfig {
        segment_bytes: PAYLOAD,
        initial_cwnd_bytes: 10 * PAYLOAD,
        initial_ssthresh_bytes: None,
        max_cwnd_bytes: 1 << 30,
        slow_start: SlowStart::Standard,
        byte_counting_limit: 2,
        avoidance_increase: AvoidanceIncrease::ByteCounting,
        fast_convergence: true,
        idle_window: IdleWindow::Restart,
    })
}

pub(crate) fn new_reno() -> NewReno {
    NewReno::new(NewRenoConfig { initial_window: InitialWindow::Segments(10), ..NewRenoConfig::new(1_452) })
}

/// As over whole stacks: without loss the link is full, and its queue has overflowed.
#[test]
fn loss_based_controllers_fill_a_path_without_loss_and_little_of_one_with() {
    let reno = |loss| alone(PathSpec::geo().losing(loss), 1, Box::new(new_reno()));
    assert!(reno(0.0).goodput > 96.5 && reno(0.0).queue_losses > 400);
    assert!((7.0..12.0).contains(&reno(1e-3).goodput), "{:?}", reno(1e-3));
    assert!((2.0..4.0).contains(&reno(1e-2).goodput), "{:?}", reno(1e-2));
    let cubic = |loss| alone(PathSpec::leo().losing(loss), 1, Box::new(cubic()));
    assert!(cubic(0.0).goodput > 96.5 && cubic(0.0).queue_losses > 600);
    assert!((15.0..30.0).contains(&cubic(1e-3).goodput), "{:?}", cubic(1e-3));
    assert!((4.0..8.0).contains(&cubic(1e-2).goodput), "{:?}", cubic(1e-2));
}
