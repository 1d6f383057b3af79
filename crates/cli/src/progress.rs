//! A progress bar on the terminal; nothing where there is none.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar for so many runs.
pub(crate) fn bar(runs: usize) -> ProgressBar {
    let bar = ProgressBar::new(runs as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} runs  {elapsed} gone, {eta} to go")
    {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// Tells a bar how far the work is. Runs that were found do not count for its speed.
pub(crate) fn update(bar: &ProgressBar, done: usize) {
    if bar.position() == 0 && done > 0 {
        bar.set_position(done as u64);
        bar.reset_eta();
    } else {
        bar.set_position(bar.position().max(done as u64));
    }
}
