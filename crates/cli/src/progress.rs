//! A progress bar on the terminal. Where there is none, work that takes long has lines.

use core::cell::OnceCell;
use core::fmt::Write;
use std::borrow::Cow;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use slantpath_runner::Progress;

use crate::terminal::{Visible, in_one_line};

/// Steps of a whole bar.
const STEPS: u64 = 10_000;

/// Time for which work goes on in silence before its first line: short work has none.
const SILENCE: Duration = Duration::from_secs(2);
/// Time between one line and the next.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Bar that shows the progress of some work: lines on the error stream where that is no terminal.
pub(crate) struct Bar {
    drawn: ProgressBar,
    what: &'static str,
    lines: Option<Lines>,
}

/// Says from time to time how far some work is, until it is dropped.
struct Lines {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lines {
    fn start(silence: Duration, between: Duration, say: impl Fn() + Send + 'static) -> Self {
        let (end, ended) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut pause = silence;
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                say();
                pause = between;
            }
        });
        Self { end: Some(end), thread: Some(thread) }
    }
}

/// No line comes after the work.
impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Bar {
    /// A bar for several of something: `runs`, or `sites`.
    pub(crate) fn new(what: &'static str) -> Self {
        let bar = ProgressBar::new(STEPS);
        let template = "{bar:40} {percent:>3} %  {prefix}  {elapsed} elapsed{left}  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            let left = |state: &ProgressState, out: &mut dyn Write| {
                let _ = out.write_str(&left(state.eta()));
            };
            bar.set_style(style.with_key("left", left));
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        let lines = (!io::stderr().is_terminal()).then(|| {
            let bar = bar.clone();
            Lines::start(SILENCE, BETWEEN_LINES, move || {
                let _ = io::Write::write_all(&mut Visible(io::stderr()), line(&bar).as_bytes());
            })
        });
        Self { drawn: bar, what, lines }
    }

    /// A bar for runs whose results go into this directory.
    pub(crate) fn of_runs(results: Option<&Path>) -> Self {
        let bar = Self::new("runs");
        if let Some(directory) = results {
            bar.show(format!("results go to {}", in_one_line(&directory.display().to_string())));
        }
        bar
    }

    /// Shows how far the work is. What an earlier command had done does not count for its speed.
    pub(crate) fn update(&self, progress: Progress) {
        self.drawn.set_prefix(format!("{}/{} {}", progress.done, progress.all, self.what));
        let is_first = self.drawn.position() == 0;
        self.drawn.set_position(self.drawn.position().max(steps(progress.share)));
        if is_first {
            self.drawn.reset_eta();
        }
    }

    /// Says what is being done.
    pub(crate) fn show(&self, stage: impl Into<Cow<'static, str>>) {
        self.drawn.set_message(stage);
    }
}

/// A bar for the contacts of a sky, which appears if there are any to be worked out.
#[derive(Default)]
pub(crate) struct ContactsBar(OnceCell<Bar>);

impl ContactsBar {
    /// Shows how far the contacts are.
    pub(crate) fn update(&self, progress: Progress) {
        let bar = self.0.get_or_init(|| Bar::new("sites"));
        bar.show(if progress.done < progress.all {
            "contacts of the sky: passes"
        } else {
            "contacts of the sky: handovers, links and delays"
        });
        bar.update(progress);
    }
}

/// The bar goes with its work, however that ends.
impl Drop for Bar {
    fn drop(&mut self) {
        self.lines = None;
        self.drawn.finish_and_clear();
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share lies between 0 and 1")]
fn steps(share: f64) -> u64 {
    (share * STEPS as f64) as u64
}

/// Progress of a bar's work, in plain words.
fn line(bar: &ProgressBar) -> String {
    let elapsed = bar.elapsed().as_secs();
    let percent = 100 * bar.position() / STEPS;
    let parts = [bar.message(), bar.prefix(), format!("{percent} %"), format!("{elapsed} s elapsed")];
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    format!("{}\n", parts.join(", "))
}

/// Time that is left, once there is a pace to tell it from.
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
    fn work_that_goes_on_says_so_again_and_again_and_is_silent_when_it_is_over() {
        let (said, lines) = mpsc::channel();
        let bar = Bar::new("sites");
        bar.show("contacts of the sky");
        bar.update(Progress { done: 1, all: 2, share: 0.5 });
        let of = bar.drawn.clone();
        let talk = Lines::start(Duration::ZERO, Duration::ZERO, move || said.send(line(&of)).unwrap());
        for _ in 0..2 {
            let line = lines.recv().unwrap();
            assert!(line.starts_with("contacts of the sky, 1/2 sites, 50 %, "), "{line}");
            assert!(line.ends_with(" s elapsed\n"), "{line}");
        }
        drop(talk);
        while lines.try_recv().is_ok() {}
        assert_eq!(lines.try_recv(), Err(mpsc::TryRecvError::Disconnected), "nobody is left who says more");
    }

    #[test]
    fn a_bar_of_runs_says_where_results_are_and_has_lines_off_a_terminal() {
        let bar = Bar::of_runs(Some(Path::new("a\nb")));
        bar.update(Progress { done: 0, all: 1, share: 0.25 });
        let said = line(&bar.drawn);
        assert!(said.starts_with("results go to a\\u000ab, 0/1 runs, 25 %, "), "{said}");
        assert_eq!(Bar::of_runs(None).drawn.message(), "");
        assert_eq!(bar.lines.is_some(), !io::stderr().is_terminal());
    }

    #[test]
    fn half_of_one_run_is_half_of_the_bar() {
        let bar = Bar::new("runs");
        bar.update(Progress { done: 0, all: 1, share: 0.5 });
        assert_eq!((bar.drawn.position(), bar.drawn.prefix().as_str()), (STEPS / 2, "0/1 runs"));
        // Another thread was a little behind.
        bar.update(Progress { done: 0, all: 1, share: 0.4 });
        assert_eq!(bar.drawn.position(), STEPS / 2);
    }
}
