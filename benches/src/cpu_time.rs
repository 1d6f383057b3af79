//! CPU time of this process and of the programs that it ran, as Linux accounts for it.

use std::fs;
use std::io;

/// Linux tells user programs about time in hundredths of a second, whatever the kernel's own tick.
const TICKS_PER_SECOND: f64 = 100.0;

/// Seconds of CPU time, user and system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuTime {
    /// Of this process.
    pub own: f64,
    /// Of its children that have ended and been waited for.
    pub children: f64,
}

impl CpuTime {
    /// Reads the CPU time used since the process started, from `/proc/self/stat`.
    ///
    /// # Errors
    /// If the file cannot be read or is not of the form that proc(5) describes.
    pub fn read() -> io::Result<Self> {
        parse(&fs::read_to_string("/proc/self/stat")?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/self/stat is not as in proc(5)"))
    }
}

/// Fields 14 to 17: utime, stime, cutime, cstime. The second field is the program's name in parentheses and
/// may hold blanks.
fn parse(stat: &str) -> Option<CpuTime> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11).map_while(|field| field.parse::<u32>().ok());
    let mut seconds = || fields.next().map(|ticks| f64::from(ticks) / TICKS_PER_SECOND);
    let own = seconds()? + seconds()?;
    let children = seconds()? + seconds()?;
    Some(CpuTime { own, children })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_found_behind_a_name_with_blanks_and_parentheses() {
        let stat = "12 (a (b) c) R 1 1 1 0 -1 4194304 9 0 0 0 150 50 30 20 20 0 1 0 5";
        assert_eq!(parse(stat), Some(CpuTime { own: 2.0, children: 0.5 }));
    }

    #[test]
    fn another_form_is_refused() {
        assert_eq!(parse("12 (a) R 1 2"), None);
        assert_eq!(parse(""), None);
    }
}
