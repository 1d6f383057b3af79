//! Opening a connection: the three-way handshake from either side, and from both at once.

use std::net::SocketAddr;
use std::sync::Arc;

use slantpath_base::Instant;

use super::ecn::Agreement;
use super::state::{ConnectionState, Opening};
use super::{Connection, Control, Ending, TimestampState};
use crate::config::TcpConfig;
use crate::event::{Event, ResetCause};
use crate::options::Options;
use crate::segment::{Flags, Received, SequenceNumber};
use crate::tx::{Acknowledgement, Negotiated};

/// The size that every host takes (RFC 9293, section 3.7.1), for a peer that names none.
const DEFAULT_MSS: u16 = 536;
/// Bytes that timestamps take in each header (RFC 7323, appendix A).
pub(super) const TIMESTAMPS_LEN: u32 = 12;

impl Connection {
    /// A connection that calls `remote`.
    pub(crate) fn connect(
        now: Instant,
        config: Arc<TcpConfig>,
        local: SocketAddr,
        remote: SocketAddr,
        iss: SequenceNumber,
    ) -> Self {
        let mut connection = Self::new(config, local, remote, iss);
        connection.tx.start_timer(now);
        connection
    }

    /// A connection that a listener opens on a SYN.
    pub(crate) fn accept(
        now: Instant,
        config: Arc<TcpConfig>,
        local: SocketAddr,
        remote: SocketAddr,
        iss: SequenceNumber,
        syn: Received<'_>,
    ) -> Self {
        let mut connection = Self::new(config, local, remote, iss);
        connection.take_syn(syn);
        connection.ecn = Agreement::of_listener(connection.config.ecn, syn.flags);
        connection.state = ConnectionState::SynReceived { opening: Opening::Passive };
        connection.control = Control::SynAck;
        connection.tx.start_timer(now);
        connection
    }

    /// The options of an own SYN, or of the answer to one.
    pub(super) fn syn_options(&self, now: Instant) -> Options {
        // The answer offers only what the SYN offered.
        let is_answer = self.state != ConnectionState::SynSent;
        let scales = self.config.window_scaling && (!is_answer || self.offers.window_scaling);
        Options {
            mss_bytes: Some(u16::try_from(self.config.mss_bytes).unwrap_or(u16::MAX)),
            window_shift: scales.then(|| self.config.window_shift()),
            sack_permitted: self.config.sack && (!is_answer || self.offers.sack),
            timestamps: match self.timestamps {
                None if is_answer || !self.config.timestamps => None,
                timestamps => Some(super::output::stamp(now, timestamps)),
            },
            ..Options::default()
        }
    }

    /// Learns what a peer's SYN says.
    fn take_syn(&mut self, syn: Received<'_>) {
        self.irs = syn.sequence;
        let options = syn.options;
        self.offers.sack = options.sack_permitted;
        self.offers.mss_bytes = options.mss_bytes.unwrap_or(DEFAULT_MSS);
        self.offers.window_scaling = options.window_shift.is_some();
        if self.config.window_scaling
            && let Some(shift) = options.window_shift
        {
            //= https://www.rfc-editor.org/rfc/rfc7323#section-2.3
            //# If a Window Scale option is received with a shift.cnt
            //# value larger than 14, the TCP SHOULD log the error but MUST use 14
            //# instead of the specified value.
            self.peer_shift = shift.min(14);
            self.rx.scale(self.config.window_shift());
        }
        if self.config.timestamps
            && let Some(timestamps) = options.timestamps
        {
            self.timestamps = Some(TimestampState { recent: timestamps.value });
        }
    }

    /// A segment in SYN-SENT (RFC 9293, section 3.10.7.3).
    #[cold]
    pub(super) fn handle_in_syn_sent(&mut self, now: Instant, segment: Received<'_>) {
        let flags = segment.flags;
        let has_ack = flags.contains(Flags::ACK);
        if has_ack && segment.acknowledgment != self.iss.plus(1) {
            if !flags.contains(Flags::RST) {
                self.control = Control::Reset { sequence: segment.acknowledgment };
            }
            return;
        }
        if flags.contains(Flags::RST) {
            if has_ack {
                self.finish(Ending::Reset(ResetCause::Refused));
            }
            return;
        }
        if !flags.contains(Flags::SYN) {
            return;
        }
        self.take_syn(segment);
        self.ecn = self.ecn.after_syn_of_peer(flags);
        if has_ack {
            self.control = Control::Nothing;
            self.rx.acknowledge_now();
            self.establish(now, segment, segment.window.into());
        } else {
            self.state = ConnectionState::SynReceived { opening: Opening::Active };
            self.control = Control::SynAck;
        }
    }

    /// The own SYN is acknowledged: the connection stands. `window` is that of the segment which told, scaled
    /// unless it is a SYN.
    #[cold]
    pub(super) fn establish(&mut self, now: Instant, segment: Received<'_>, window: u64) {
        let taken_by_options = if self.timestamps.is_some() { TIMESTAMPS_LEN } else { 0 };
        let mss = self.config.mss_bytes.min(self.offers.mss_bytes.into());
        if self.syn_repeats == 0 {
            self.tx.rtt_mut().sample(now.saturating_since(self.syn_sent_at));
        }
        self.tx.establish(Negotiated {
            mss_bytes: mss.saturating_sub(taken_by_options).max(1),
            sack: self.config.sack && self.offers.sack,
            was_syn_lost: self.syn_repeats > 0,
        });
        self.state =
            if self.tx.is_closed() { ConnectionState::FinWait1 } else { ConnectionState::Established };
        self.events.push_back(Event::Connected);
        let sequence = self.peer_offset(segment.sequence);
        let (ack, sacked) = (0, &[][..]);
        self.tx.handle_ack(
            now,
            Acknowledgement {
                ack,
                sequence,
                window,
                sacked,
                is_pure: true,
                is_echo: false,
                echoed_rtt: None,
            },
        );
    }

    /// The SYN, or the answer to one, stays without an answer.
    pub(super) fn handle_handshake_timeout(&mut self, now: Instant) {
        self.syn_repeats += 1;
        if self.syn_repeats > self.config.syn_retransmission_limit {
            return self.finish(Ending::Reset(ResetCause::TimedOut));
        }
        let is_calling = self.state == ConnectionState::SynSent;
        self.ecn = self.ecn.after_syn_lost();
        self.control = if is_calling { Control::Syn } else { Control::SynAck };
        self.tx.rtt_mut().back_off();
        self.tx.start_timer(now);
    }
}
