//! The command `slantpath`.

use std::process::ExitCode;

fn main() -> ExitCode {
    slantpath_cli::main(std::env::args_os(), None).into()
}
