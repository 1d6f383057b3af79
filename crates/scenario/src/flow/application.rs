//! `[flows.<name>.application]`: what a flow's application sends, and when.

use std::sync::Arc;

use slantpath_base::{DataRate, DataSize, Duration};
use slantpath_reader::{Later, Resolved, Setting, Stage, Tables, choice, section, tagged, word_or};

use crate::bounds::{BUFFER, ECHOES, MESSAGE, RATE, REPETITIONS, RUN, TOTAL};

tagged! {
    /// Messages that the application sends, and their times.
    pub enum Application<S> {
        /// As much as the transport takes.
        Bulk = "bulk",
        /// Several messages at once, again and again.
        Bursts = "bursts",
        /// Messages of one size at one interval.
        ConstantRate = "constant-rate",
        /// Messages of several kinds over one association, each kind at an interval of its own (SCTP).
        Mixed = "mixed",
        /// Echo requests to a host, which answers each (ICMP).
        Ping = "ping",
        /// Messages of one size at exponential intervals.
        Poisson = "poisson",
        /// Messages at the times and of the sizes that a file lists.
        Trace<S> = "trace",
        /// Packets of a voice: many while somebody talks, none in the silence that follows.
        Voice = "voice",
    }
}

section! {
    /// As much as the transport takes.
    pub struct Bulk {
        /// Size of each message handed to the transport.
        message_size: Setting<DataSize> = DataSize::from_bytes(1_024), at most MESSAGE;
        /// Amount that is sent in all, or `"unlimited"`.
        total: Setting<Total>, at most TOTAL;
    }
}

section! {
    /// Several messages at once, again and again.
    pub struct Bursts {
        /// Size of each message.
        message_size: Setting<DataSize>, at most MESSAGE;
        /// Size of one burst, a multiple of `message_size`.
        burst_size: Setting<DataSize>, at most BUFFER;
        /// From the start of one burst to the start of the next, on average.
        interval: Setting<Duration>, at most RUN;
        /// By how much each interval is shorter or longer at most, drawn uniformly.
        jitter: Setting<Duration> = Duration::ZERO, at most RUN;
    }
}

section! {
    /// Messages of one size at one interval. Give `interval` or `rate`.
    pub struct ConstantRate {
        /// Size of each message.
        message_size: Setting<DataSize>, at most MESSAGE;
        /// From one message to the next.
        interval: Option<Setting<Duration>>, at most RUN;
        /// Message bytes over time, in place of `interval`.
        rate: Option<Setting<DataRate>>, at most RATE;
    }
}

section! {
    /// Messages of several kinds over one association, each kind at an interval of its own (SCTP).
    pub struct Mixed {
        /// The kinds by name. Of messages that are due at one time those go first whose kind comes first in
        /// alphabetical order.
        classes: Tables<MixedClass>;
    }
}

section! {
    /// Messages of one kind.
    pub struct MixedClass {
        /// The stream that they go on, from 0 to one less than the flow's `streams`.
        stream: Setting<u16>;
        /// Size of each message.
        message_size: Setting<DataSize>, at most MESSAGE;
        /// From one message to the next, or from those that come at once to the next.
        interval: Setting<Duration>, at most RUN;
        /// Number of messages that come at once.
        messages: Setting<u16> = 1;
        /// Time after being handed over at which a message that has not arrived is abandoned (RFC 3758, section 4.1).
        lifetime: Option<Setting<Duration>>, at most RUN;
        /// Number of times that a part of a message is retransmitted before the message is abandoned (RFC 7496, section
        /// 3.1).
        max_retransmissions: Option<Setting<u32>>, at most REPETITIONS;
        /// Priority of a message if the send buffer is full: one with a higher number, of which nothing was sent, is
        /// abandoned for one with a lower number or none (RFC 7496, section 3.2).
        priority: Option<Setting<u16>>;
        /// Lets messages of the kind overtake others of their stream; as the flow says if absent.
        unordered: Option<Setting<bool>>;
        /// Asks the receiver to acknowledge each message at once (RFC 7053); as the flow says if absent.
        sack_immediately: Option<Setting<bool>>;
        /// The receiver's link to whose address they are sent first; as the flow says if absent.
        destination: Option<Setting<String>>;
    }
}

section! {
    /// Echo requests to a host, which answers each (RFC 792; RFC 4443, section 4).
    pub struct Ping {
        /// Size of the data of each request, behind 8 bytes of header.
        message_size: Setting<DataSize> = DataSize::from_bytes(56), at most MESSAGE;
        /// From one request to the next.
        interval: Setting<Duration> = Duration::from_secs(1), at most RUN;
        /// Number of requests; as many as there is time for if absent.
        count: Option<Setting<u32>>, at most ECHOES;
    }
}

section! {
    /// Messages of one size at exponential intervals. Give `mean_interval` or `rate`.
    pub struct Poisson {
        /// Size of each message.
        message_size: Setting<DataSize>, at most MESSAGE;
        /// Mean time from one message to the next.
        mean_interval: Option<Setting<Duration>>, at most RUN;
        /// Mean message bytes over time, in place of `mean_interval`.
        rate: Option<Setting<DataRate>>, at most RATE;
    }
}

section! {
    /// Messages at the times and of the sizes that a file lists.
    pub struct Trace<S> {
        /// The file, relative to the scenario: lines of `at,size` such as `30 ms,1024 B`, in order of time.
        file: Setting<String>;
        /// BLAKE3 of the file, written by `--show`. If it is given, the file must still have it.
        digest: Later<S, Setting<String>>;
        /// Offsets from the start of the flow, and sizes, that the file lists.
        messages: Later<S, Resolved<Arc<[(Duration, DataSize)]>>>;
    }
}

section! {
    /// Packets of a voice: many while somebody talks, none in the silence that follows. Talkspurts and silences are
    /// exponential, with the means of conversational speech (ITU-T P.59).
    pub struct Voice {
        /// Size of the media in each packet: 20 ms of G.711 unless said otherwise.
        message_size: Setting<DataSize> = DataSize::from_bytes(160), at most MESSAGE;
        /// From one packet to the next while somebody talks.
        interval: Setting<Duration> = Duration::from_millis(20), at most RUN;
        /// Mean length of a talkspurt.
        mean_talk: Setting<Duration> = Duration::from_millis(1_004), at most RUN;
        /// Mean length of a silence.
        mean_silence: Setting<Duration> = Duration::from_millis(1_587), at most RUN;
    }
}

choice! {
    /// Content of a message.
    pub enum Content {
        /// A slice of one constant pattern: for load that nobody looks into. Such messages are not recorded.
        Pattern = "pattern",
        /// Number and length in front, then the pattern, so that the receiver knows each message and checks
        /// each byte.
        Stamped = "stamped",
    }
}

choice! {
    /// Behaviour of a source when the transport's send buffer is full. Of `mixed` messages each kind does so by itself.
    pub enum BlockedBehaviour {
        /// Keeps to its timetable; messages that cannot be sent yet are queued in the application.
        Queue = "queue",
        /// Waits, as on a blocking socket, and slows down to what the transport carries.
        Wait = "wait",
    }
}

word_or! {
    /// Amount that a bulk transfer sends in all.
    pub enum Total {
        /// Transfer that never ends.
        Unlimited = "unlimited",
        /// Amount that is given.
        Bytes(DataSize) like "10 MB",
    }
}

impl ConstantRate {
    /// The time from one message to the next.
    pub fn spacing(&self) -> Duration {
        spacing(self.interval, self.rate, *self.message_size)
    }
}

impl Poisson {
    /// The mean time from one message to the next.
    pub fn spacing(&self) -> Duration {
        spacing(self.mean_interval, self.rate, *self.message_size)
    }
}

/// The interval, or what the rate makes of the messages' size. A check sees to it that one is given.
fn spacing(interval: Option<Setting<Duration>>, rate: Option<Setting<DataRate>>, size: DataSize) -> Duration {
    let of_rate = || rate.map_or(Duration::MAX, |rate| rate.time_to_send(size));
    interval.map_or_else(of_rate, |interval| *interval)
}

impl<S: Stage> Application<S> {
    /// The size of its messages, or none if each has its own.
    pub fn message_size(&self) -> Option<&Setting<DataSize>> {
        match self {
            Self::Bulk(bulk) => Some(&bulk.message_size),
            Self::Bursts(bursts) => Some(&bursts.message_size),
            Self::ConstantRate(constant) => Some(&constant.message_size),
            Self::Ping(ping) => Some(&ping.message_size),
            Self::Poisson(poisson) => Some(&poisson.message_size),
            Self::Voice(voice) => Some(&voice.message_size),
            Self::Mixed(_) | Self::Trace(_) => None,
        }
    }
}
