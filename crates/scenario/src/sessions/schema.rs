//! The keys of `[sessions.<name>]`.

use slantpath_applications::SessionLoad;
use slantpath_base::{DataSize, Duration};
use slantpath_reader::{Later, Nested, OneOf, Resolved, Setting, section, tagged};

use super::admission::Admission;
use super::ports::Ports;
use super::requests::Requests;
use crate::bounds::{BUFFER, MESSAGE, RUN, SHAPE, TOTAL};
use crate::flow::schema::Transport;
use crate::flow::settings::Settings;
use crate::network::node::{HostNumber, NamedDscp};

section! {
    /// Transfers that begin one after the other, each over an association or connection of its own, as files are
    /// fetched. A session is over when all of it has been delivered and both ends have closed. With `requests` it is
    /// the opener that fetches, one thing after the other.
    pub struct Sessions<S> {
        /// The transport protocol.
        transport: Setting<Transport>;
        /// Configuration of the transport, `[sctp.<profile>]` or `[tcp.<profile>]`; `default` if absent.
        profile: Later<S, Setting<String>>;
        /// The host that opens each and sends, or asks.
        from: Setting<String>;
        /// The host that receives, or answers.
        to: Setting<String>;
        /// The receiver's link that is used first. The first link of the receiver in alphabetical order if absent; of a
        /// host with several cables of a sky, that by which the way leads at `start`.
        primary: Later<S, Setting<String>>;
        /// Time at which the process of arrivals begins.
        start: Setting<Duration> = Duration::ZERO, at most RUN;
        /// From when on no session begins; those that have begun go on. At the end of the run if absent.
        end: Option<Setting<Duration>>, at most RUN;
        /// Process by which sessions begin.
        arrivals: OneOf<Arrivals<S>>;
        /// Amount that each session carries, or each answer. Required unless the arrivals are a trace, which says it.
        sizes: Option<OneOf<Sizes>>;
        /// Requests of each session. It sends what it carries if absent.
        requests: Option<Nested<Requests>>;
        /// Limits on the sessions that may begin. All may if absent.
        admission: Option<Nested<Admission>>;
        /// Amount that is handed to the transport at a time; over SCTP a message.
        message_size: Setting<DataSize> = DataSize::from_bytes(1_024), at most MESSAGE;
        /// The DSCP of all packets of the sessions, both ways; those of the hosts if absent.
        dscp: Option<Setting<NamedDscp>>;
        /// Settings of the transport, those of `profile`.
        settings: Later<S, Resolved<Settings>>;
        /// The hosts `from` and `to`.
        hosts: Later<S, Resolved<[HostNumber; 2]>>;
        /// Ports of the server and of the openers.
        ports: Later<S, Resolved<Ports>>;
        /// Instants at which sessions begin, and their sizes: those of `arrivals` and `sizes`.
        load: Later<S, Resolved<SessionLoad>>;
    }
}

tagged! {
    /// Process by which sessions begin.
    pub enum Arrivals<S> {
        /// One after the other at one interval, the first at the start.
        Constant = "constant",
        /// At exponential intervals.
        Poisson = "poisson",
        /// As a file lists them.
        Trace<S> = "trace",
    }
}

section! {
    /// At one interval.
    pub struct Constant {
        /// From the beginning of one session to that of the next.
        interval: Setting<Duration>, at most RUN;
    }
}

section! {
    /// A Poisson process.
    pub struct Poisson {
        /// Mean time from the beginning of one session to that of the next: 6 s are ten a minute.
        mean_interval: Setting<Duration>, at most RUN;
    }
}

section! {
    /// As a file lists them.
    pub struct Trace<S> {
        /// The file, relative to the scenario: lines of `at,size` such as `1.5 s,2 MB`, in order of time.
        file: Setting<String>;
        /// BLAKE3 of the file, written by `--show`. If it is given, the file must still have it.
        digest: Later<S, Setting<String>>;
    }
}

tagged! {
    /// Amount that each session carries, or each answer.
    pub enum Sizes {
        /// An exponential distribution.
        Exponential = "exponential",
        /// Always as much.
        Fixed = "fixed",
        /// A Pareto distribution: many are small, and a few carry much.
        Pareto = "pareto",
    }
}

section! {
    /// An exponential distribution.
    pub struct Exponential {
        /// Mean of the distribution.
        mean: Setting<DataSize>, at most TOTAL;
    }
}

section! {
    /// Always as much.
    pub struct Fixed {
        /// Amount of each.
        size: Setting<DataSize>, at most TOTAL;
    }
}

section! {
    /// A Pareto distribution: the chance of more than x is (m / x)^shape, from m = mean (shape − 1) / shape on.
    pub struct Pareto {
        /// Mean of the distribution.
        mean: Setting<DataSize>, at most BUFFER;
        /// Shape of the distribution, more than 1, without which there is no mean. Up to 2 there is no variance.
        shape: Setting<f64>, at most SHAPE;
    }
}

impl Sizes {
    /// Mean of the sizes.
    pub fn mean(&self) -> DataSize {
        match self {
            Self::Exponential(exponential) => *exponential.mean,
            Self::Fixed(fixed) => *fixed.size,
            Self::Pareto(pareto) => *pareto.mean,
        }
    }
}
