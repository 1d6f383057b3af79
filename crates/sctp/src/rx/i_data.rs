//! I-DATA arrives (RFC 8260, section 2.2.3): TSNs and buffer as with DATA, reassembly of its own.

use slantpath_wire::ip::IpFields;

use super::{Arrival, DataFault, Receiver, to_keep};
use crate::chunk::{DataFlags, IData};
use crate::event::Event;
use crate::path::PathId;

impl Receiver {
    /// Takes in an I-DATA chunk of a packet of `packet_len` bytes, whose IP header says `ip`, and passes on what has
    /// become ready.
    pub(crate) fn on_i_data(
        &mut self,
        mut chunk: IData,
        packet_len: usize,
        from: Option<PathId>,
        ip: IpFields,
        mut deliver: impl FnMut(Event),
    ) -> Result<(), DataFault> {
        self.data_path = from.or(self.data_path);
        self.ip = ip;
        self.brought.immediate |= chunk.flags.is_immediate();
        if chunk.payload.is_empty() {
            return Err(DataFault::NoUserData(chunk.tsn));
        }
        let is_whole = chunk.flags.contain(DataFlags::WHOLE);
        match self.tracker.classify(chunk.tsn) {
            Arrival::Duplicate => {
                self.tracker.record_duplicate(chunk.tsn);
                self.oddities.duplicates += 1;
                self.brought.duplicate_or_dropped = true;
                return Ok(());
            }
            Arrival::OutOfReach => {
                self.brought.duplicate_or_dropped = true;
                return Ok(());
            }
            arrival @ (Arrival::Next | Arrival::Ahead) => {
                if !self.has_room(arrival, chunk.tsn, chunk.payload.len(), is_whole)? {
                    self.brought.duplicate_or_dropped = true;
                    return Ok(());
                }
                self.oddities.ahead += u64::from(arrival == Arrival::Ahead);
            }
        }
        self.tracker.record(chunk.tsn);
        self.count_received(chunk.payload.len());
        if !self.streams.contains(chunk.stream) {
            return Err(DataFault::InvalidStream(chunk.stream));
        }
        let key = (chunk.stream, chunk.flags.is_unordered(), chunk.place.message_id.0);
        let (sequence, is_unordered) = (chunk.place.message_id.stream_sequence(), key.1);
        let is_paused = self.is_paused();
        let Some(interleaved) = &mut self.interleaved else { return Ok(()) };
        if !is_whole || is_paused || !interleaved.is_next(&chunk) {
            chunk.payload = to_keep(chunk.payload, packet_len);
        }
        if self.traces_arrivals && interleaved.is_completed_by(&chunk) {
            deliver(Event::Arrived { stream: key.0, sequence, is_unordered });
        }
        let delivery = &mut self.delivery;
        let accepted = interleaved.accept(chunk, self.ip, |event| delivery.pass_on(event, &mut deliver));
        accepted.map_err(|_| INTERLEAVED)?;
        let least = self.partial_delivery_point;
        let is_long = self.interleaved.as_ref().is_some_and(|interleaved| interleaved.has_ready(key, least));
        if is_long && !self.is_paused() {
            self.pass_on_part(key, &mut deliver);
        }
        self.deliver_interleaved_parts(deliver);
        if !self.is_paused() && self.size_with(self.held()) > self.limit() + u64::from(u16::MAX) {
            return Err(DataFault::NoRoomForMessage);
        }
        Ok(())
    }

    /// Passes on parts of incomplete messages while they fill the buffer.
    pub(super) fn deliver_interleaved_parts(&mut self, mut deliver: impl FnMut(Event)) {
        while !self.is_paused()
            && self.is_silly(self.free())
            && let Some(key) = self.interleaved.as_ref().and_then(|interleaved| interleaved.first_ready())
        {
            self.pass_on_part(key, &mut deliver);
        }
    }

    fn pass_on_part(&mut self, key: (crate::types::StreamId, bool, u32), mut deliver: impl FnMut(Event)) {
        let ip = self.ip;
        if let Some(part) = self.interleaved.as_mut().and_then(|interleaved| interleaved.take_part(key, ip)) {
            deliver(Event::ReceivedPart(part));
            self.update_window();
        }
    }
}

const INTERLEAVED: DataFault = DataFault::Contradiction("fragments disagree about their message");
