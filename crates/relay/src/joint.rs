//! Joint of a connection of ours and a stream socket of the machine: what waits between them, and which ends are over.
//!
//! Both ends of a relay have the same kind of joint. Neither side outruns the other: bytes for the socket wait here up
//! to a limit, beyond which the connection is held and its window closes; bytes from the socket are read as long as the
//! connection has room.

use std::collections::VecDeque;

use bytes::{Buf as _, Bytes};
use slantpath_tcp as tcp;

/// Bytes that wait for a socket, above which the connection is held.
const WAITING_MAX: usize = 256 << 10;

/// State of the stream from the connection to the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outward {
    Open,
    /// The peer has ended it; what waits is still to be written.
    Ending,
    /// The socket has been told.
    Ended,
}

/// A connection of ours and a stream socket.
#[derive(Debug)]
pub(crate) struct Joint {
    /// Place of the host that has the connection.
    pub(crate) host: usize,
    pub(crate) connection: tcp::ConnectionId,
    /// Place of the relay that it belongs to.
    pub(crate) relay: usize,
    /// Bytes for the socket.
    waiting: VecDeque<Bytes>,
    waiting_bytes: usize,
    outward: Outward,
    /// True once the socket has ended its stream.
    is_read_to_end: bool,
    is_held: bool,
    /// False until the handshake is over: a connection that is closed before has carried nothing.
    is_up: bool,
}

impl Joint {
    pub(crate) const fn new(host: usize, connection: tcp::ConnectionId, relay: usize) -> Self {
        Self {
            host,
            connection,
            relay,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            outward: Outward::Open,
            is_read_to_end: false,
            is_held: false,
            is_up: false,
        }
    }

    /// Notes that the connection is up. True if it is to be closed now: the socket has ended its stream meanwhile.
    pub(crate) const fn rise(&mut self) -> bool {
        let is_first = !std::mem::replace(&mut self.is_up, true);
        is_first && self.is_read_to_end
    }

    /// Takes bytes for the socket. True if the connection is to be held.
    pub(crate) fn push(&mut self, bytes: Bytes) -> bool {
        self.waiting_bytes += bytes.len();
        self.waiting.push_back(bytes);
        let is_over = self.waiting_bytes > WAITING_MAX && !self.is_held;
        self.is_held |= is_over;
        is_over
    }

    /// Next bytes for the socket.
    pub(crate) fn front(&self) -> Option<&Bytes> {
        self.waiting.front()
    }

    /// Takes off what the socket has taken. True if the connection is to be held no more.
    pub(crate) fn advance(&mut self, mut len: usize) -> bool {
        while let Some(front) = self.waiting.front_mut() {
            let step = len.min(front.len());
            front.advance(step);
            self.waiting_bytes -= step;
            len -= step;
            if !front.is_empty() {
                break;
            }
            self.waiting.pop_front();
        }
        let is_released = self.is_held && self.waiting_bytes <= WAITING_MAX / 2;
        self.is_held &= !is_released;
        is_released
    }

    /// Notes that the peer will send no more.
    pub(crate) fn end_outward(&mut self) {
        if self.outward == Outward::Open {
            self.outward = Outward::Ending;
        }
    }

    /// Notes that the socket will send no more. True if the connection is to be closed now.
    pub(crate) const fn end_inward(&mut self) -> bool {
        let is_first = !std::mem::replace(&mut self.is_read_to_end, true);
        is_first && self.is_up
    }

    /// Tells if the socket may be read.
    pub(crate) const fn is_readable(&self) -> bool {
        !self.is_read_to_end
    }

    /// Tells, once, that the socket's own stream is to be ended: all that waited is written.
    pub(crate) fn take_end(&mut self) -> bool {
        let is_due = self.outward == Outward::Ending && self.waiting.is_empty();
        if is_due {
            self.outward = Outward::Ended;
        }
        is_due
    }

    /// Tells if both streams have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.is_read_to_end && self.outward == Outward::Ended
    }
}

#[cfg(test)]
mod tests {
    use slantpath_base::{Instant, Seed};
    use slantpath_tcp::TcpConfig;

    use super::*;

    fn joint() -> Joint {
        let [here, there] = ["10.0.0.1:0", "10.0.0.2:7"].map(|text| text.parse().unwrap());
        let mut stream = Seed::new(1, 0).stream("joint");
        let connection = tcp::Endpoint::default()
            .connect(Instant::START, here, there, TcpConfig::default(), &mut stream)
            .unwrap();
        Joint::new(0, connection, 0)
    }

    #[test]
    fn the_connection_is_held_above_the_limit_and_until_half_is_written() {
        let mut joint = joint();
        assert!(!joint.push(vec![0; WAITING_MAX].into()));
        assert!(joint.push(vec![1].into()));
        // It is held already.
        assert!(!joint.push(vec![2].into()));
        assert!(!joint.advance(WAITING_MAX / 2 + 1));
        assert_eq!(joint.front().map(Bytes::len), Some(WAITING_MAX / 2 - 1));
        assert!(joint.advance(1));
        assert!(!joint.advance(1));
        assert!(!joint.advance(WAITING_MAX));
        assert_eq!(joint.front(), None);
    }

    #[test]
    fn the_sockets_stream_ends_behind_what_waits_and_once() {
        let mut joint = joint();
        assert!(!joint.rise());
        joint.push(vec![1, 2].into());
        assert!(!joint.take_end());
        joint.end_outward();
        assert!(!joint.take_end(), "two bytes wait");
        joint.advance(2);
        assert!(joint.take_end() && !joint.take_end());
        assert!(!joint.is_over() && joint.is_readable(), "the other half is open");
        assert!(joint.end_inward() && !joint.end_inward());
        assert!(joint.is_over() && !joint.is_readable());
    }

    #[test]
    fn a_connection_that_is_not_up_is_closed_when_it_is() {
        let mut joint = joint();
        assert!(!joint.end_inward());
        assert!(joint.rise() && !joint.rise());
    }
}
