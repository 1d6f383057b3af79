//! Proportional Rate Reduction (RFC 6937): while a recovery lasts, the window shrinks to ssthresh in proportion to what
//! is delivered, in place of at once.

/// The window of one recovery, with the slow start reduction bound (PRR-SSRB).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProportionalWindow {
    /// The window to reach, as the congestion controller has set it.
    ssthresh: u64,
    /// RecoverFS: what was in flight at the start.
    flight_at_start: u64,
    /// Bytes delivered during the recovery (prr_delivered).
    delivered: u64,
    /// Bytes sent during the recovery (prr_out).
    sent: u64,
    bytes: u64,
}

impl ProportionalWindow {
    /// A recovery begins with so much in flight, without what limited transmit has sent. Nothing may leave before
    /// [`on_delivered`](Self::on_delivered).
    //= https://www.rfc-editor.org/rfc/rfc6937#section-3
    //# prr_delivered = 0         // Total bytes delivered during recovery
    //# prr_out = 0               // Total bytes sent during recovery
    pub const fn new(ssthresh: u64, flight_at_start: u64) -> Self {
        Self { ssthresh, flight_at_start, delivered: 0, sent: 0, bytes: 0 }
    }

    /// Number of bytes that may be in the network now.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// An acknowledgement says that `delivered` bytes more have arrived; `pipe` is left in the network by it.
    //= https://www.rfc-editor.org/rfc/rfc6937#section-3
    //# prr_delivered += DeliveredData
    pub fn on_delivered(&mut self, delivered: u64, pipe: u64, mss: u64) {
        self.delivered += delivered;
        let may_be_sent = if pipe > self.ssthresh {
            //= https://www.rfc-editor.org/rfc/rfc6937#section-3
            //# sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out
            let share = (self.delivered * self.ssthresh).div_ceil(self.flight_at_start.max(1));
            share.saturating_sub(self.sent)
        } else {
            //= https://www.rfc-editor.org/rfc/rfc6937#section-3
            //# limit = MAX(prr_delivered - prr_out, DeliveredData) + MSS
            let limit = self.delivered.saturating_sub(self.sent).max(delivered) + mss;
            //= https://www.rfc-editor.org/rfc/rfc6937#section-3
            //# sndcnt = MIN(ssthresh - pipe, limit)
            limit.min(self.ssthresh - pipe)
        };
        self.bytes = pipe + may_be_sent;
    }

    /// So many bytes were sent, for the first time or again.
    pub const fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Number of segments that each acknowledgement of one segment lets out, from so many in the network on.
    fn sent_by(window: &mut ProportionalWindow, pipe: &mut u64, acks: usize) -> Vec<u64> {
        let mut sent = Vec::new();
        for _ in 0..acks {
            *pipe -= 1_000;
            window.on_delivered(1_000, *pipe, 1_000);
            let count = (window.bytes() - *pipe) / 1_000;
            window.on_sent(count * 1_000);
            *pipe += count * 1_000;
            sent.push(count);
        }
        sent
    }

    #[test]
    fn one_loss_of_twenty_lets_every_second_acknowledgement_send_until_ssthresh_is_reached() {
        let mut window = ProportionalWindow::new(10_000, 20_000);
        let mut pipe = 19_000;
        let sent = sent_by(&mut window, &mut pipe, 16);
        assert_eq!(sent, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0]);
        assert_eq!(pipe, 10_000);
        assert_eq!(sent_by(&mut window, &mut pipe, 3), [1, 1, 1]);
    }

    /// RFC 6937, section 3.1, the last example: 15 of 20 are lost, two more were sent by limited transmit.
    #[test]
    fn fifteen_losses_of_twenty_let_each_acknowledgement_send_two() {
        let mut window = ProportionalWindow::new(10_000, 20_000);
        let mut pipe = 5_000;
        assert_eq!(sent_by(&mut window, &mut pipe, 3), [2, 2, 2]);
        assert_eq!(pipe, 8_000);
    }

    proptest! {
        /// RFC 6937, section 4: what is sent never exceeds what is delivered by more than slow start would allow, nor
        /// the window ssthresh once below it.
        #[test]
        fn the_window_converges_to_ssthresh_from_above_and_below(
            flight in 4_u64..200, percent in 10_u64..90, lost in 1_u64..200,
        ) {
            let lost = lost.min(flight - 2);
            let (flight, lost) = (flight * 1_000, lost * 1_000);
            let ssthresh = (flight * percent / 100).max(2_000);
            let mut window = ProportionalWindow::new(ssthresh, flight);
            let mut pipe = flight - lost;
            for _ in 0..400 {
                let before = pipe;
                let sent = sent_by(&mut window, &mut pipe, 1)[0];
                prop_assert!(sent <= 2);
                prop_assert!(before > ssthresh || pipe <= ssthresh);
            }
            prop_assert!(pipe.abs_diff(ssthresh) <= 1_000, "{pipe} {ssthresh}");
        }
    }
}
