//! Packets to ports that nobody has: who is told, and how often.

use slantpath_base::{Duration, Instant};

use super::SocketHost;
use crate::application::Application;

/// Treatment of packets to ports that nobody has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum UnboundPorts {
    /// Senders are told of SCTP alone: it is answered as one out of the blue.
    OfSctp,
    #[default]
    Silent,
    /// Senders are told, whatever the transport. From this instant on there is room for all reports of a burst.
    Told { room_from: Instant },
}

impl UnboundPorts {
    /// Tells if SCTP answers.
    pub(super) const fn answers_sctp(self) -> bool {
        matches!(self, Self::OfSctp | Self::Told { .. })
    }

    /// Tells if TCP answers.
    pub(super) const fn answers_tcp(self) -> bool {
        matches!(self, Self::Told { .. })
    }

    /// Tells if a message of ICMP may be sent, and counts it.
    //= https://www.rfc-editor.org/rfc/rfc4443#section-2.4
    //# (f) Finally, in order to limit the bandwidth and forwarding costs
    //# incurred by originating ICMPv6 error messages, an IPv6 node MUST
    //# limit the rate of ICMPv6 error messages it originates.
    pub(super) fn may_report(&mut self, now: Instant) -> bool {
        let Self::Told { room_from } = self else { return false };
        let next = (*room_from).max(now) + BETWEEN_REPORTS;
        let may = next <= now + BETWEEN_REPORTS.saturating_mul(BURST);
        if may {
            *room_from = next;
        }
        may
    }
}

/// Time between two messages of ICMP about ports, in the long run.
const BETWEEN_REPORTS: Duration = Duration::from_millis(1);
/// Number of such messages in a row.
const BURST: u64 = 50;

impl<A: Application> SocketHost<A> {
    /// Has SCTP answer packets to ports that nobody has as RFC 9260, section 8.4, says. Not for a host that shares its
    /// addresses with another's SCTP, of whose ports it knows nothing.
    pub const fn answer_out_of_the_blue(&mut self) {
        self.unbound_ports = UnboundPorts::OfSctp;
        self.stack.sctp.refuse_misdirected();
    }

    /// Has every transport tell senders that nobody has the port of their packets: SCTP as RFC 9260, section 8.4, says,
    /// TCP by a reset, and UDP by a message of ICMP.
    pub const fn refuse_strangers(&mut self) {
        self.unbound_ports = UnboundPorts::Told { room_from: Instant::START };
        self.stack.sctp.refuse_misdirected();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_ports_come_in_bursts_and_no_more_than_a_thousand_a_second() {
        let mut ports = UnboundPorts::Told { room_from: Instant::START };
        let sent = |ports: &mut UnboundPorts, now| (0..100).filter(|_| ports.may_report(now)).count();
        assert_eq!(sent(&mut ports, Instant::from_secs(1)), 50);
        assert_eq!(sent(&mut ports, Instant::from_millis(1_010)), 10);
        assert_eq!(sent(&mut ports, Instant::from_secs(2)), 50);
        for mut silent in [UnboundPorts::Silent, UnboundPorts::OfSctp] {
            assert!(!silent.may_report(Instant::from_secs(1)));
        }
    }
}
