//! A progress bar on the terminal; nothing where there is none.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar for so many runs.
pub(crate) fn bar(runs: usize) -> ProgressBar {
    bar_of(runs, "runs")
}

/// A bar for so many of something; a message stands behind it.
pub(crate) fn bar_of(count: usize, what: &str) -> ProgressBar {
    let bar = ProgressBar::new(count as u64);
    let template = format!("{{bar:40}} {{pos}}/{{len}} {what}  {{elapsed}} gone, {{eta}} to go  {{msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
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
