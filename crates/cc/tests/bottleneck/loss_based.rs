//! Runs of NewReno and CUBIC, as the measure of the others, and of the model.

use crate::controllers::{cubic, new_reno};
use crate::model::{PathSpec, alone};

/// As over whole stacks: without loss the link is full, and its queue has overflowed.
#[test]
fn loss_based_controllers_fill_a_path_without_loss_and_little_of_one_with() {
    let reno = |loss| alone(PathSpec::geo().losing(loss), 1, new_reno());
    assert!(reno(0.0).goodput > 96.5 && reno(0.0).queue_losses > 400);
    assert!((7.0..12.0).contains(&reno(1e-3).goodput), "{:?}", reno(1e-3));
    assert!((2.0..4.0).contains(&reno(1e-2).goodput), "{:?}", reno(1e-2));
    let cubic = |loss| alone(PathSpec::leo().losing(loss), 1, cubic());
    assert!(cubic(0.0).goodput > 96.5 && cubic(0.0).queue_losses > 600);
    assert!((15.0..30.0).contains(&cubic(1e-3).goodput), "{:?}", cubic(1e-3));
    assert!((4.0..8.0).contains(&cubic(1e-2).goodput), "{:?}", cubic(1e-2));
}
