//! Counts of an endpoint.

/// Packets that came in, and what became of them. Packets that are dropped in silence show here alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointStats {
    /// All that came in.
    pub packets_received: u64,
    /// Dropped: the checksum is wrong.
    pub bad_checksums: u64,
    /// Taken without a checksum, as had been announced (RFC 9653).
    pub zero_checksums: u64,
    /// Dropped: too short for a header, or without a chunk that can be read.
    pub malformed_packets: u64,
    /// Dropped: to another port, from port zero, or to or from no single host.
    pub misdirected_packets: u64,
    /// Dropped: the verification tag is not the association's.
    pub wrong_tags: u64,
    /// Belonged to no association; answered or dropped as RFC 9260, section 8.4, says.
    pub out_of_the_blue: u64,
    /// INITs that were answered by an INIT ACK.
    pub init_acks_sent: u64,
    /// Dropped: a COOKIE ECHO whose cookie is not ours, or says otherwise than its packet.
    pub forged_cookies: u64,
    /// COOKIE ECHOs, and packets in COOKIE-ECHOED, that were not authenticated as they should have been.
    pub unauthenticated_cookies: u64,
    /// Refused: a COOKIE ECHO that came too late.
    pub stale_cookies: u64,
    /// Dropped: setup chunks that no state expects, such as an INIT ACK out of COOKIE-WAIT.
    pub unexpected_chunks: u64,
}
