//! Why the command did not do what it was asked to, and how that is reported.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};
use slantpath_runner::{Diagnostic, Diagnostics, LoadError, RunError, SweepError, visible};
use slantpath_topology::FollowError;

use crate::excerpt::Excerpt;

/// Why the command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The work was done and its results are whole, but flows failed. What is said tells how many.
    Flows(String),
    /// Interruption of the command. The message tells how to go on.
    Interrupted(String),
    /// The program that an emulation was for has ended with this status.
    Ended(u8),
    /// Faults of the command's input.
    Invalid(Diagnostics),
    /// Misuse of the command.
    Misused(String),
    /// Error that kept the work from being done.
    Failed(String),
    /// A stream could not be written.
    Output(io::Error),
    /// A precision was not reached by the runs that were allowed.
    Unreached(String),
    /// An emulation came too late to say anything.
    Void(String),
    /// The answer says that so many demands cannot be met.
    Unmet(usize),
    /// The simulation of an answer does not bear it out, or does not keep what the answer was not sure of.
    NotHeld,
}

impl Failure {
    /// The exit status: 1 failed, 2 misused, 3 done although flows failed, a path never exists or demands cannot be
    /// met, 130 interrupted.
    pub(crate) const fn status(&self) -> u8 {
        match self {
            Self::Ended(status) => *status,
            Self::Interrupted(_) => 130,
            Self::Invalid(_) | Self::Misused(_) => 2,
            Self::Failed(_) | Self::Output(_) => 1,
            Self::Flows(_) | Self::NotHeld | Self::Unmet(_) | Self::Unreached(_) | Self::Void(_) => 3,
        }
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// A file that could not be written.
    pub(crate) fn of_file(path: PathBuf) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Failed(format!("{}: {error}", path.display()))
    }

    pub(crate) fn report(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Ended(_) => Ok(()),
            Self::Flows(text) | Self::Interrupted(text) | Self::Unreached(text) | Self::Void(text) => {
                writeln!(out, "{}", visible(text))
            }
            Self::Invalid(diagnostics) => report_diagnostics(diagnostics, out),
            Self::NotHeld => {
                writeln!(
                    out,
                    "the simulation does not bear the answer out: see what is NOT HELD or NOT BORNE OUT"
                )
            }
            Self::Unmet(1) => writeln!(out, "a demand cannot be met: see the answer"),
            Self::Unmet(count) => writeln!(out, "{count} demands cannot be met: see the answer"),
            Self::Misused(text) | Self::Failed(text) => writeln!(out, "error: {}", visible(text)),
            Self::Output(error) => writeln!(out, "error: the output cannot be written: {error}"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Invalid(diagnostics) => Self::Invalid(diagnostics),
            LoadError::Unreadable { .. } => Self::Misused(error.to_string()),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::UnknownLink { .. } => Self::Misused(error.to_string()),
            RunError::Build(_) | RunError::Outside(_) | RunError::Results(_) => {
                Self::Failed(error.to_string())
            }
        }
    }
}

impl From<FollowError> for Failure {
    fn from(error: FollowError) -> Self {
        match error {
            FollowError::Invalid(diagnostics) => Self::Invalid(diagnostics),
            FollowError::Store(_) | FollowError::Table(_) => Self::Failed(error.to_string()),
        }
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Self {
        Self::Failed(error.to_string())
    }
}

fn report_diagnostics(diagnostics: &Diagnostics, out: &mut impl Write) -> io::Result<()> {
    let coloured = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let theme = if coloured { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(100).with_context_lines(1);
    let (shown, more) = diagnostics.shown();
    for diagnostic in shown {
        let mut text = String::new();
        let report = Report { diagnostic, excerpt: Excerpt::of(diagnostic) };
        match handler.render_report(&mut text, &report) {
            Ok(()) => write!(out, "{text}")?,
            // The plain form says as much, without the picture.
            Err(_) => writeln!(out, "{diagnostic}")?,
        }
    }
    if more > 0 {
        writeln!(out, "the first {} of {} errors; nothing was run", shown.len(), diagnostics.len())?;
    } else if shown.len() > 1 {
        writeln!(out, "{} errors; nothing was run", shown.len())?;
    }
    Ok(())
}

/// A diagnostic as miette draws it.
#[derive(Debug)]
struct Report<'a> {
    diagnostic: &'a Diagnostic,
    excerpt: Excerpt<'a>,
}

impl std::fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn severity(&self) -> Option<miette::Severity> {
        Some(miette::Severity::Error)
    }

    fn help<'b>(&'b self) -> Option<Box<dyn std::fmt::Display + 'b>> {
        self.diagnostic.help.as_ref().map(|help| Box::new(help) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(LabeledSpan::underline(self.excerpt.span.clone()))))
    }
}
