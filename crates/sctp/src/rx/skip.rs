//! FORWARD TSN and I-FORWARD-TSN arrive (RFC 3758, section 3.6): what is missing will never come.

use super::Receiver;
use super::reassembly::Heading;
use crate::chunk::{ForwardTsn, IForwardTsn};
use crate::event::Event;
use crate::path::PathId;
use crate::types::Tsn;

impl Receiver {
    /// Skips what the peer has given up; passes on what has waited for it.
    pub(crate) fn on_forward_tsn(
        &mut self,
        chunk: &ForwardTsn,
        from: Option<PathId>,
        mut deliver: impl FnMut(Event),
    ) {
        if !self.skip_to(chunk.new_cumulative_tsn, from, &mut deliver) {
            return;
        }
        //= https://www.rfc-editor.org/rfc/rfc3758#section-3.6
        //# the receiver MUST
        //# use the stream sequence information to examine all of the listed
        //# stream reordering queues, and immediately make available for delivery
        //# stream sequence numbers earlier than or equal to the stream sequence
        //# number listed inside the FORWARD TSN.
        for skipped in &chunk.skipped {
            let delivery = &mut self.delivery;
            let pass_on = |message| delivery.pass_on(Event::Received(message), &mut deliver);
            if self.streams.contains(skipped.stream) {
                self.streams.skip_to(skipped.stream, skipped.sequence, pass_on);
            }
        }
        self.deliver_part(None, deliver);
    }

    /// Variant of [`on_forward_tsn`](Self::on_forward_tsn) where messages are interleaved.
    pub(crate) fn on_i_forward_tsn(
        &mut self,
        chunk: &IForwardTsn,
        from: Option<PathId>,
        mut deliver: impl FnMut(Event),
    ) {
        if !self.skip_to(chunk.new_cumulative_tsn, from, &mut deliver) {
            return;
        }
        if let Some(interleaved) = &mut self.interleaved {
            for skipped in chunk.skipped.iter().filter(|skipped| self.streams.contains(skipped.stream)) {
                let delivery = &mut self.delivery;
                interleaved.skip(*skipped, |event| delivery.pass_on(event, &mut deliver));
            }
        }
        self.deliver_interleaved_parts(deliver);
    }

    /// Counts everything up to `tsn` as received. `false` if that is nothing new, or so far ahead that no chunk from
    /// there would be taken either.
    fn skip_to(&mut self, tsn: Tsn, from: Option<PathId>, mut deliver: impl FnMut(Event)) -> bool {
        self.data_path = from.or(self.data_path);
        //= https://www.rfc-editor.org/rfc/rfc3758#section-3.6
        //# the data receiver MUST treat this FORWARD TSN as out-of-
        //# date and MUST NOT update its Cumulative TSN.  The receiver SHOULD
        //# send a SACK to its peer (the sender of the FORWARD TSN) since such a
        //# duplicate may indicate the previous SACK was lost in the network.
        let Some(last) = self.tracker.skip_to(tsn) else {
            self.brought.duplicate_or_dropped = true;
            return false;
        };
        //= https://www.rfc-editor.org/rfc/rfc3758#section-3.6
        //# Any time a FORWARD TSN chunk arrives, for the purposes of sending a
        //# SACK, the receiver MUST follow the same rules as if a DATA chunk had
        //# been received
        self.brought.new = true;
        //= https://www.rfc-editor.org/rfc/rfc3758#section-3.6
        //# In the event that the receiver has invoked the partial delivery API,
        //# a notification SHOULD also be generated to inform the upper layer API
        //# that the message being partially delivered will NOT be completed.
        if let Some(Heading { stream, sequence, is_unordered, .. }) = self.reassembly.forget_up_to(last) {
            let aborted = Event::PartialDeliveryAborted { stream, sequence, is_unordered };
            self.delivery.pass_on(aborted, &mut deliver);
        }
        true
    }
}
