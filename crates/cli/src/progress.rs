//! A progress bar on the terminal; nothing where there is none.

use core::fmt::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use slantpath_scenario::Progress;

/// Steps of a whole bar.
const STEPS: u64 = 10_000;

/// How far some work is.
pub(crate) struct Bar {
    bar: ProgressBar,
    what: &'static str,
}

impl Bar {
    /// A bar for several of something: `runs`, or `sites`.
    pub(crate) fn new(what: &'static str) -> Self {
        let bar = ProgressBar::new(STEPS);
        let template = "{bar:40} {percent:>3} %  {prefix}  {elapsed} gone{left}  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            let left = |state: &ProgressState, out: &mut dyn Write| {
                let _ = out.write_str(&left(state.eta()));
            };
            bar.set_style(style.with_key("left", left));
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        Self { bar, what }
    }

    /// Shows how far the work is. What an earlier command had done does not count for its speed.
    pub(crate) fn update(&self, progress: Progress) {
        self.bar.set_prefix(format!("{}/{} {}", progress.done, progress.all, self.what));
        let is_first = self.bar.position() == 0;
        self.bar.set_position(self.bar.position().max(steps(progress.share)));
        if is_first {
            self.bar.reset_eta();
        }
    }

    /// Says what is being done.
    pub(crate) fn show(&self, stage: &'static str) {
        self.bar.set_message(stage);
    }
}

/// The bar goes with its work, however that ends.
impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share lies between 0 and 1")]
fn steps(share: f64) -> u64 {
    (share * STEPS as f64) as u64
}

/// What is left, once there is a pace to tell it from.
fn left(eta: Duration) -> String {
    match eta.as_secs() {
        0 => String::new(),
        seconds => format!(", {:#} to go", indicatif::HumanDuration(Duration::from_secs(seconds))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_pace_nothing_is_said_of_what_is_left() {
        assert_eq!(left(Duration::ZERO), "");
        assert_eq!(left(Duration::from_secs(45)), ", 45s to go");
    }

    #[test]
    fn half_of_one_run_is_half_of_the_bar() {
        let bar = Bar::new("runs");
        bar.update(Progress { done: 0, all: 1, share: 0.5 });
        assert_eq!((bar.bar.position(), bar.bar.prefix().as_str()), (STEPS / 2, "0/1 runs"));
        // Another thread was a little behind.
        bar.update(Progress { done: 0, all: 1, share: 0.4 });
        assert_eq!(bar.bar.position(), STEPS / 2);
    }
}
