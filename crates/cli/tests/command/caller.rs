//! Callers of `slantpath emulate`: whoever runs the tests, and a user without rights.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::place::{Outcome, Place};

/// User and group without rights that root becomes.
pub(crate) const NOBODY: u32 = 65_534;

/// Whoever calls the command, with a directory for the test.
pub(crate) struct Caller {
    pub(crate) place: Place,
    /// A copy of the program that everybody may run, if it is run by somebody without rights.
    pub(crate) copy: Option<std::path::PathBuf>,
}

impl Caller {
    /// Whoever runs the tests, and if that is root, somebody without rights as well.
    pub(crate) fn each(test: &str) -> Vec<Self> {
        let mut callers = vec![Self { place: Place::new(test), copy: None }];
        if std::fs::metadata("/proc/self").expect("this process").uid() == 0 {
            // The program may lie where nobody else looks.
            let copy = std::env::temp_dir().join(format!("slantpath-{test}-{}", std::process::id()));
            std::fs::copy(env!("CARGO_BIN_EXE_slantpath"), &copy).expect("a copy");
            std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).expect("its rights");
            callers.push(Self { place: Place::new(&format!("{test}-nobody")), copy: Some(copy) });
        }
        callers
    }

    /// Callers as [`each`](Self::each) gives them, without those to whom the machine refuses namespaces.
    pub(crate) fn all(test: &str) -> Vec<Self> {
        let mut callers = Self::each(test);
        callers.retain(|caller| {
            let outcome = caller.run(&["--", "true"]);
            if outcome.is_refused_namespaces() {
                return false;
            }
            assert_eq!(outcome.status, Some(0), "{}", outcome.err);
            true
        });
        callers
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        // A machine that tests other things at the time may be late.
        let late = if arguments.contains(&"--late") { &[][..] } else { &["--late", "10 s"][..] };
        let arguments = [&["emulate"], late, arguments].concat();
        let Some(copy) = &self.copy else { return self.place.command(&arguments) };
        let mut command = Command::new(copy);
        command.args(arguments).uid(NOBODY).gid(NOBODY).env("PATH", "/usr/bin:/bin").current_dir("/");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        self.command(arguments).output().expect("the program runs").into()
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        if let Some(copy) = &self.copy {
            let _ = std::fs::remove_file(copy);
        }
    }
}
