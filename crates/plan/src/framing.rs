//! Octets of a signalling message on its way: line, SCTP's window, Ethernet.

/// Octets that level 2 of a signalling link adds to a message: flag, check bits, sequence numbers and length indicator.
const LEVEL_2: u32 = 6;
/// M2PA's headers, its sequence numbers and the priority octet (RFC 4165, sections 2.1 to 2.3.1).
const M2PA: u32 = 17;
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

/// What one message takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framing {
    /// Octets on the signalling link, flag and check bits included.
    pub line: f64,
    /// Octets in SCTP's window: the DATA chunk with its header and padding.
    pub window: f64,
    /// Octets on Ethernet, with its share of the packet's headers.
    pub ethernet: f64,
}

impl Framing {
    /// A message of so many octets on the line, of which so many go in one packet; no more than fit count.
    pub fn new(line_octets: u32, per_packet: f64) -> Self {
        let chunk = chunk(line_octets);
        let per_packet = per_packet.clamp(1.0, f64::from(most_per_packet(line_octets)));
        let ethernet = f64::from(chunk) + f64::from(ETHERNET + IP + SCTP) / per_packet;
        Self { line: f64::from(line_octets), window: f64::from(chunk), ethernet }
    }

    /// 1 + α of the paper: octets on Ethernet for each on the line.
    pub fn ethernet_per_line(&self) -> f64 {
        self.ethernet / self.line
    }

    /// k: octets on Ethernet for each in the window.
    pub fn ethernet_per_window(&self) -> f64 {
        self.ethernet / self.window
    }

    /// Octets in the window for each on the line.
    pub fn window_per_line(&self) -> f64 {
        self.window / self.line
    }
}

fn chunk(line_octets: u32) -> u32 {
    let payload = line_octets.saturating_sub(LEVEL_2) + M2PA;
    payload.next_multiple_of(4) + DATA
}

/// Messages that fit into a packet of 1,500 octets.
pub fn most_per_packet(line_octets: u32) -> u32 {
    ((MTU - IP - SCTP) / chunk(line_octets)).max(1)
}

/// How many messages share a packet where they come so often, and the first of a packet waits so long for others.
pub fn bundled(line_octets: u32, per_second: f64, delay_s: f64) -> f64 {
    (1.0 + per_second * delay_s).min(f64::from(most_per_packet(line_octets)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_120_octets_is_a_chunk_of_148_and_a_frame_of_198() {
        let alone = Framing::new(120, 1.0);
        assert_eq!((alone.window, alone.ethernet), (148.0, 198.0));
        let two = Framing::new(120, 2.0);
        assert_eq!(two.ethernet, 173.0);
        assert!((two.ethernet_per_line() - 173.0 / 120.0).abs() < 1e-12);
        assert!((two.ethernet_per_window() - 173.0 / 148.0).abs() < 1e-12);
        assert!((two.window_per_line() - 148.0 / 120.0).abs() < 1e-12);
    }

    #[test]
    fn no_more_share_a_packet_than_fit() {
        assert_eq!((most_per_packet(120), most_per_packet(270), most_per_packet(60)), (9, 4, 16));
        assert_eq!(Framing::new(270, 100.0), Framing::new(270, 4.0));
        assert_eq!(Framing::new(270, 0.0), Framing::new(270, 1.0));
        assert_eq!(bundled(120, 720.0, 0.005), 4.6);
        assert_eq!(bundled(120, 7_200.0, 0.005), 9.0);
    }
}
