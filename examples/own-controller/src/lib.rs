//! A congestion controller and a queue of one's own, for scenarios to name: the example of `docs/do/own-controller.md`.

pub mod gentle;
pub mod newest_first;

use slantpath_cli::OwnKinds;

/// All that this program brings along.
pub fn kinds() -> OwnKinds {
    OwnKinds::none().with_controller(gentle::kind()).with_queue(newest_first::kind())
}
