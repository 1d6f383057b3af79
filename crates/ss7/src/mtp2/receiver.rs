//! Reception control (Q.703, sections 5.2, 5.3 and 6): which messages are new, and what the peer is to repeat.

use super::config::ErrorCorrection;
use super::unit::Header;

/// Place of the last abnormal number among the last two units: two of three in a row are a failure (Q.703, sections
/// 5.3.1, 5.3.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum TwoOfThree {
    /// In none of the last two units.
    #[default]
    Normal,
    /// In the last one.
    JustAbnormal,
    /// In the one before the last.
    AbnormalBefore,
}

/// Consequences of a unit's sequence number for the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Unit that is read.
    Read,
    /// Unit that is discarded: the number is abnormal, or was in the unit before. OpenSS7, which follows the figures of
    /// Q.703, trusts the second normal one only; its course of Q.781's case 9.9 asks for that.
    Discard,
    /// Unit with the second abnormal number of three.
    Failure,
}

impl TwoOfThree {
    pub(super) fn judge(&mut self, is_abnormal: bool) -> Verdict {
        let (next, verdict) = match (*self, is_abnormal) {
            (Self::Normal | Self::AbnormalBefore, false) => (Self::Normal, Verdict::Read),
            (Self::JustAbnormal, false) => (Self::AbnormalBefore, Verdict::Discard),
            (Self::Normal, true) => (Self::JustAbnormal, Verdict::Discard),
            (Self::JustAbnormal | Self::AbnormalBefore, true) => (Self::JustAbnormal, Verdict::Failure),
        };
        *self = next;
        verdict
    }
}

/// Outcomes of receiving a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reception {
    /// A message in its turn: for level 3.
    Accepted,
    /// A message that was accepted before.
    Repeated,
    /// A message before which another is missing, or whose numbers cannot be trusted.
    OutOfSequence,
    /// A fill-in unit, or one to be ignored.
    Nothing,
    /// An indicator bit that nothing explains, for the second time in three units.
    Abnormal,
}

/// One direction's receiving half.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    is_basic: bool,
    last_accepted: u8,
    bib: bool,
    is_repetition_awaited: bool,
    abnormal: TwoOfThree,
    negative_acknowledgements: u64,
}

impl Receiver {
    pub(super) fn new(correction: ErrorCorrection) -> Self {
        Self {
            is_basic: correction == ErrorCorrection::Basic,
            last_accepted: 127,
            bib: true,
            is_repetition_awaited: false,
            abnormal: TwoOfThree::default(),
            negative_acknowledgements: 0,
        }
    }

    /// A new half that goes on counting from an old one's.
    pub(super) fn with_history(mut self, negative_acknowledgements: u64) -> Self {
        self.negative_acknowledgements = negative_acknowledgements;
        self
    }

    /// The number of the last message accepted.
    pub(super) const fn bsn(&self) -> u8 {
        self.last_accepted
    }

    pub(super) const fn bib(&self) -> bool {
        self.bib
    }

    pub(super) const fn negative_acknowledgements(&self) -> u64 {
        self.negative_acknowledgements
    }

    /// Reads the forward numbers of a fill-in or message unit.
    pub(super) fn handle(&mut self, header: Header, is_message: bool) -> Reception {
        let discarded = if is_message { Reception::OutOfSequence } else { Reception::Nothing };
        if self.is_basic && header.fib != self.bib {
            // Sent before the peer read the negative acknowledgement.
            if self.is_repetition_awaited {
                return discarded;
            }
            return match self.abnormal.judge(true) {
                Verdict::Failure => Reception::Abnormal,
                Verdict::Discard | Verdict::Read => discarded,
            };
        }
        if self.abnormal.judge(false) == Verdict::Discard {
            return discarded;
        }
        self.is_repetition_awaited = false;
        let expected = self.last_accepted.wrapping_add(1) & 0x7f;
        match (is_message, header.fsn) {
            (true, fsn) if fsn == expected => {
                self.last_accepted = fsn;
                Reception::Accepted
            }
            (true, fsn) if fsn == self.last_accepted => Reception::Repeated,
            (false, fsn) if fsn == self.last_accepted => Reception::Nothing,
            (true, fsn) if !self.is_basic && is_before(fsn, expected) => Reception::Repeated,
            _ => {
                self.ask_for_repetition();
                discarded
            }
        }
    }

    fn ask_for_repetition(&mut self) {
        if self.is_basic {
            self.bib = !self.bib;
            self.is_repetition_awaited = true;
            self.negative_acknowledgements += 1;
        }
    }
}

/// Tells if a number of 7 bits lies in the half circle before another.
const fn is_before(number: u8, other: u8) -> bool {
    let distance = other.wrapping_sub(number) & 0x7f;
    distance != 0 && distance < 64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(fsn: u8, fib: bool) -> Header {
        Header { bsn: 127, bib: true, fsn, fib }
    }

    #[test]
    fn a_gap_inverts_the_indicator_bit_once_until_the_repetition_comes() {
        let mut receiver = Receiver::new(ErrorCorrection::Basic);
        assert_eq!(receiver.handle(header(0, true), true), Reception::Accepted);
        assert_eq!(receiver.handle(header(2, true), true), Reception::OutOfSequence);
        assert!(!receiver.bib());
        assert_eq!(receiver.handle(header(3, true), true), Reception::OutOfSequence);
        assert!(!receiver.bib());
        assert_eq!(receiver.handle(header(1, false), true), Reception::Accepted);
        assert_eq!(receiver.handle(header(2, false), true), Reception::Accepted);
        assert_eq!(receiver.negative_acknowledgements(), 1);
    }

    #[test]
    fn a_fill_in_unit_reveals_a_lost_message() {
        let mut receiver = Receiver::new(ErrorCorrection::Basic);
        assert_eq!(receiver.handle(header(0, true), false), Reception::Nothing);
        assert!(!receiver.bib());
    }

    #[test]
    fn a_repetition_that_is_damaged_itself_is_asked_for_again() {
        let mut receiver = Receiver::new(ErrorCorrection::Basic);
        assert_eq!(receiver.handle(header(1, true), true), Reception::OutOfSequence);
        assert_eq!(receiver.handle(header(1, false), true), Reception::OutOfSequence);
        assert!(receiver.bib());
        assert_eq!(receiver.negative_acknowledgements(), 2);
    }

    #[test]
    fn an_indicator_bit_that_nothing_explains_fails_the_second_time_in_three() {
        let mut receiver = Receiver::new(ErrorCorrection::Basic);
        assert_eq!(receiver.handle(header(127, false), false), Reception::Nothing);
        assert_eq!(receiver.handle(header(127, true), false), Reception::Nothing);
        assert_eq!(receiver.handle(header(127, false), false), Reception::Abnormal);
    }

    #[test]
    fn the_second_normal_unit_behind_an_abnormal_one_is_read() {
        let mut receiver = Receiver::new(ErrorCorrection::Basic);
        assert_eq!(receiver.handle(header(0, false), true), Reception::OutOfSequence);
        assert_eq!(receiver.handle(header(0, true), true), Reception::OutOfSequence);
        assert_eq!(receiver.handle(header(0, true), true), Reception::Accepted);
        assert_eq!(receiver.handle(header(1, false), true), Reception::OutOfSequence);
        assert_eq!(receiver.negative_acknowledgements(), 0);
    }

    #[test]
    fn cyclic_repetitions_are_told_from_gaps() {
        let mut receiver = Receiver::new(ErrorCorrection::PreventiveCyclic { messages: 127, octets: 10_000 });
        for fsn in 0..3 {
            assert_eq!(receiver.handle(header(fsn, true), true), Reception::Accepted);
        }
        assert_eq!(receiver.handle(header(0, true), true), Reception::Repeated);
        assert_eq!(receiver.handle(header(5, true), true), Reception::OutOfSequence);
        assert!(receiver.bib());
    }
}
