//! Calls that wait for several descriptors by a set of numbers.

use slantpath_requests::Errno;
use slantpath_system::notify::CallAnswer;

use crate::job::{Job, Step};
use crate::notifier::Notifier;

/// Bytes of a word of a set, and its bits.
const WORD: usize = 8;
const BITS: usize = 64;
/// Bytes of the longest set that is looked at.
const SET_MOST: usize = 8_192;

impl Notifier {
    /// Takes numbers below the range that the process has closed out of the sets of `select`, which then runs as it is.
    ///
    /// A program that has closed a descriptor and opened a socket behind it has the same number again, elsewhere, and
    /// may not have taken it out of its sets (`iperf3` does not). Here the socket has another number, and the closed
    /// one would make the call fail.
    pub(crate) fn select(&self, job: &Job) -> Result<Step, Errno> {
        let continued = Ok(Step::Done(CallAnswer::Continue));
        let length = usize::try_from(job.number(0)).unwrap_or(usize::MAX).div_ceil(BITS).saturating_mul(WORD);
        if !self.has_sockets || length > SET_MOST {
            return continued;
        }
        for argument in 1..=3 {
            let at = job.argument(argument);
            if at == 0 {
                continue;
            }
            let mut set = vec![0; length];
            // The kernel says what is wrong with it.
            if Self::read_memory(job, at, &mut set).is_err() {
                return continued;
            }
            let is_closed = |number: u32| self.processes.is_free((job.process, number));
            if without(&mut set, self.numbers.start, is_closed) {
                Self::write_memory(job, at, &set)?;
            }
        }
        continued
    }
}

/// Takes numbers below `end` that are closed out of a set; true if there were any.
fn without(set: &mut [u8], end: u32, is_closed: impl Fn(u32) -> bool) -> bool {
    let mut has_changed = false;
    // The words of both architectures have their least byte first.
    for (octet, first) in set.iter_mut().zip((0..end).step_by(8)) {
        for bit in 0..8 {
            if *octet & 1 << bit != 0 && first + bit < end && is_closed(first + bit) {
                *octet &= !(1 << bit);
                has_changed = true;
            }
        }
    }
    has_changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_numbers_below_the_range_are_taken_out_and_others_stay() {
        let mut set = vec![0b1001, 0b10, 0xff, 0xff];
        assert!(without(&mut set, 20, |number| [3, 9, 17, 19, 21].contains(&number)));
        assert_eq!(set, [0b1, 0, 0b1111_0101, 0xff]);
        assert!(!without(&mut set, 20, |number| [3, 9, 17, 19, 21].contains(&number)));
    }
}
