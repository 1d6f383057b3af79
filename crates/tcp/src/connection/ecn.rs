//! Explicit congestion notification (RFC 3168, section 6.1): what both ends agree on, which packets may be marked, and
//! marks on what arrives, which are echoed until the peer says that it has slowed down. What an echo does to the own
//! window is a matter of the sending half.

use slantpath_wire::ip::Ecn;

use super::Connection;
use crate::rx::Echo;
use crate::segment::Flags;
use crate::tx::Sent;

/// Agreement of both ends on the use of ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    /// Marks mean nothing.
    None,
    /// The own SYN offers to use ECN.
    Offered,
    /// The own SYN offered what one that repeated it did not. The peer may have heard of the first only: its marked
    /// data is answered, and none of the own may be marked.
    Repeated,
    /// Either end may send data that may be marked.
    InUse,
}

/// The bits that an ECN-setup SYN has, and a segment of an agreed connection may have.
const SETUP: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

impl Agreement {
    /// With which a connection calls.
    pub(super) const fn of_caller(is_wanted: bool) -> Self {
        if is_wanted { Self::Offered } else { Self::None }
    }

    /// With which a connection answers a SYN.
    pub(super) fn of_listener(is_wanted: bool, syn: Flags) -> Self {
        //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.1
        //# If a host has received an ECN-setup SYN packet, then it MAY send
        //# an ECN-setup SYN-ACK packet.  Otherwise, it MUST NOT send an
        //# ECN-setup SYN-ACK packet.
        if is_wanted && syn.contains(SETUP) { Self::InUse } else { Self::None }
    }

    /// Agreement that follows from the peer's SYN, or its answer to the own one.
    pub(super) fn after_syn_of_peer(self, flags: Flags) -> Self {
        let is_setup = if flags.contains(Flags::ACK) {
            //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.1
            //# we call a SYN-ACK packet with only the ECE
            //# flag set but the CWR flag not set an "ECN-setup SYN-ACK packet"
            flags.contains(Flags::ECE) && !flags.intersects(Flags::CWR)
        } else {
            flags.contains(SETUP)
        };
        match self {
            _ if !is_setup => Self::None,
            Self::Offered => Self::InUse,
            other => other,
        }
    }

    /// The own SYN stays without an answer, and is repeated: something on the way may drop SYNs with these bits.
    //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.1.1
    //# A host that receives no reply to an ECN-setup SYN within the normal
    //# SYN retransmission timeout interval MAY resend the SYN and any
    //# subsequent SYN retransmissions with CWR and ECE cleared.
    pub(super) fn after_syn_lost(self) -> Self {
        match self {
            Self::Offered => Self::Repeated,
            other => other,
        }
    }

    /// The bits of the own SYN.
    pub(super) fn syn_flags(self) -> Flags {
        if self == Self::Offered { SETUP } else { Flags::default() }
    }

    /// The bits of the answer to a SYN.
    pub(super) const fn answer_flags(self) -> Flags {
        if let Self::InUse = self { Flags::ECE } else { Flags(0) }
    }
}

impl Connection {
    /// Data of the window has come.
    #[inline]
    pub(super) fn note_mark(&mut self, flags: Flags) {
        if let Agreement::InUse | Agreement::Repeated = self.ecn {
            self.answer_mark(flags);
        }
    }

    fn answer_mark(&mut self, flags: Flags) {
        //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.3
        //# After the receipt of the CWR packet, acknowledgments for
        //# subsequent non-CE data packets do not have the ECN-Echo flag set.
        if flags.contains(Flags::CWR) {
            self.rx.set_echo(Echo::Silent);
        }
        //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.3
        //# When TCP receives a CE data packet at the destination end-system, the
        //# TCP data receiver sets the ECN-Echo flag in the TCP header of the
        //# subsequent ACK packet.
        if self.received_ip.is_some_and(|ip| ip.ecn == Ecn::CongestionExperienced) {
            self.rx.set_echo(Echo::UntilReduced);
        }
    }

    /// Tells if an acknowledgement says that own data was marked.
    pub(super) const fn is_echo(&self, flags: Flags) -> bool {
        flags.contains(Flags::ECE) && matches!(self.ecn, Agreement::InUse)
    }

    /// Says of the next packet whether it may be marked, and returns what else it is to say.
    #[inline]
    pub(super) fn prepare_data(&mut self, sent: Sent, data_len: usize) -> Flags {
        if let Agreement::InUse = self.ecn { self.prepare_markable(sent, data_len) } else { Flags(0) }
    }

    fn prepare_markable(&mut self, sent: Sent, data_len: usize) -> Flags {
        //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.5
        //# This document specifies ECN-capable TCP implementations MUST NOT set
        //# either ECT codepoint (ECT(0) or ECT(1)) in the IP header for
        //# retransmitted data packets
        //
        //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.6
        //# Therefore, the TCP data sender MUST NOT set either an ECT codepoint
        //# or the CWR bit on window probe packets.
        let may_be_marked = sent.transmissions == 1 && data_len > 0 && !self.tx.is_beyond_window(sent.range);
        if !may_be_marked {
            self.envelope.fields.ecn = Ecn::NotCapable;
            return Flags(0);
        }
        //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.2
        //# When only one ECT codepoint
        //# is needed by a sender for all packets sent on a TCP connection,
        //# ECT(0) SHOULD be used.
        self.envelope.fields.ecn = Ecn::Capable0;
        //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.2
        //# When the TCP data sender is ready to set the CWR bit after reducing
        //# the congestion window, it SHOULD set the CWR bit only on the first
        //# new data packet that it transmits.
        if self.tx.take_reduction() { Flags::CWR } else { Flags(0) }
    }

    /// Says of the next packet, which carries no data, that it may not be marked.
    //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.4
    //# For the current generation of TCP congestion control algorithms, pure
    //# acknowledgement packets (e.g., packets that do not contain any
    //# accompanying data) MUST be sent with the not-ECT codepoint.
    #[inline]
    pub(super) const fn prepare_without_data(&mut self) {
        if let Agreement::InUse = self.ecn {
            self.envelope.fields.ecn = Ecn::NotCapable;
        }
    }
}
