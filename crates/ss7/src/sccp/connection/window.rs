//! The numbers of class 3 (Q.714, section 3.5.2): P(S) and P(R) modulo 128, a window each way. SUA carries the same
//! numbers (RFC 3868, section 3.10.7).

use crate::sccp::ResetCause;

/// Numbers have seven bits.
const MODULUS: u8 = 128;

/// Sent and received numbers of one end of a connection of class 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Size of both windows when the connection began.
    agreed: u8,
    /// Number of messages that the peer lets us have in flight.
    send_credit: u8,
    /// Number of messages that we let the peer have in flight.
    receive_credit: u8,
    /// Number of messages that the peer may have sent beyond the number that it was told: more than the credit where
    /// that has shrunk after a larger one was told.
    allowed: u8,
    /// P(S) of the next message to be sent.
    next: u8,
    /// P(S) of the last message that was sent.
    last: u8,
    /// The lowest number that the peer has not acknowledged.
    unacknowledged: u8,
    /// P(S) of the next message to be received, which is the P(R) that we send.
    expected: u8,
    /// The last P(R) that was sent.
    acknowledged: u8,
}

const fn distance(from: u8, to: u8) -> u8 {
    to.wrapping_sub(from) % MODULUS
}

impl Window {
    /// Windows of that many messages, 1 to 127, both ways, before the peer has said what it wants.
    pub const fn new(credit: u8) -> Self {
        let credit = if credit == 0 { 1 } else { credit };
        let credit = if credit < MODULUS { credit } else { MODULUS - 1 };
        Self {
            agreed: credit,
            send_credit: credit,
            receive_credit: credit,
            allowed: credit,
            next: 0,
            last: 0,
            unacknowledged: 0,
            expected: 0,
            acknowledged: 0,
        }
    }

    /// The peer's proposal, or its answer to ours, before any message: both windows are that, or our own if it is
    /// smaller.
    pub fn agree(&mut self, proposed: u8) {
        *self = Self::new(proposed.min(self.agreed));
        self.grant(proposed.min(self.agreed));
    }

    /// The window that the peer grants, 0 to 127; the numbers stay.
    pub fn grant(&mut self, credit: u8) {
        self.send_credit = credit.min(MODULUS - 1);
    }

    /// The window that we grant.
    pub const fn credit(self) -> u8 {
        self.receive_credit
    }

    /// Grants another window, 0 to 127, from the next acknowledgement on; 0 holds the peer back. What the peer has
    /// sent within the window that it was told before is still taken.
    pub fn offer(&mut self, credit: u8) {
        self.receive_credit = credit.min(MODULUS - 1);
    }

    /// Tells if one more message may be in flight.
    pub const fn can_send(self) -> bool {
        distance(self.unacknowledged, self.next) < self.send_credit
    }

    /// P(S) and P(R) of a message that is sent now. It does not tell the credit.
    pub fn send(&mut self) -> (u8, u8) {
        self.last = self.next;
        self.next = (self.next + 1) % MODULUS;
        (self.last, self.acknowledge())
    }

    /// The P(R) that is sent now.
    pub fn acknowledge(&mut self) -> u8 {
        // The peer moves the window that it knows; how large it knows it to be only an acknowledgement says.
        let still_allowed = self.allowed.saturating_sub(distance(self.acknowledged, self.expected));
        self.allowed = still_allowed.max(self.receive_credit);
        self.acknowledged = self.expected;
        self.expected
    }

    /// P(S) and P(R) as they were sent last, for the inactivity test (Q.713, section 4.17; RFC 3868, section 3.3.11).
    pub const fn numbers(self) -> (u8, u8) {
        (self.last, self.acknowledged)
    }

    /// Tells if the peer has used half of its window since it was last told.
    pub const fn is_acknowledgement_due(self) -> bool {
        let half = self.receive_credit.div_ceil(2);
        distance(self.acknowledged, self.expected) >= if half == 0 { 1 } else { half }
    }

    /// A message came with P(S).
    ///
    /// # Errors
    /// If it is not the next: the cause of the reset that this asks for.
    pub fn received(&mut self, send: u8) -> Result<(), ResetCause> {
        if distance(self.acknowledged, send) >= self.allowed {
            return Err(ResetCause::OUT_OF_WINDOW);
        }
        if send != self.expected {
            return Err(ResetCause::INCORRECT_SEND_NUMBER);
        }
        self.expected = (self.expected + 1) % MODULUS;
        Ok(())
    }

    /// P(R) came: all before it has arrived.
    ///
    /// # Errors
    /// If it acknowledges what was not sent: the cause of the reset that this asks for.
    pub fn acknowledged(&mut self, receive: u8) -> Result<(), ResetCause> {
        if distance(self.unacknowledged, receive) > distance(self.unacknowledged, self.next) {
            return Err(ResetCause::INCORRECT_RECEIVE_NUMBER);
        }
        self.unacknowledged = receive;
        Ok(())
    }

    /// P(S) of the peer's inactivity test, which is that of its last message, or of the next where a peer reads the
    /// standard so: whether all that it has sent has come.
    ///
    /// # Errors
    /// If something is missing: the cause of the reset that this asks for.
    pub fn tested(self, send: u8) -> Result<(), ResetCause> {
        if distance(send, self.expected) > 1 {
            return Err(ResetCause::INCORRECT_SEND_NUMBER);
        }
        Ok(())
    }

    /// The numbers begin at 0 again, and the windows are what they were when the connection began.
    pub fn reset(&mut self) {
        *self = Self::new(self.agreed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_window_closes_and_opens() {
        let mut window = Window::new(2);
        assert_eq!((window.send(), window.send()), ((0, 0), (1, 0)));
        assert!(!window.can_send());
        assert_eq!(window.acknowledged(1), Ok(()));
        assert!(window.can_send());
        assert_eq!(window.acknowledged(3), Err(ResetCause::INCORRECT_RECEIVE_NUMBER));
    }

    #[test]
    fn numbers_out_of_order_and_out_of_the_window_are_told_apart() {
        let mut window = Window::new(4);
        assert_eq!(window.received(1), Err(ResetCause::INCORRECT_SEND_NUMBER));
        assert_eq!(window.received(4), Err(ResetCause::OUT_OF_WINDOW));
        assert_eq!(window.received(0), Ok(()));
        assert!(!window.is_acknowledgement_due());
        assert_eq!(window.received(1), Ok(()));
        assert!(window.is_acknowledgement_due());
    }

    #[test]
    fn what_was_sent_within_the_old_window_is_taken_after_it_has_shrunk() {
        let mut window = Window::new(4);
        window.offer(1);
        assert_eq!((window.acknowledge(), window.credit()), (0, 1));
        for number in 0..4 {
            assert_eq!(window.received(number), Ok(()));
        }
        assert_eq!(window.received(4), Err(ResetCause::OUT_OF_WINDOW));
        window.acknowledge();
        assert_eq!(window.received(4), Ok(()));
        assert_eq!(window.received(5), Err(ResetCause::OUT_OF_WINDOW));
    }

    #[test]
    fn a_window_of_nothing_holds_the_peer_back_and_is_acknowledged_once() {
        let (mut sender, mut receiver) = (Window::new(2), Window::new(2));
        receiver.offer(0);
        sender.grant(receiver.credit());
        assert!(!sender.can_send() && !receiver.is_acknowledgement_due());
        sender.grant(2);
        assert!(sender.can_send());
    }

    #[test]
    fn both_windows_are_the_smaller_proposal_and_so_again_after_a_reset() {
        let mut window = Window::new(8);
        window.agree(3);
        window.grant(100);
        window.offer(100);
        window.send();
        window.reset();
        let mut expected = Window::new(3);
        assert_eq!(window, expected);
        expected.agree(20);
        assert_eq!(window, expected);
    }

    #[test]
    fn the_inactivity_test_has_the_numbers_that_were_sent_last() {
        let mut window = Window::new(8);
        assert_eq!(window.numbers(), (0, 0));
        assert_eq!(window.received(0), Ok(()));
        assert_eq!((window.send(), window.send()), ((0, 1), (1, 1)));
        assert_eq!(window.received(1), Ok(()));
        assert_eq!(window.numbers(), (1, 1));
        assert_eq!((window.tested(1), window.tested(2)), (Ok(()), Ok(())));
        assert_eq!(window.tested(3), Err(ResetCause::INCORRECT_SEND_NUMBER));
    }

    proptest! {
        #[test]
        fn two_ends_never_stall_and_never_disagree(credit in 1_u8..128, messages in 1_usize..1_000) {
            let (mut sender, mut receiver) = (Window::new(credit), Window::new(credit));
            let mut sent = 0;
            while sent < messages {
                prop_assert!(sender.can_send());
                while sender.can_send() && sent < messages {
                    let (number, _) = sender.send();
                    sent += 1;
                    receiver.received(number).unwrap();
                    if receiver.is_acknowledgement_due() {
                        sender.acknowledged(receiver.acknowledge()).unwrap();
                    }
                }
            }
        }
    }
}
