//! The command `slantpath` with the kinds of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    slantpath_cli::main_with(std::env::args_os(), None, &slantpath_own_controller::kinds()).into()
}
