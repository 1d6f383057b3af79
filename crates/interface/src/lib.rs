//! Interface between an end system and that which moves its packets: a number for each interface, and the calls by
//! which packets and deadlines pass.
//!
//! A simulated network drives a [`EndSystem`] from event to event; a program with real sockets or a TUN device drives
//! the same object by the operating system's clock. Neither is known here, nor to the host.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_wire::Packet;

/// One of a host's interfaces, by the number that whoever moves its packets has given it. A simulated network numbers
/// the ends of its links; a program numbers what it has opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceId(u32);

impl InterfaceId {
    /// The interface with this number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Gives the interface's number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Gives the interface's number, as a place in a list of all interfaces.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Parts of the time that a packet has spent in a network, from the instant at which its sender gave it to its first
/// link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Journey {
    /// Instant at which its sender gave it to its first link.
    pub sent: Instant,
    /// Instant at which its last bit came to its receiver.
    pub arrived: Instant,
    /// Time to send its bits, on all links: of a packet that a link repeats, the last time.
    pub transmission: Duration,
    /// Time for its bits to come from one end of a link to the other, reordering by the link among it.
    pub propagation: Duration,
    /// Time of repetition by links: from the first time that a link sent it to the last, and the time for which the far
    /// end held it back for others.
    pub repetition: Duration,
}

impl Journey {
    /// The rest: how long it waited for transmitters, a link that is down and a contact to come among it.
    pub fn queueing(&self) -> Duration {
        (self.arrived - self.sent) - self.transmission - self.propagation - self.repetition
    }
}

/// Change of one of a host's own addresses, as far as that which moves its packets has learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressNews {
    /// The host has it, too, from now on, at this interface, and uses it.
    Added(IpAddr, InterfaceId),
    /// No packet can go by it until it is [`Back`](Self::Back): it, or its link, has gone.
    Down(IpAddr),
    /// Packets can go by it again: it, or its link, had gone.
    Back(IpAddr),
    /// The host has it no more, for good.
    Removed(IpAddr),
}

/// An end system, as that which moves its packets drives it: after [`handle_packet`](Self::handle_packet) or
/// [`handle_deadline`](Self::handle_deadline) it is drained by [`poll_transmit`](Self::poll_transmit) until
/// `None`, and then asked for its next [`deadline`](Self::deadline). At the start every host is drained once.
pub trait EndSystem {
    /// Takes a packet that came in, from its IP header on. What a bit error did to it is for the host to find
    /// out: nothing is checked yet, not even that the host has the destination address. The hop limit is as
    /// the last router left it. An ICMP message about a packet of the host's own that its first link could
    /// not carry comes the same way, on the interface that refused it. The host may take whatever it wants out of
    /// `packet`, which is a place for other packets afterwards.
    fn handle_packet(&mut self, now: Instant, interface: InterfaceId, packet: &mut Packet);

    /// Tells what the time consists of that the packet has spent on its way that is [handed
    /// over](Self::handle_packet) next. Only of a network that watches journeys; a host that makes nothing of it does
    /// nothing.
    fn note_journey(&mut self, _journey: Journey) {}

    /// The verification tag that packets to its peer bear, if the packet that was handed over last has proved to come
    /// from where it says: it bore the secret of an association. Whoever carries packets learns only from those, such
    /// as the UDP port that a peer has (RFC 6951), and for that association alone.
    fn verified_peer_tag(&self) -> Option<u32> {
        None
    }

    /// Tells what has become of an own address. Only of a network where that is known at once; a host that makes
    /// nothing of it finds out by time-outs.
    fn handle_address(&mut self, _now: Instant, _news: AddressNews) {}

    /// Has the host ask for routes from now on, wherever it has several addresses: who calls this answers each
    /// [`route_question`](Self::route_question).
    fn ask_for_routes(&mut self) {}

    /// Destinations of which the host has to know from which of its addresses the routes lead there. It is asked for
    /// whenever the host is polled, and answered first.
    fn route_question(&self) -> Option<&[IpAddr]> {
        None
    }

    /// Answers it: for each destination the own addresses from which packets may leave, the one that the routes prefer
    /// first; none where nothing is known.
    fn answer_routes(&mut self, _now: Instant, _sources: &[Vec<IpAddr>]) {}

    /// Does what is due by `now`. May come early: a host that has nothing to do does nothing.
    fn handle_deadline(&mut self, now: Instant);

    /// Writes the next packet to send over `packet`, from its IP header on, and returns the interface that it leaves
    /// by, which must be one of the host's own. Its destination is read off the header, and the host is never asked
    /// again.
    /// Without one to send, it may have written anything.
    fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId>;

    /// Gives the instant at which [`handle_deadline`](Self::handle_deadline) is wanted next.
    fn deadline(&self) -> Option<Instant>;
}
