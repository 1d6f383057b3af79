//! Speed at which timed-out DATA is retransmitted.

/// Number of packets with timed-out DATA that go out at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetransmissionAfterTimeout {
    /// One, and what does not fit into it when a SACK arrives: the stack of Grinnemo, Brunstrom 2005, whose "first
    /// transmission round on the alternate path within a timeout period only comprises a single SCTP packet"
    /// (section 4, footnote 3). RFC 9260, section 6.3.3, calls it what happens normally.
    OnePacket,
    /// As many as the window of the path that they take has room for, and one even if it has none (RFC 9260, section
    /// 6.3.3).
    #[default]
    Window,
}
