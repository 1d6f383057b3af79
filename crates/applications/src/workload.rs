//! Workload of an application, that is, the load of a flow apart from any transport: sizes and instants of its
//! messages.

use std::sync::Arc;

use slantpath_base::{DataSize, Duration, Seed, Stream};
use slantpath_sctp::SendOptions;

/// Instants at which messages are due, and their sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// As much as the transport takes, in messages of one size, until `total` has been sent.
    Bulk {
        /// Size of each message handed to the transport.
        message: DataSize,
        /// Bytes to send in all; `None` never ends.
        total: Option<DataSize>,
    },
    /// Several messages at once, again and again: "8 KB every 100 ms" (Grinnemo and Brunstrom, failover study).
    Bursts {
        /// Size of each message.
        message: DataSize,
        /// Messages of one burst.
        messages_per_burst: u32,
        /// From the start of a burst to the start of the next, on average.
        interval: Duration,
        /// By how much each interval is shorter or longer at most, every value alike; at most `interval`.
        jitter: Duration,
    },
    /// Messages of one size at one interval.
    ConstantRate {
        /// Size of each message.
        message: DataSize,
        /// From one message to the next.
        interval: Duration,
    },
    /// Requests for echoes, of one size at one interval.
    Ping {
        /// Size of the data of each request.
        message: DataSize,
        /// From one request to the next.
        interval: Duration,
        /// Number of requests; `None` never ends.
        count: Option<u32>,
    },
    /// Exponential intervals: a Poisson process.
    Poisson {
        /// Size of each message.
        message: DataSize,
        /// Mean of the intervals.
        mean_interval: Duration,
    },
    /// Messages at given offsets from the start of the flow, in order of time.
    Trace {
        /// Offset and size of each message: there may be millions, which all that play them share.
        messages: Arc<[(Duration, DataSize)]>,
    },
    /// Packets of one size at one interval while somebody talks, none in the silence that follows.
    Voice {
        /// Size of the media in each packet.
        message: DataSize,
        /// From one packet to the next while somebody talks.
        interval: Duration,
        /// Mean length of a talkspurt, which is exponential.
        mean_talk: Duration,
        /// Mean length of a silence, which is exponential.
        mean_silence: Duration,
    },
    /// Messages of several kinds, each at an interval of its own, over one association (SCTP).
    Mixed {
        /// The kinds. Of those that are due at one time the first goes first.
        classes: Vec<MessageClass>,
    },
}

impl Workload {
    /// Length of a message, in bytes: the one with this number, from 0 on, or any of this kind if there are several.
    pub fn message_bytes(&self, number: u64, kind: usize) -> usize {
        let size = match self {
            Self::Bulk { message, total: Some(total) } => {
                let sent = number.saturating_mul(message.as_bytes());
                message.as_bytes().min(total.as_bytes().saturating_sub(sent))
            }
            Self::Bulk { message, total: None }
            | Self::Bursts { message, .. }
            | Self::ConstantRate { message, .. }
            | Self::Ping { message, .. }
            | Self::Poisson { message, .. }
            | Self::Voice { message, .. } => message.as_bytes(),
            Self::Trace { messages } => usize::try_from(number)
                .ok()
                .and_then(|index| messages.get(index))
                .map_or(0, |(_, size)| size.as_bytes()),
            Self::Mixed { classes } => classes.get(kind).map_or(0, |class| class.message.as_bytes()),
        };
        usize::try_from(size).unwrap_or(usize::MAX)
    }

    /// The sizes of its shortest and of its longest message; `None` if it has no message. Looks at every line of a
    /// trace.
    pub fn sizes(&self) -> Option<[DataSize; 2]> {
        let of_all = |mut sizes: Box<dyn Iterator<Item = DataSize> + '_>| {
            let first = sizes.next()?;
            Some(sizes.fold([first; 2], |[least, most], size| [least.min(size), most.max(size)]))
        };
        match self {
            Self::Bulk { message, total: Some(total) } => {
                let last = total.as_bytes().checked_rem(message.as_bytes()).filter(|rest| *rest > 0);
                let least = last.map_or(*message, DataSize::from_bytes);
                (*total > DataSize::ZERO).then(|| [least, *message.min(total)])
            }
            Self::Bulk { message, total: None }
            | Self::Bursts { message, .. }
            | Self::ConstantRate { message, .. }
            | Self::Ping { message, .. }
            | Self::Poisson { message, .. }
            | Self::Voice { message, .. } => Some([*message; 2]),
            Self::Trace { messages } => of_all(Box::new(messages.iter().map(|(_, size)| *size))),
            Self::Mixed { classes } => of_all(Box::new(classes.iter().map(|class| class.message))),
        }
    }

    /// The mean size of a message and the mean time from one to the next, if they are known beforehand.
    pub fn mean_spacing(&self) -> Option<(DataSize, Duration)> {
        match self {
            Self::Bursts { message, messages_per_burst, interval, .. } => {
                let all = message.as_bytes().saturating_mul((*messages_per_burst).into());
                Some((*message, *interval / u64::from(*messages_per_burst).max(1))).filter(|_| all > 0)
            }
            Self::ConstantRate { message, interval } | Self::Ping { message, interval, .. } => {
                Some((*message, *interval))
            }
            Self::Poisson { message, mean_interval } => Some((*message, *mean_interval)),
            Self::Voice { message, interval, mean_talk, mean_silence } => {
                let talks = mean_talk.as_secs_f64() / (mean_talk.as_secs_f64() + mean_silence.as_secs_f64());
                Some((*message, Duration::from_secs_f64(interval.as_secs_f64() / talks)))
            }
            Self::Bulk { .. } | Self::Mixed { .. } | Self::Trace { .. } => None,
        }
    }

    /// Tells if the workload comes to an end by itself.
    pub const fn has_end(&self) -> bool {
        matches!(
            self,
            Self::Bulk { total: Some(_), .. } | Self::Ping { count: Some(_), .. } | Self::Trace { .. }
        )
    }

    /// The kinds of messages, if there are several.
    pub fn classes(&self) -> &[MessageClass] {
        match self {
            Self::Mixed { classes } => classes,
            _ => &[],
        }
    }

    /// Variant of [`Workload::classes`] that gives them mutably, to change the options of their messages.
    pub fn classes_mut(&mut self) -> &mut [MessageClass] {
        match self {
            Self::Mixed { classes } => classes,
            _ => &mut [],
        }
    }
}

/// Stream of chance from which the flow that `path` names draws the instants of its messages.
pub fn workload_stream(seed: Seed, path: &str) -> Stream {
    seed.stream(&format!("{path}/sender/workload"))
}

/// Messages of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageClass {
    /// The stream that they go on.
    pub stream: u16,
    /// Size of each.
    pub message: DataSize,
    /// Number of messages that come at once; at least 1.
    pub messages: u16,
    /// From those that come at once to the next, longer than nothing.
    pub interval: Duration,
    /// Further options that each message asks for.
    pub options: SendOptions,
    /// True if a message may overtake others of its stream.
    pub unordered: bool,
}

/// Conduct of a sender when the transport's send buffer is full. Of several kinds of messages each does so by itself,
/// as if each had a thread of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenBlocked {
    /// The application keeps to its timetable; what cannot be sent yet queues in the application, and its
    /// delay counts from when it was due.
    Queue,
    /// SEND blocks, as on a socket: the message counts from that call, and the next one is due an interval
    /// after the call returned. The source slows down to what the transport carries.
    #[default]
    Wait,
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn bytes(bytes: u64) -> DataSize {
        DataSize::from_bytes(bytes)
    }

    fn classes(sizes: &[u64]) -> Workload {
        let class = |(stream, size)| MessageClass {
            stream,
            message: bytes(size),
            messages: 1,
            interval: Duration::from_millis(10),
            options: SendOptions::default(),
            unordered: false,
        };
        Workload::Mixed { classes: (0..).zip(sizes.iter().copied()).map(class).collect() }
    }

    fn trace(sizes: &[u64]) -> Workload {
        Workload::Trace { messages: sizes.iter().map(|size| (Duration::ZERO, bytes(*size))).collect() }
    }

    #[test]
    fn a_message_is_as_long_as_its_number_or_its_kind_says() {
        let bulk = Workload::Bulk { message: bytes(1_000), total: Some(bytes(2_500)) };
        assert_eq!([0, 1, 2, 3].map(|number| bulk.message_bytes(number, 0)), [1_000, 1_000, 500, 0]);
        assert_eq!([0, 1, 2].map(|number| trace(&[70, 8]).message_bytes(number, 0)), [70, 8, 0]);
        assert_eq!([0, 1, 2].map(|kind| classes(&[70, 8]).message_bytes(5, kind)), [70, 8, 0]);
    }

    #[test]
    fn the_shortest_message_and_the_longest_are_found() {
        let bulk = |total| Workload::Bulk { message: bytes(1_000), total };
        assert_eq!(bulk(None).sizes(), Some([bytes(1_000); 2]));
        assert_eq!(bulk(Some(bytes(3_000))).sizes(), Some([bytes(1_000); 2]));
        assert_eq!(bulk(Some(bytes(2_500))).sizes(), Some([bytes(500), bytes(1_000)]));
        assert_eq!(bulk(Some(bytes(30))).sizes(), Some([bytes(30); 2]));
        assert_eq!(bulk(Some(bytes(0))).sizes(), None);
        for several in [trace(&[30, 10, 20]), classes(&[30, 10, 20])] {
            assert_eq!(several.sizes(), Some([bytes(10), bytes(30)]));
        }
        assert_eq!([trace(&[]).sizes(), classes(&[]).sizes()], [None; 2]);
    }
}
