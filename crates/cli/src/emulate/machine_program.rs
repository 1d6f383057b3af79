//! Program of this machine that an emulation starts: it runs as it is, and ends with the emulation, however that does.

use std::ffi::OsString;
use std::io;
use std::process::{Child, Command, ExitStatus};

/// Exit code of a program that a signal has ended, less the signal.
#[cfg(unix)]
const SIGNALLED: i32 = 128;

#[derive(Debug)]
pub(super) struct MachineProgram(Child);

impl MachineProgram {
    pub(super) fn start(name: &OsString, arguments: &[OsString]) -> io::Result<Self> {
        let start = || Command::new(name).args(arguments).spawn();
        #[cfg(target_os = "linux")]
        let started = slantpath_live::with_termination(start);
        #[cfg(not(target_os = "linux"))]
        let started = start();
        started.map(Self).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot start `{}`: {error}", name.display()))
        })
    }

    /// Exit code of the program, if it has ended.
    pub(super) fn ended(&mut self) -> io::Result<Option<u8>> {
        Ok(self.0.try_wait()?.map(code))
    }

    /// Asks the program to end: by SIGTERM, where there are signals.
    #[cfg(unix)]
    pub(super) fn ask_to_end(&mut self) -> io::Result<()> {
        use nix::errno::Errno;
        use nix::sys::signal::{Signal, kill};
        // The number is its own until it has been waited for.
        let id = i32::try_from(self.0.id()).map_err(|_| io::ErrorKind::InvalidInput)?;
        match kill(nix::unistd::Pid::from_raw(id), Signal::SIGTERM) {
            // It has ended by itself.
            Err(Errno::ESRCH) => Ok(()),
            asked => Ok(asked?),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn ask_to_end(&mut self) -> io::Result<()> {
        self.0.kill()
    }
}

impl Drop for MachineProgram {
    /// Ends the program by force, unless it has ended.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Exit code of a program as a shell tells it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code();
    #[cfg(unix)]
    let code = {
        use std::os::unix::process::ExitStatusExt as _;
        code.or_else(|| status.signal().map(|signal| SIGNALLED + signal))
    };
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(all(test, unix))]
mod tests {
    use nix::errno::Errno;
    use nix::sys::signal::kill;
    use nix::unistd::Pid;

    use super::*;

    #[test]
    fn a_program_ends_with_whoever_started_it() {
        // As where the run fails, of whose end nothing more is told.
        let arguments = ["-f", "/dev/null"].map(OsString::from);
        let program = MachineProgram::start(&"tail".into(), &arguments).unwrap();
        let id = Pid::from_raw(i32::try_from(program.0.id()).unwrap());
        assert_eq!(kill(id, None), Ok(()));
        drop(program);
        assert_eq!(kill(id, None), Err(Errno::ESRCH));
    }
}
