//! Instructions of one function of a program, counted by callgrind.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::rounds::Failure;

/// Does the work of a case and returns its units. Only what happens in here is counted, not what prepares it.
#[inline(never)]
pub fn measured(work: &mut dyn FnMut() -> u64) -> u64 {
    work()
}

/// The instructions that `program`, a process that calls [`measured`] once, executes in it.
///
/// # Errors
/// If valgrind is missing, or the program fails.
pub fn instructions(program: &Path, arguments: &[&str]) -> Result<u64, Failure> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg("--toggle-collect=*count::callgrind::measured*")
        .arg(program)
        .args(arguments)
        .stdout(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start valgrind ({error}): apt-get install valgrind"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{} ended with {}:\n{said}", program.display(), output.status).into());
    }
    collected(&said).ok_or_else(|| format!("callgrind has counted nothing:\n{said}").into())
}

/// The count in callgrind's last words; zero is none, since the function was not found then.
fn collected(said: &str) -> Option<u64> {
    let line = said.lines().find_map(|line| line.split_once("Collected :"))?.1;
    line.trim().parse().ok().filter(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_what_callgrind_says() {
        let said = "==7== Callgrind, a call-graph generating cache profiler\n==7== Events    : Ir\n\
                    ==7== Collected : 3172563\n==7== I   refs:      3,172,563\n";
        assert_eq!(collected(said), Some(3_172_563));
    }

    #[test]
    fn nothing_counted_is_no_count() {
        assert_eq!(collected("==7== Collected : 0\n"), None);
        assert_eq!(collected("valgrind: failed to start\n"), None);
    }
}
