//! `[flows.<name>]`: an application at one host that sends to another over a transport.

use core::ops::Range;

use slantpath_applications::{GTP_U_HEADER_LEN, RTP_HEADER_LEN};
use slantpath_base::{DataRate, Duration};
use slantpath_reader::{Later, Named, OneOf, Resolved, Setting, Stage, choice, section};

use crate::bounds::{FLOWS, RATE, REPETITIONS, RUN};
use crate::flow::application::{Application, BlockedBehaviour, Content};
use crate::flow::event::AssociationEvent;
use crate::flow::settings::Settings;
use crate::network::node::{HostNumber, NamedDscp};

section! {
    /// An application at one host that sends to another over a transport.
    pub struct Flow<S> {
        /// The transport protocol.
        transport: Setting<Transport>;
        /// Configuration of the transport, `[sctp.<profile>]` or `[tcp.<profile>]`; `default` if absent. Datagrams have
        /// none.
        profile: Option<Setting<String>>;
        /// The host that sends.
        from: Setting<String>;
        /// The host that receives.
        to: Setting<String>;
        /// The receiver's link that is used first: SCTP's primary path, TCP's only one. The first link of
        /// the receiver in alphabetical order if absent; of a host with several cables of a sky, that by which the way
        /// leads at `connect`.
        primary: Later<S, Setting<String>>;
        /// Time at which the first message is due, or as soon as the association or connection is up.
        start: Setting<Duration> = Duration::ZERO, at most RUN;
        /// Longest delay of the flow after `connect` and `start`, drawn anew for each run and each of `count`.
        start_jitter: Setting<Duration> = Duration::ZERO, at most RUN;
        /// Time from the start of one of `count` flows to that of the next, with `connect` before it. They start
        /// together if absent.
        stagger: Option<Setting<Duration>>, at most RUN;
        /// Time at which the sender opens its association or connection; at `start` if absent.
        connect: Later<S, Setting<Duration>>, at most RUN;
        /// Time at which the application stops sending and closes in order. If absent, it closes when it has sent all
        /// that it has.
        end: Option<Setting<Duration>>, at most RUN;
        /// Time at which the sender moves to another of its links: until then its association knows only one address of
        /// the sender, from then on only the one on that link (RFC 5061). With `handover_to`.
        handover_at: Option<Setting<Duration>>, at most RUN;
        /// The sender's link that it goes over to.
        handover_to: Option<Setting<String>>;
        /// Number of flows like this one. Each has ports and random streams of its own.
        count: Setting<u32> = 1, at most FLOWS;
        /// SCTP streams that the messages take in turn. TCP has one.
        streams: Setting<u16> = 1;
        /// Adaptation layer between the application and its transport.
        adaptation: Setting<Adaptation> = Adaptation::None;
        /// Lets SCTP deliver messages out of order.
        unordered: Setting<bool> = false;
        /// Time after being handed over at which a message that has not arrived is abandoned (RFC 3758, section 4.1;
        /// SCTP). What has been sent is abandoned only if both hosts list `partial-reliability` among their
        /// `extensions`. Never if absent.
        lifetime: Option<Setting<Duration>>, at most RUN;
        /// Number of times that a part of a message is retransmitted before the message is abandoned (RFC 7496, section
        /// 3.1; SCTP with the same extension).
        max_retransmissions: Option<Setting<u32>>, at most REPETITIONS;
        /// Asks the receiver to acknowledge each message at once, by the I bit of its last DATA chunk (RFC 7053; SCTP).
        /// No if absent.
        sack_immediately: Option<Setting<bool>>;
        /// The receiver's link to whose address messages are sent first, as long as that path is active (RFC 9260,
        /// section 11.1.5; SCTP); what is lost of them may be retransmitted over another one. They go where all else
        /// does if absent: over `primary`, while that is active.
        destination: Option<Setting<String>>;
        /// The priority or weight of each stream, from stream 0 on, for the `stream_scheduling` of the profile that
        /// reads it (RFC 8260, sections 3.4 and 3.6): of priorities the lowest number goes first. 0, or a
        /// weight of 1, where none is written.
        stream_values: Option<Setting<Vec<u16>>>;
        /// Behaviour of the application when the transport's send buffer is full.
        when_blocked: Setting<BlockedBehaviour> = BlockedBehaviour::Wait;
        /// Rate at which the receiver reads. Data that comes faster fills its buffer, and closes the sender's window.
        /// If absent, it takes everything at once.
        read_rate: Option<Setting<DataRate>>, at most RATE;
        /// The DSCP of all packets of the flow, both ways; those of the hosts if absent.
        dscp: Option<Setting<NamedDscp>>;
        /// Content of a message.
        content: Setting<Content> = Content::Stamped;
        /// Messages that the application sends, and their times.
        application: OneOf<Application<S>>;
        /// Commands to the ends of the association while it lives (SCTP).
        script: Vec<Named<AssociationEvent>>;
        /// Settings of the transport, those of `profile`.
        settings: Later<S, Resolved<Settings>>;
        /// The hosts `from` and `to`.
        hosts: Later<S, Resolved<[HostNumber; 2]>>;
        /// Numbers of the `count` flows among those of all tables, in the order of names.
        numbers: Later<S, Resolved<Range<u16>>>;
    }
}

impl<S: Stage> Flow<S> {
    /// By how much the flow of this number, of those that its table makes, starts later than the first.
    pub(crate) fn staggered_by(&self, number: u32) -> Duration {
        let nanos = self.stagger.map_or(0, |stagger| stagger.as_nanos());
        Duration::from_nanos(nanos.saturating_mul(u64::from(number)))
    }

    /// By how much any of its flows starts later than `start` at most.
    pub(crate) fn latest_delay(&self) -> Duration {
        self.start_jitter.saturating_add(self.staggered_by(self.count.saturating_sub(1)))
    }
}

choice! {
    /// Adaptation layer between the application and its transport.
    pub enum Adaptation {
        /// GTP-U, 3GPP TS 29.281: messages are packets of a subscriber, each behind a header of 8 bytes, to port 2152
        /// (UDP). The first 28 bytes of such a packet are headers of its own.
        GtpU = "gtp-u",
        /// M3UA, RFC 4666: messages are the user data of MSUs, `streams` are signalling link selections, and the two
        /// hosts are IPSPs.
        M3ua = "m3ua",
        /// No adaptation layer.
        None = "none",
        /// RTP, RFC 3550: messages are media, each behind a header of 12 bytes, with timestamps of 8 kHz (UDP).
        Rtp = "rtp",
    }
}

choice! {
    /// A transport protocol.
    pub enum Transport {
        /// Echo requests of ICMP or ICMPv6, which the receiver answers.
        Icmp = "icmp",
        /// SCTP, RFC 9260: multihomed, message by message.
        Sctp = "sctp",
        /// TCP with selective acknowledgement: RFC 9293, 2018, 6675.
        Tcp = "tcp",
        /// UDP, RFC 768: a datagram a message, cut into fragments if it is longer than a link carries. Nothing is
        /// repeated or held back.
        Udp = "udp",
    }
}

impl Adaptation {
    /// Bytes that stand in front of each message of a datagram.
    pub const fn header_bytes(self) -> u64 {
        match self {
            Self::GtpU => GTP_U_HEADER_LEN as u64,
            Self::Rtp => RTP_HEADER_LEN as u64,
            Self::M3ua | Self::None => 0,
        }
    }
}

impl Transport {
    /// Tells if each message is a packet that stands for itself.
    pub const fn is_of_datagrams(self) -> bool {
        match self {
            Self::Sctp | Self::Tcp => false,
            Self::Icmp | Self::Udp => true,
        }
    }
}
