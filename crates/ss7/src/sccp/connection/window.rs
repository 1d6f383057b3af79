//! The numbers of class 3 (Q.714, section 3.5.2): P(S) and P(R) modulo 128, a window each way.

use crate::sccp::ResetCause;

/// Numbers have seven bits.
const MODULUS: u8 = 128;

/// Sent and received numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sccp) struct Window {
    /// How many messages the peer lets us have under way.
    send_credit: u8,
    /// How many we let the peer have.
    receive_credit: u8,
    /// P(S) of the next message to be sent.
    next: u8,
    /// The lowest number that the peer has not acknowledged.
    unacknowledged: u8,
    /// P(S) of the next message to be received, which is the P(R) that we send.
    expected: u8,
    /// The last P(R) that was sent.
    told: u8,
}

const fn distance(from: u8, to: u8) -> u8 {
    to.wrapping_sub(from) % MODULUS
}

impl Window {
    pub(in crate::sccp) const fn new(credit: u8) -> Self {
        Self { send_credit: credit, receive_credit: credit, next: 0, unacknowledged: 0, expected: 0, told: 0 }
    }

    /// The window that the peer grants; the numbers stay.
    pub(in crate::sccp) fn grant(&mut self, credit: u8) {
        self.send_credit = credit.min(MODULUS - 1);
    }

    /// The window that we grant.
    pub(in crate::sccp) const fn credit(self) -> u8 {
        self.receive_credit
    }

    pub(in crate::sccp) fn set_credit(&mut self, credit: u8) {
        self.receive_credit = credit.clamp(1, MODULUS - 1);
    }

    pub(in crate::sccp) const fn can_send(self) -> bool {
        distance(self.unacknowledged, self.next) < self.send_credit
    }

    /// P(S) and P(R) of a message that is sent now.
    pub(in crate::sccp) fn send(&mut self) -> (u8, u8) {
        let send = self.next;
        self.next = (self.next + 1) % MODULUS;
        (send, self.tell())
    }

    /// The P(R) that is sent now.
    pub(in crate::sccp) fn tell(&mut self) -> u8 {
        self.told = self.expected;
        self.expected
    }

    /// P(S) of the next message and P(R), for IT, which acknowledges nothing new.
    pub(in crate::sccp) const fn numbers(self) -> (u8, u8) {
        (self.next, self.told)
    }

    /// Whether the peer has used half of its window since it was last told.
    pub(in crate::sccp) const fn is_acknowledgement_due(self) -> bool {
        distance(self.told, self.expected) >= self.receive_credit.div_ceil(2)
    }

    /// A message came with P(S).
    pub(in crate::sccp) fn received(&mut self, send: u8) -> Result<(), ResetCause> {
        if send != self.expected {
            let is_outside = distance(self.told, send) >= self.receive_credit;
            let cause =
                if is_outside { ResetCause::OUT_OF_WINDOW } else { ResetCause::INCORRECT_SEND_NUMBER };
            return Err(cause);
        }
        if distance(self.told, send) >= self.receive_credit {
            return Err(ResetCause::OUT_OF_WINDOW);
        }
        self.expected = (self.expected + 1) % MODULUS;
        Ok(())
    }

    /// P(R) came: all before it has arrived.
    pub(in crate::sccp) fn acknowledged(&mut self, receive: u8) -> Result<(), ResetCause> {
        if distance(self.unacknowledged, receive) > distance(self.unacknowledged, self.next) {
            return Err(ResetCause::INCORRECT_RECEIVE_NUMBER);
        }
        self.unacknowledged = receive;
        Ok(())
    }

    pub(in crate::sccp) fn reset(&mut self) {
        (self.next, self.unacknowledged, self.expected, self.told) = (0, 0, 0, 0);
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
                        sender.acknowledged(receiver.tell()).unwrap();
                    }
                }
            }
        }
    }
}
