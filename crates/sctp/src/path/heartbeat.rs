//! HEARTBEATs to one address: when the next is due, which answer is awaited (RFC 9260, sections 5.4 and 8.3).

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Stream};
use slantpath_wire::Reader;

use super::PathId;

/// State of the probing of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heartbeat {
    /// None is sent and none awaited.
    Off,
    /// The address has answered, or has not been probed yet; it is looked at again at `at`, and probed if
    /// nothing that measures a round trip has been sent `since`.
    Scheduled { at: Instant, since: Instant },
    /// The user, or path verification, wants one at `at` whatever else is sent.
    Requested { at: Instant },
    /// Sent; an answer by `deadline` is in time.
    Awaited { sent: SentHeartbeat, deadline: Instant },
    /// Not answered in time, which has been counted, or lost with our own link, as it may be; the next goes out at
    /// `at`. A late answer still counts.
    Overdue { sent: SentHeartbeat, at: Instant },
}

/// A HEARTBEAT on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentHeartbeat {
    nonce: u64,
    at: Instant,
}

impl Heartbeat {
    /// Instant at which something is to be done about it.
    pub(crate) const fn deadline(self) -> Option<Instant> {
        match self {
            Self::Off => None,
            Self::Scheduled { at, .. } | Self::Requested { at } | Self::Overdue { at, .. } => Some(at),
            Self::Awaited { deadline, .. } => Some(deadline),
        }
    }

    /// A HEARTBEAT goes out at `now`, to be answered within `rto`.
    pub(crate) fn send(&mut self, now: Instant, path: PathId, rto: Duration, random: &mut Stream) -> Bytes {
        let sent = SentHeartbeat { nonce: random.next_u64(), at: now };
        *self = Self::Awaited { sent, deadline: now + rto };
        HeartbeatInfo { path, nonce: sent.nonce }.to_bytes()
    }

    /// Has the next one go out now, or `gap` after the last one, if that is later; where HEARTBEATs are off, none does.
    /// One that is awaited counts nothing if no answer comes: it may have been lost with our own link. An answer to it
    /// counts.
    pub(crate) fn hasten(&mut self, now: Instant, gap: Duration) {
        let behind = |last: Instant| now.max(last + gap);
        *self = match *self {
            Self::Scheduled { at, since } => Self::Requested { at: at.min(behind(since)) },
            Self::Awaited { sent, .. } => Self::Overdue { sent, at: behind(sent.at) },
            Self::Overdue { sent, at } => Self::Overdue { sent, at: at.min(behind(sent.at)) },
            // Unconfirmed addresses wait for each other, by HB.Max.Burst.
            Self::Off | Self::Requested { .. } => return,
        };
    }

    /// The nonce of the one that is awaited.
    pub(crate) const fn awaited(self) -> Option<u64> {
        match self {
            Self::Awaited { sent, .. } => Some(sent.nonce),
            Self::Off | Self::Scheduled { .. } | Self::Requested { .. } | Self::Overdue { .. } => None,
        }
    }

    /// Takes the answer with `nonce`: the round trip, or `None` if nobody waits for it.
    pub(crate) fn answered(&mut self, now: Instant, nonce: u64) -> Option<Duration> {
        match *self {
            Self::Awaited { sent, .. } | Self::Overdue { sent, .. } if sent.nonce == nonce => {
                // The caller schedules the next; until then nothing is awaited.
                *self = Self::Off;
                Some(now.saturating_since(sent.at))
            }
            Self::Off
            | Self::Scheduled { .. }
            | Self::Requested { .. }
            | Self::Awaited { .. }
            | Self::Overdue { .. } => None,
        }
    }
}

/// The time from one HEARTBEAT to an idle address to the next.
pub(crate) fn period(interval: Duration, rto: Duration, random: &mut Stream) -> Duration {
    //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
    //# it is
    //# RECOMMENDED that a HEARTBEAT chunk is sent once per RTO of that
    //# destination address plus the protocol parameter 'HB.interval', with
    //# jittering of +/- 50% of the RTO value and exponential backoff of the
    //# RTO if the previous HEARTBEAT chunk is unanswered.
    let jitter = Duration::from_nanos(random.below(rto.as_nanos().saturating_add(1)));
    interval.saturating_add(rto / 2).saturating_add(jitter)
}

/// Contents of a HEARTBEAT for its own sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeartbeatInfo {
    pub(crate) path: PathId,
    pub(crate) nonce: u64,
}

impl HeartbeatInfo {
    //= https://www.rfc-editor.org/rfc/rfc9260#section-5.4
    //# To probe an address for verification, an endpoint will send HEARTBEAT
    //# chunks including a 64-bit random nonce and a path indicator
    pub(crate) fn to_bytes(self) -> Bytes {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.nonce.to_be_bytes());
        bytes[8..10].copy_from_slice(&self.path.0.to_le_bytes());
        Bytes::copy_from_slice(&bytes)
    }

    /// Reads back what an answer brought; `None` if it is nothing of ours.
    pub(crate) fn parse(info: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(info);
        let nonce = reader.u64().ok()?;
        let path = PathId(reader.u16().ok()?.swap_bytes());
        (reader.rest() == [0; 2]).then_some(Self { path, nonce })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::Seed;

    fn random() -> Stream {
        Seed::new(1, 0).stream("heartbeat")
    }

    #[test]
    fn the_period_is_interval_plus_rto_give_or_take_half_of_it() {
        let mut random = random();
        let (interval, rto) = (Duration::from_secs(30), Duration::from_secs(2));
        let periods: Vec<_> = (0..1_000).map(|_| period(interval, rto, &mut random)).collect();
        let (least, most) = (periods.iter().min().unwrap(), periods.iter().max().unwrap());
        assert!(*least >= Duration::from_secs(31) && *least < Duration::from_millis(31_020), "{least}");
        assert!(*most <= Duration::from_secs(33) && *most > Duration::from_millis(32_980), "{most}");
    }

    #[test]
    fn only_the_nonce_that_was_sent_is_an_answer() {
        let mut heartbeat = Heartbeat::Off;
        let info = heartbeat.send(Instant::START, PathId(3), Duration::from_secs(1), &mut random());
        let info = HeartbeatInfo::parse(&info).unwrap();
        assert_eq!(info.path, PathId(3));
        assert_eq!(heartbeat.answered(Instant::from_millis(5), info.nonce ^ 1), None);
        assert_eq!(heartbeat.answered(Instant::from_millis(5), info.nonce), Some(Duration::from_millis(5)));
        assert_eq!(heartbeat.answered(Instant::from_millis(5), info.nonce), None, "an answer counts once");
    }

    #[test]
    fn foreign_information_is_not_read() {
        for len in 0..20 {
            assert_eq!(HeartbeatInfo::parse(&vec![0xff; len]), None);
        }
    }
}
