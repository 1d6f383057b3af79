//! The segments that a connection sends.

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_wire::Packet;

use super::{Connection, Control, TimestampState};
use crate::event::Event;
use crate::options::{Options, SackBlock, SackBlocks, Timestamps, emit_blocks};
use crate::segment::{FixedHeader, Flags, Segment, SequenceNumber};
use crate::tx::{Range, Sent};

/// The clock of timestamps: milliseconds (RFC 7323, section 5.4, asks for 1 ms to 1 s).
#[expect(clippy::cast_possible_truncation, reason = "it wraps")]
pub(super) const fn timestamp_clock(now: Instant) -> u32 {
    now.since_start().as_millis() as u32
}

/// The timestamps of a segment sent now.
pub(super) fn stamp(now: Instant, state: Option<TimestampState>) -> Timestamps {
    Timestamps { value: timestamp_clock(now), echo: state.map_or(0, |state| state.recent) }
}

impl Connection {
    /// Writes the next packet to send over `packet`, if there is one.
    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> bool {
        if self.is_silent {
            return false;
        }
        if self.control != Control::Nothing {
            self.emit_control(now, packet);
        } else if self.state.transmits()
            && let Some(sent) = self.tx.next_segment(now)
        {
            self.emit_data(now, sent, packet);
            // Asked here, it need not be asked again whether anything follows: mostly nothing does.
            self.is_silent = !self.rx.is_ack_due() && self.tx.is_spent(now);
        } else if self.rx.is_ack_due() && self.state.is_synchronised() {
            let sequence = self.own_sequence(self.tx.nxt());
            self.prepare_without_data();
            if self.has_blocks_alone() {
                self.emit_blocks(sequence, packet);
            } else {
                self.emit(now, sequence, Flags::ACK, Bytes::new(), packet);
            }
            // There was no data to send.
            self.is_silent = true;
        } else {
            self.is_silent = true;
            return false;
        }
        true
    }

    fn emit_data(&mut self, now: Instant, sent: Sent, packet: &mut Packet) {
        let range = sent.range;
        let (data, has_fin) = self.tx.cut(range);
        let mut flags = Flags::ACK | self.prepare_data(sent, data.len());
        if has_fin {
            flags = flags | Flags::FIN;
        }
        if self.tx.is_end(range.end) {
            flags = flags | Flags::PSH;
        }
        if self.config.reports.transmitted && !data.is_empty() {
            self.events.push_back(Event::Transmitted {
                start_bytes: range.start,
                end_bytes: range.start + data.len() as u64,
                transmissions: sent.transmissions,
            });
        }
        self.emit(now, self.own_sequence(range.start), flags, data, packet);
    }

    /// A segment of a synchronised connection, which always acknowledges.
    #[inline]
    fn emit(
        &mut self,
        now: Instant,
        sequence: SequenceNumber,
        flags: Flags,
        data: Bytes,
        packet: &mut Packet,
    ) {
        if self.timestamps.is_none() && !self.rx.has_gap() && !self.rx.has_duplicate() {
            let header = self.acknowledging(sequence, flags);
            header.emit_into(data, &self.envelope, self.config.checksum, packet);
        } else {
            self.emit_with_options(now, sequence, flags, data, packet);
        }
    }

    /// Tells if an acknowledgement has no option but blocks of received data, of which it holds as many as there are:
    /// so it is with nearly all segments with options.
    fn has_blocks_alone(&self) -> bool {
        self.rx.has_gap()
            && self.config.sack
            && self.offers.sack
            && self.timestamps.is_none()
            && !self.rx.has_duplicate()
            && self.tx.mss() >= ALL_SACK_BLOCKS_LEN
    }

    /// Such an acknowledgement.
    #[inline(never)]
    fn emit_blocks(&mut self, sequence: SequenceNumber, packet: &mut Packet) {
        let header = self.acknowledging(sequence, Flags::ACK);
        let ranges = self.rx.sack_blocks().iter().map_while(|range| *range);
        let write = |place: &mut [u8]| emit_blocks(ranges.map(|range| self.sack_block(range)), place);
        header.emit_with(Bytes::new(), &self.envelope, self.config.checksum, packet, write);
    }

    #[inline(never)]
    fn emit_with_options(
        &mut self,
        now: Instant,
        sequence: SequenceNumber,
        flags: Flags,
        data: Bytes,
        packet: &mut Packet,
    ) {
        let reports = self.config.sack && self.offers.sack && (self.rx.has_gap() || self.rx.has_duplicate());
        let mut options = Options::default();
        if let Some(state) = self.timestamps {
            options.timestamps = Some(stamp(now, Some(state)));
        }
        let mut is_report_held_back = false;
        if reports {
            self.add_sack_blocks(&mut options, data.len());
            is_report_held_back = self.rx.is_ack_due() && options.sack.is_empty() && !data.is_empty();
        }
        let header = self.acknowledging(sequence, flags);
        if is_report_held_back {
            // What is due goes out by itself, behind the data.
            self.rx.acknowledge_now();
        }
        header.emit_with(data, &self.envelope, self.config.checksum, packet, |place| options.emit(place));
    }

    /// The header of a segment that acknowledges all that has come.
    #[inline]
    fn acknowledging(&mut self, sequence: SequenceNumber, flags: Flags) -> FixedHeader {
        self.last_ack_sent = self.rx.nxt();
        FixedHeader {
            source_port: self.ports.local,
            destination_port: self.ports.remote,
            sequence,
            acknowledgment: self.peer_sequence(self.rx.nxt()),
            flags: flags | self.rx.echo_flags(),
            window: self.rx.acknowledge(),
        }
    }

    /// Adds as many blocks as the header holds and `data_len` bytes of data leave room for. Segments are cut before
    /// it is known what there is to report, and keep their ends when they are retransmitted: the blocks give way.
    //= https://www.rfc-editor.org/rfc/rfc9293#section-3.7.1
    //# if there are any IP or TCP Options to be sent in a packet, then the
    //# sender must decrease the size of the TCP data accordingly.
    fn add_sack_blocks(&mut self, options: &mut Options, data_len: usize) {
        // Timestamps leave room for three blocks (RFC 2018, section 3).
        let in_header = if options.timestamps.is_some() { 3 } else { SackBlocks::MAX };
        let beside_data = self.tx.mss().saturating_sub(data_len as u64 + SACK_HEAD_LEN) / SACK_BLOCK_LEN;
        let room = usize::try_from(beside_data).unwrap_or(usize::MAX).min(in_header);
        if room == 0 {
            return;
        }
        let duplicate = self.rx.take_duplicate();
        let mut report =
            |range: Range| options.sack.len() < room && options.sack.push(self.sack_block(range));
        if let Some(duplicate) = duplicate {
            report(duplicate);
        }
        for block in self.rx.sack_blocks().iter().map_while(|block| *block) {
            if !report(block) {
                break;
            }
        }
    }

    /// SACK block for a range of the peer's stream that has come.
    fn sack_block(&self, range: Range) -> SackBlock {
        SackBlock { left: self.peer_sequence(range.start), right: self.peer_sequence(range.end) }
    }

    fn emit_control(&mut self, now: Instant, packet: &mut Packet) {
        let control = core::mem::replace(&mut self.control, Control::Nothing);
        self.prepare_without_data();
        let mut segment = Segment {
            source_port: self.ports.local,
            destination_port: self.ports.remote,
            sequence: self.iss,
            acknowledgment: SequenceNumber(0),
            flags: Flags::SYN,
            window: self.rx.syn_window(),
            options: Options::default(),
        };
        match control {
            Control::Nothing | Control::Syn => {
                segment.flags = Flags::SYN | self.ecn.syn_flags();
                segment.options = self.syn_options(now);
            }
            Control::SynAck => {
                segment.flags = Flags::SYN | Flags::ACK | self.ecn.answer_flags();
                segment.acknowledgment = self.irs.plus(1);
                segment.options = self.syn_options(now);
            }
            Control::Reset { sequence } => {
                segment.sequence = sequence;
                segment.flags = Flags::RST;
                segment.window = 0;
            }
        }
        if segment.flags.contains(Flags::SYN) && self.syn_repeats == 0 {
            self.syn_sent_at = now;
        }
        segment.emit_into(Bytes::new(), &self.envelope, self.config.checksum, packet);
    }
}

/// Length of the SACK option before its first block, padding included, in bytes.
const SACK_HEAD_LEN: u64 = 4;
/// Length of each SACK block, in bytes.
const SACK_BLOCK_LEN: u64 = 8;
/// Length of a SACK option with as many blocks as one header holds, in bytes.
const ALL_SACK_BLOCKS_LEN: u64 = SACK_HEAD_LEN + SACK_BLOCK_LEN * SackBlocks::MAX as u64;
