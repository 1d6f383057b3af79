//! Octets of a signalling message on its way: line, SCTP's window, Ethernet.

use crate::bursts::{longest_wait, ordinary_wait, poisson_most};
use crate::question::MessageCarrier;

/// Octets that level 2 of a signalling link adds to a message: flag, check bits, sequence numbers and length indicator.
const LEVEL_2: u32 = 6;
/// M2PA's headers, its sequence numbers and the priority octet (RFC 4165, sections 2.1 to 2.3.1).
const M2PA: u32 = 17;
/// The service information octet and the routing label of ITU-T, which M3UA's protocol data replaces.
const SERVICE_AND_LABEL: u32 = 5;
/// M3UA's common header, routing context, and the protocol data parameter in front of a message (RFC 4666, sections
/// 1.3.1 and 3.3.1).
const M3UA: u32 = 8 + 8 + 4 + 12;
/// The header of a DATA chunk (RFC 9260, section 3.3.1).
const DATA: u32 = 16;
/// SCTP's common header.
const SCTP: u32 = 12;
/// The header of IPv4 without options.
const IP: u32 = 20;
/// Addresses, type and check sequence of an Ethernet frame.
const ETHERNET: u32 = 18;
/// The longest IP packet.
const MTU: u32 = 1_500;

/// A message of M2PA that acknowledges and carries nothing: its DATA chunk.
const ACKNOWLEDGEMENT: u32 = 16 + DATA;
/// A SACK chunk without gaps.
const SACK: u32 = 16;

/// The header of a DATA chunk, as a count of its own.
pub(crate) const DATA_HEADER: f64 = DATA as f64;
/// A message of M2PA that acknowledges and carries nothing, as a count of its own.
pub(crate) const ACKNOWLEDGEMENT_CHUNK: f64 = ACKNOWLEDGEMENT as f64;
/// Headers of a packet.
const PLAIN_HEADERS: f64 = (ETHERNET + IP + SCTP) as f64;

/// Octets of a carrier's message in SCTP, and of what acknowledges it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framed {
    /// Octets of the message, as it is counted.
    line: u32,
    /// Octets of its DATA chunk.
    chunk: u32,
    /// Octets of the DATA chunk with which the carrier acknowledges messages; none if it does not.
    acknowledgement: u32,
    /// The share of SACKs that come in packets of their own.
    lone_sacks: f64,
}

impl Framed {
    /// Octets of a message of so many.
    pub fn of(carrier: MessageCarrier, octets: u32) -> Self {
        let (payload, acknowledgement, lone_sacks) = match carrier {
            MessageCarrier::M2pa => (octets.saturating_sub(LEVEL_2) + M2PA, ACKNOWLEDGEMENT, 0.5),
            MessageCarrier::M3ua => {
                (octets.saturating_sub(LEVEL_2 + SERVICE_AND_LABEL).next_multiple_of(4) + M3UA, 0, 0.5)
            }
            // What goes the other way does so over associations of its own.
            MessageCarrier::Sctp => (octets, 0, 1.0),
        };
        Self { line: octets, chunk: payload.next_multiple_of(4) + DATA, acknowledgement, lone_sacks }
    }

    /// Headers of a packet with its part of the SACKs, at least: as many as can go with what answers a packet.
    pub(crate) fn headers_least(&self) -> f64 {
        if self.lone_sacks < 1.0 { PLAIN_HEADERS + f64::from(SACK) / 2.0 } else { self.headers() }
    }

    /// Headers of a packet with its part of the SACKs.
    pub(crate) fn headers(&self) -> f64 {
        PLAIN_HEADERS + f64::from(SACK) / 2.0 + self.lone_sacks * PLAIN_HEADERS / 2.0
    }
}

/// Octets and packets of one message, with its part of what answers the messages of the other direction, which has the
/// same load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framing {
    /// Octets on the signalling link, flag and check bits included.
    pub line: f64,
    /// Octets in SCTP's window: the DATA chunk with its header and padding, and acknowledgements of M2PA.
    pub window: f64,
    /// Octets on Ethernet, with its share of the packets' headers and of SACKs.
    pub ethernet: f64,
    /// Octets of its own DATA chunk.
    pub chunk: f64,
    /// Acknowledgements of M2PA that go by themselves, for each message: all where a message goes as soon as it has
    /// come; where it waits for others, those for which none comes in time.
    pub acknowledgements: f64,
    /// Packets with DATA chunks for each message.
    pub packets: f64,
}

impl Framing {
    /// A message, where so many come a second to an association in each direction, and
    /// the first of a packet waits so long for others; no more share one than fit.
    ///
    /// A receiver sends a SACK for every second packet (RFC 9260, section 6.2). Half of them come with what answers the
    /// packet, and half by themselves.
    pub fn new(framed: Framed, per_second: f64, delay_s: f64) -> Self {
        let acknowledgements =
            if framed.acknowledgement > 0 { libm::exp(-per_second * delay_s) } else { 0.0 };
        let chunks = 1.0 + acknowledgements;
        let window = f64::from(framed.chunk) + acknowledgements * f64::from(framed.acknowledgement);
        let fit = (f64::from(MTU - IP - SCTP) / (window / chunks)).floor().max(1.0);
        Self::of(framed, acknowledgements, chunks / (1.0 + per_second * chunks * delay_s).min(fit))
    }

    /// Gives the framing where messages wait for the window: as many share a packet as fit, and every acknowledgement
    /// of M2PA finds a message to go with. No more of them cross a band than so framed.
    pub fn full(framed: Framed) -> Self {
        let own = f64::from(framed.chunk);
        let packets = 1.0 / (f64::from(MTU - IP - SCTP) / own).floor().max(1.0);
        Self::of(framed, 0.0, packets)
    }

    /// Framing of a message that shares one acknowledgement of M2PA with all that its packet brings.
    pub fn shared(framed: Framed) -> Self {
        if framed.acknowledgement == 0 {
            return Self::full(framed);
        }
        let (own, answer) = (f64::from(framed.chunk), f64::from(framed.acknowledgement));
        let fit = ((f64::from(MTU - IP - SCTP) - answer) / own).floor().max(1.0);
        Self::of(framed, 1.0 / fit, 1.0 / fit)
    }

    /// A message that takes `1 + overhead` octets of Ethernet for each on the line, as somebody has measured. The
    /// window counts octets of the line, as in the equations of the paper.
    pub fn measured(framed: Framed, overhead: f64) -> Self {
        let line = f64::from(framed.line);
        let ethernet = line * (1.0 + overhead);
        let packets = 1.0 / (f64::from(MTU - IP - SCTP) / f64::from(framed.chunk)).floor().max(1.0);
        Self { line, window: line, ethernet, chunk: line, acknowledgements: 0.0, packets }
    }

    /// Gives this framing, or the other one where that takes less of Ethernet.
    #[must_use]
    pub fn no_more_than(self, other: &Self) -> Self {
        if self.ethernet < other.ethernet { self } else { *other }
    }

    fn of(framed: Framed, acknowledgements: f64, packets: f64) -> Self {
        let chunk = f64::from(framed.chunk);
        let window = chunk + acknowledgements * f64::from(framed.acknowledgement);
        let ethernet = window + packets * framed.headers();
        Self { line: f64::from(framed.line), window, ethernet, chunk, acknowledgements, packets }
    }

    /// Octets in the window of all that is under way where messages that come at random are so many on average: more
    /// once in a million looks only.
    pub fn outstanding_most(&self, messages: f64) -> f64 {
        let acknowledgements = poisson_most(messages * self.acknowledgements);
        self.chunk * poisson_most(messages) + f64::from(ACKNOWLEDGEMENT) * acknowledgements
    }

    /// Octets of a packet on Ethernet, with its part of SACKs.
    pub fn per_packet(&self) -> f64 {
        self.ethernet / self.packets
    }

    /// 1 + α of the paper: octets on Ethernet for each on the line.
    pub fn ethernet_per_line(&self) -> f64 {
        self.ethernet / self.line
    }

    /// k: octets on Ethernet for each in the window.
    pub fn ethernet_per_window(&self) -> f64 {
        self.ethernet / self.window
    }

    /// From a message that is handed to SCTP until its acknowledgement is back, in seconds, with nothing waiting:
    /// the round trip, the packet's time on a band of so many bits a second, and the wait for a second packet, which
    /// has the SACK sent, or for the timer of the delayed one (RFC 9260, section 6.2). So many messages come a second.
    pub fn acknowledged_after(
        &self,
        round_trip_s: f64,
        sack_delay_s: f64,
        per_second: f64,
        bit_per_s: f64,
    ) -> f64 {
        let second = 1.0 / (per_second * self.packets).max(f64::MIN_POSITIVE);
        round_trip_s + self.sent_in(bit_per_s) + sack_delay_s.min(second)
    }

    /// Gives the time that a packet takes on a band of so many bits a second, in seconds.
    pub fn sent_in(&self, bit_per_s: f64) -> f64 {
        8.0 * self.per_packet() / bit_per_s.max(1.0)
    }

    /// Gives the wait of packets for each other that is exceeded once in a million times, in seconds, where so many
    /// messages a second cross a band of so many bits a second. Packets that wait for several messages come less at
    /// random than these: the smaller of both counts.
    pub fn longest_queueing(&self, per_second: f64, bit_per_s: f64) -> f64 {
        let octets = self.per_packet().min(self.ethernet);
        longest_wait(per_second * self.ethernet / octets, 8.0 * octets / bit_per_s.max(1.0))
    }

    /// Longest wait of a packet for others in so many seconds, with hardly a doubt.
    pub fn ordinary_queueing(&self, per_second: f64, bit_per_s: f64, within_s: f64) -> f64 {
        let octets = self.per_packet().min(self.ethernet);
        ordinary_wait(per_second * self.ethernet / octets, 8.0 * octets / bit_per_s.max(1.0), within_s)
    }

    /// Octets in the window for each on the line.
    pub fn window_per_line(&self) -> f64 {
        self.window / self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn m2pa(octets: u32) -> Framed {
        Framed::of(MessageCarrier::M2pa, octets)
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9 * expected, "{value}, not {expected}");
    }

    #[test]
    fn a_message_that_goes_at_once_is_answered_at_once() {
        // A chunk of 148 and a frame of 198, an acknowledgement of 32 and 82, and a SACK for both, which goes with the
        // acknowledgement or in a frame of 66.
        let alone = Framing::new(m2pa(120), 200.0, 0.0);
        assert_eq!((alone.chunk, alone.window, alone.packets), (148.0, 180.0, 2.0));
        near(alone.ethernet, 198.0 + 82.0 + 41.0);
        near(alone.ethernet_per_line(), 321.0 / 120.0);
        near(alone.ethernet_per_window(), 321.0 / 180.0);
        near(alone.window_per_line(), 1.5);
        near(alone.per_packet(), 160.5);
    }

    #[test]
    fn messages_that_wait_for_others_share_headers_and_carry_acknowledgements() {
        // Four come in 5 ms, so that few acknowledgements find no message to go with.
        let framing = Framing::new(m2pa(120), 720.0, 0.005);
        let alone = libm::exp(-3.6);
        near(framing.acknowledgements, alone);
        near(framing.packets, (1.0 + alone) / (1.0 + 3.6 * (1.0 + alone)));
        near(framing.ethernet, 148.0 + 32.0 * alone + framing.packets * (50.0 + 20.5));
        // The trial had 1.48 at this load.
        assert!((1.3..1.5).contains(&framing.ethernet_per_line()), "{}", framing.ethernet_per_line());
    }

    #[test]
    fn what_waits_for_each_other_is_packets_or_messages() {
        // 321 octets in two packets: each takes 1.284 ms of a Mbit/s.
        let alone = Framing::new(m2pa(120), 200.0, 0.0);
        near(alone.sent_in(1e6), 0.001_284);
        near(alone.longest_queueing(200.0, 1e6), longest_wait(400.0, 0.001_284));
        // Nine in a packet wait as single ones do.
        let full = Framing::full(m2pa(120));
        near(full.longest_queueing(500.0, 1e6), longest_wait(500.0, 8e-6 * full.ethernet));
        assert_eq!(full.longest_queueing(1e3, 1e6), f64::INFINITY);
    }

    #[test]
    fn messages_that_wait_for_the_window_fill_packets() {
        let full = Framing::full(m2pa(120));
        assert_eq!((full.chunk, full.window, full.packets), (148.0, 148.0, 1.0 / 9.0));
        near(full.ethernet, 148.0 + (50.0 + 20.5) / 9.0);
        // However long the first of a packet waits for others, it comes to no less.
        assert!(Framing::new(m2pa(120), 1e4, 1.0).ethernet >= full.ethernet);
    }

    #[test]
    fn no_more_share_a_packet_than_fit() {
        for (octets, fit) in [(120, 9.0), (270, 4.0), (60, 16.0)] {
            near(Framing::new(m2pa(octets), 1e6, 1.0).packets, 1.0 / fit);
        }
    }

    #[test]
    fn an_acknowledgement_comes_after_the_second_packet_or_the_timer() {
        let framing = Framing::new(m2pa(120), 200.0, 0.0);
        let sent_in = 8.0 * 160.5 / 1e6;
        near(framing.acknowledged_after(0.5, 0.1, 200.0, 1e6), 0.5 + sent_in + 1.0 / 400.0);
        near(framing.acknowledged_after(0.5, 0.1, 0.0, 1e6), 0.5 + sent_in + 0.1);
    }

    #[test]
    fn what_is_under_way_has_bursts_of_both_kinds() {
        let framing = Framing::new(m2pa(120), 200.0, 0.0);
        near(framing.outstanding_most(100.0), 180.0 * poisson_most(100.0));
        let bundled = Framing::new(m2pa(120), 720.0, 0.005);
        assert!(bundled.outstanding_most(100.0) < 1.1 * 148.0 * poisson_most(100.0));
    }
}
