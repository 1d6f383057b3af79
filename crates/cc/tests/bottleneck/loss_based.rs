//! Runs of NewReno and CUBIC, as the measure of the others, and of the model; and of Westwood+, made for random loss.

use crate::controllers::{cubic, new_reno, westwood};
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

/// A loss by chance slows no acknowledgement, so that the bandwidth stays and the window with it. On a path that is
/// short in comparison to the filter, one in a thousand costs next to nothing.
#[test]
fn westwood_keeps_more_than_new_reno_of_a_path_with_random_loss() {
    let goodput = |path: PathSpec, loss| {
        [westwood, new_reno].map(|control| alone(path.losing(loss), 1, control()).goodput)
    };
    let [westwood, reno] = goodput(PathSpec::leo(), 1e-3);
    assert!(westwood > 95.0 && reno < 20.0, "{westwood} {reno}");
    for (path, times) in [(PathSpec::leo(), 4.0), (PathSpec::geo(), 2.5)] {
        let [westwood, reno] = goodput(path, 1e-2);
        assert!(westwood > times * reno, "{westwood} {reno}");
    }
}

/// The bandwidth lags behind a slow start that doubles the rate each round trip, by rounds as long as the path. Where
/// that overflows the queue of a long path, the threshold is too low, and the window takes minutes to come back.
#[test]
fn westwood_fills_a_short_path_without_loss_and_pays_for_its_filter_on_a_long_one() {
    let found = alone(PathSpec::leo(), 1, westwood());
    assert!(found.goodput > 96.5 && found.queue_losses < 250, "{found:?}");
    let found = alone(PathSpec::geo(), 1, westwood());
    assert!((50.0..65.0).contains(&found.goodput), "{found:?}");
}
