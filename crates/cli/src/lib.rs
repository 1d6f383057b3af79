//! The command `slantpath`, as a library: the program and Python's entry point are both thin callers.
//!
//! # Map
//!
//! - [`arguments`][]: declares the commands and their options.
//! - [`directory`][]: `--out`. It is tried before the work, and cleared of what its own manifest lists and nothing
//!   else.
//! - [`emulate`][]: attached programs, and the doors or relays to them.
//! - [`keys`][]: finds what declarations say. [`new`][]: templates, which are files in `templates`. [`other_file`][]: a
//!   file in the place of another.
//! - [`sctp`][]: a program that exists, with sockets of SCTP.
//! - [`terminal`][]: the only way to print. No text of a file commands a terminal.

mod arguments;
mod check;
mod criteria;
mod directory;
mod emulate;
mod excerpt;
mod explain;
mod failure;
mod files;
mod import;
mod interrupt;
mod keys;
mod link_estimate;
mod live;
mod new;
mod other_file;
mod plan;
mod progress;
mod replay;
mod run;
mod sctp;
#[cfg(unix)]
mod set;
#[cfg(not(unix))]
mod set {
    use std::io::Write;

    use crate::arguments::SetArguments;
    use crate::failure::Failure;

    pub(crate) fn main(_: &SetArguments, _: &mut impl Write) -> Result<(), Failure> {
        Err(Failure::Failed("set needs sockets of Unix".to_owned()))
    }
}
mod summary;
mod sweep;
mod table;
mod terminal;
mod topology;
mod trace;
mod usage;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use clap::{CommandFactory, FromArgMatches as _};

pub use slantpath_runner::OwnKinds;

pub use criteria::{Precise, Until, Within};
pub use sweep::{ResultsError, SweepResults};

use arguments::{Arguments, Command, ManArguments, SchemaOf};
use failure::Failure;
use terminal::Visible;

/// Draws the figures of the tables in a directory into it until it is stopped, and gives the names of the files or what
/// went wrong.
pub type Draw<'a> = &'a dyn Fn(&Path, &'static AtomicBool) -> Result<Vec<String>, String>;

/// Runs the command with its arguments, the program's name first, and returns its exit status:
/// 0 done, 1 failed, 2 misused, 3 done although flows failed, 130 interrupted.
///
/// The program itself draws no figures: `draw` does, where there is someone who can.
pub fn main(args: impl IntoIterator<Item = OsString>, draw: Option<Draw<'_>>) -> u8 {
    main_with(args, draw, &OwnKinds::none())
}

/// Variant of [`main`] for a program that brings kinds of its own along, which scenarios may name then:
///
/// ```no_run
/// # use slantpath_cli::OwnKinds;
/// let own = OwnKinds::none();
/// std::process::exit(slantpath_cli::main_with(std::env::args_os(), None, &own).into());
/// ```
pub fn main_with(args: impl IntoIterator<Item = OsString>, draw: Option<Draw<'_>>, own: &OwnKinds) -> u8 {
    let args = usage::joined(args);
    let command: Vec<String> = args.iter().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    if draw.is_none()
        && let Some(refusal) = usage::of_python(&args)
    {
        let _ = writeln!(Visible(io::stderr().lock()), "{refusal}");
        return 2;
    }
    let mut program = program(draw.is_some());
    let parsed = program.try_get_matches_from_mut(args).and_then(|mut matches| {
        Arguments::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut program))
    });
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version come this way too, and are no errors.
            let status = if error.use_stderr() { 2 } else { 0 };
            let _ = usage::print(&error);
            return status;
        }
    };
    let mut out = Visible(io::stdout().lock());
    let outcome = match &arguments.command {
        Command::Check(options) => check::main(options, own, &mut out),
        Command::Completions(options) => {
            let mut script = Vec::new();
            clap_complete::generate(options.shell, &mut completed(draw.is_some()), "slantpath", &mut script);
            // Not for a terminal: a shell reads it, control characters and all.
            out.0.write_all(&script).map_err(Failure::from)
        }
        Command::Echo(options) => live::echo(options, own, &command, &mut out),
        Command::Emulate(options) => emulate::main(options, own),
        Command::Explain(options) => explain::main(options, own, &mut out),
        Command::Gateway(options) => live::gateway(options, own, &command, &mut out),
        Command::Import(options) => import::main(options, &mut out),
        Command::Keys(options) => keys::main(options, &mut out),
        Command::Load(options) => live::load(options, own, &command, &mut out),
        Command::Man(options) => man(options, &mut out.0),
        Command::New(options) => new::main(options, &mut out),
        Command::Plan(options) => plan::main(options, &command, &mut out),
        Command::Replay(options) => replay::main(options, own, &mut out),
        Command::Run(options) => run::main(options, own, &mut out),
        Command::Schema(options) => {
            let schema = match options.of {
                SchemaOf::Plan => slantpath_plan::json_schema(),
                SchemaOf::Scenario => slantpath_runner::json_schema_with(own),
                SchemaOf::Sweep => slantpath_runner::sweep_schema(),
                SchemaOf::Topology => slantpath_topology::json_schema(),
            };
            out.write_all(schema.as_bytes()).map_err(Failure::from)
        }
        Command::Sctp(options) => sctp::main(options, own, &command),
        Command::SctpNotifier(options) => sctp::notifier(options),
        Command::Set(options) => set::main(options, &mut out),
        Command::Sweep(options) => sweep::main(options, own, &mut out),
        Command::Topology(options) => topology::main(options, draw, &mut out),
        Command::Traffic(options) => live::traffic(options, own, &mut out),
    };
    let flushed = out.flush().map_err(Failure::from);
    let Err(failure) = outcome.and(flushed) else { return 0 };
    let failure = other_file::named(&arguments.command, failure);
    if failure.is_broken_pipe() {
        // Whoever reads has read enough.
        return 0;
    }
    // When nobody listens to errors either, the status has to do.
    let _ = failure.report(&mut io::stderr().lock());
    failure.status()
}

/// The program's commands; without Python it says what it lacks.
fn program(is_python: bool) -> clap::Command {
    let program = Arguments::command();
    if is_python {
        return program;
    }
    let version = concat!(
        env!("CARGO_PKG_VERSION"),
        "\nThe program alone, without the commands of the Python package."
    );
    program.long_version(version).after_help(format!("{}\n\n{}", usage::STATUS, usage::lacks()))
}

/// Commands that a shell completes: with those of the Python package where it has called.
fn completed(is_python: bool) -> clap::Command {
    let own = Arguments::command();
    if !is_python {
        return own;
    }
    own.subcommands(usage::OF_PYTHON.map(|(name, about)| clap::Command::new(name).about(about)))
}

/// The manual page of the program, or of one of its commands.
fn man(options: &ManArguments, out: &mut impl Write) -> Result<(), Failure> {
    let mut program = Arguments::command();
    program.build();
    let page = match &options.command {
        None => program,
        Some(name) => {
            let of_name = |command: &&clap::Command| command.get_name() == name;
            let Some(command) = program.get_subcommands().find(of_name) else {
                let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
                let names: Vec<&str> = shown.map(clap::Command::get_name).collect();
                let message = format!("there is no command `{name}`; commands: {}", names.join(", "));
                return Err(Failure::Misused(message));
            };
            command.clone()
        }
    };
    clap_mangen::Man::new(page).render(out).map_err(Failure::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_completes_the_commands_of_the_python_package_where_there_is_one() {
        let names = |is_python| {
            let program = completed(is_python);
            program.get_subcommands().map(|command| command.get_name().to_owned()).collect::<Vec<_>>()
        };
        let own = names(false);
        assert_eq!(
            names(true),
            [own, ["plot", "report", "study", "view"].map(str::to_owned).to_vec()].concat()
        );
    }

    #[test]
    fn the_program_alone_says_what_it_lacks() {
        let told = |is_python: bool| program(is_python).render_help().to_string();
        assert!(told(false).contains("lacks `plot`, `report`, `study` and `view`"), "{}", told(false));
        assert!(
            told(false).contains("Exit status") && !told(false).contains("packages (pip"),
            "{}",
            told(false)
        );
        assert!(told(true).contains("packages (pip") && !told(true).contains("alone"), "{}", told(true));
        assert!(program(false).render_long_version().contains("alone"));
        assert!(!program(true).render_long_version().contains("alone"));
    }
}
