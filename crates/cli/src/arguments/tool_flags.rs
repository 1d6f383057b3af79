//! Arguments of commands that help with the others.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct KeysArguments {
    /// Words to look for, such as `fade` or `rto min`; the case of letters does not matter. Without one all sections
    /// are listed.
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Print as JSON, all that is found.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct NewArguments {
    /// Name of the template: `slantpath new --list` tells what each is.
    #[arg(required_unless_present = "list")]
    pub(crate) template: Option<String>,
    /// The file to write, which must not exist; TEMPLATE.toml if absent.
    pub(crate) file: Option<PathBuf>,
    /// List the templates, a line each.
    #[arg(long, conflicts_with_all = ["template", "file"])]
    pub(crate) list: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArguments {
    /// The shell that is to complete.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManArguments {
    /// The command; the whole program if absent.
    pub(crate) command: Option<String>,
}
