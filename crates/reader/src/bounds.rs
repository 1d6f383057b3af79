//! The most that times of any kind of file may be, each with its reason. A bound is wide: it keeps out what nobody can
//! mean or wait for.

use slantpath_base::Duration;

use crate::AtMost;

const DAY: Duration = Duration::from_secs(86_400);

/// A run, and what happens in it.
pub const RUN: AtMost<Duration> =
    AtMost::new(Duration::from_secs(366 * 86_400), "no run is longer than a year");
/// Time that a signal is on its way.
pub const DELAY: AtMost<Duration> = AtMost::new(DAY, "no link of a network takes a day");
