//! A directory of its own for each test, and the program run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory that is removed with its value.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(test: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).expect("a directory for the test");
        Self(directory)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The program with its arguments, to be run here.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_slantpath"));
        command.args(arguments).current_dir(&self.0).env_remove("NO_COLOR");
        command
    }

    /// Runs the program.
    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        self.command(arguments).output().expect("the program runs").into()
    }

    /// Writes a file, and the directories on the way.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a file has a directory"))
            .expect("a directory of the test");
        std::fs::write(path, text).expect("a file of the test");
    }

    /// The names of all that is here, directories too, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names(&self.0)
    }

    /// Every file below a directory by its name, with its bytes.
    pub(crate) fn files(&self, directory: &str) -> Vec<(String, Vec<u8>)> {
        let directory = self.0.join(directory);
        let read = |name: String| {
            let bytes = std::fs::read(directory.join(&name)).expect("a file that the program wrote");
            (name, bytes)
        };
        names(&directory).into_iter().filter(|name| directory.join(name).is_file()).map(read).collect()
    }
}

pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Output of the program, and its exit status.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Outcome {
    /// Tells if the machine refuses the namespaces of an emulation, of which it says so loudly.
    pub(crate) fn is_refused_namespaces(&self) -> bool {
        let is_refused = self.status != Some(0) && self.err.contains("namespace");
        if is_refused {
            slantpath_testkit::skip(self.err.trim());
        }
        is_refused
    }
}

/// Error stream without the lines that say how far the work is, of which a slow machine has more.
fn without_progress(err: &str) -> String {
    err.split_inclusive('\n').filter(|line| !line.ends_with(" s elapsed\n")).collect()
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: without_progress(&String::from_utf8_lossy(&output.stderr)),
        }
    }
}

/// A scenario of the project.
pub(crate) fn scenario(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    std::fs::read_to_string(path).expect("a scenario of the project")
}
