//! One step of a trace, and the page that describes all kinds of them.

use std::fmt::Write as _;
use std::net::IpAddr;

use serde_json::{Map, Value};
use slantpath_base::{Duration, Instant};
use slantpath_sctp::{AssociationState, Notice, PathState, Unanswered, WaitReason, WindowCause};

use crate::field::{Evidence, Field, TimerChange, taken, written};

/// Something that has happened to an association.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Instant of the event, by the clock of the run.
    pub at: Instant,
    /// Whose: associations of a trace are numbered.
    pub association: u32,
    /// Event that the record tells.
    pub what: What,
}

/// Why a line cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RecordFault {
    UnknownEvent(String),
    Field(&'static str),
}

/// Declares what may happen: how it is called in a file, and what is said of it.
macro_rules! events {
    ($(
        $(#[doc = $about:literal])+
        $Variant:ident = $name:literal {
            $( $(#[doc = $doc:literal])+ $field:ident: $Type:ty, )*
        }
    )+) => {
        /// Events of an association.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum What { $(
            $(#[doc = $about])+
            $Variant { $( $(#[doc = $doc])+ $field: $Type, )* },
        )+
            /// Event that the association tells others, too: an entry of SCTP's dictionary, with its name and fields.
            Notice(Notice),
        }

        impl What {
            /// Names of all events in a file.
            pub fn names() -> Vec<&'static str> {
                let told = Notice::described().into_iter().map(|entry| entry.name);
                [$($name),+].into_iter().chain(told).collect()
            }

            /// Gives the name of the event in a file.
            pub const fn name(&self) -> &'static str {
                match self {
                    $( Self::$Variant { .. } => $name, )+
                    Self::Notice(notice) => notice.name(),
                }
            }

            /// Writes what is said of it, each with a comma in front.
            fn write_fields(&self, line: &mut String) {
                match self {
                    $( Self::$Variant { $( $field, )* } => {
                        $( write_field(line, stringify!($field), $field.write()); )*
                    } )+
                    Self::Notice(notice) => {
                        for (name, value) in notice.fields() {
                            write_field(line, name, written(value));
                        }
                    }
                }
            }

            fn read(name: &str, line: &Map<String, Value>) -> Result<Self, RecordFault> {
                Ok(match name {
                    $( $name => Self::$Variant { $( $field: read_field(line, stringify!($field))?, )* }, )+
                    other => match Notice::read(other, |field| taken(line.get(field))) {
                        Ok(Some(notice)) => Self::Notice(notice),
                        Ok(None) => return Err(RecordFault::UnknownEvent(other.to_owned())),
                        Err(field) => return Err(RecordFault::Field(field)),
                    },
                })
            }
        }

        /// Of each kind: its name, what it is, and its fields with what they are.
        fn described() -> Vec<DescribedRecord> {
            vec![ $( DescribedRecord {
                name: $name,
                about: concat!($($about),+).trim().to_owned(),
                fields: vec![ $( (
                    stringify!($field),
                    <$Type as Field>::kind(),
                    concat!($($doc),+).trim().to_owned(),
                ), )* ],
            }, )+ ]
        }
    };
}

events! {
    /// The association is up.
    Up = "up" {
        /// Number of streams on which we can send.
        outbound_streams: u16,
        /// Number of streams on which the peer may send.
        inbound_streams: u16,
    }
    /// The association has gone into a state of RFC 9260, section 4.
    State = "state" {
        /// State of the association from now on.
        state: AssociationState,
    }
    /// A path is seen for the first time, or what governs it has changed.
    Path = "path" {
        /// The peer's address, by which the path is called.
        path: IpAddr,
        /// Our address of the path.
        source: IpAddr,
        /// State of the path: whether it may carry data.
        state: PathState,
        /// True if it is the primary path.
        primary: bool,
        /// Cause of the change of the window or the threshold since the last time.
        cause: WindowCause,
        /// Congestion window (cwnd).
        cwnd_bytes: u64,
        /// Slow-start threshold (ssthresh).
        ssthresh_bytes: u64,
        /// DATA chunks outstanding to the address; that this alone has changed is not told.
        flight_bytes: u64,
        /// The smoothed round-trip time, once measured.
        srtt_ns: Option<Duration>,
        /// The retransmission timeout, backed off as it may be.
        rto_ns: Duration,
        /// The error counter of the address.
        errors: u32,
        /// The path MTU.
        mtu_bytes: u16,
    }
    /// Something sent was not answered: error counters have grown (RFC 9260, sections 8.1 and 8.2).
    PathError = "path_error" {
        /// Address of the path.
        path: IpAddr,
        /// Kind of chunk that was not answered.
        unanswered: Unanswered,
        /// The error counter of the address.
        errors: u32,
        /// Error counter of the association.
        association_errors: u32,
    }
    /// A HEARTBEAT has been queued.
    HeartbeatSent = "heartbeat_sent" {
        /// Address of the path.
        path: IpAddr,
    }
    /// A HEARTBEAT has been answered.
    HeartbeatAnswered = "heartbeat_answered" {
        /// Address of the path.
        path: IpAddr,
        /// Time from the HEARTBEAT to its answer.
        round_trip_ns: Duration,
    }
    /// Something has happened to T3-rtx of a path.
    T3Rtx = "t3_rtx" {
        /// Address of the path.
        path: IpAddr,
        /// Change of the timer.
        change: TimerChange,
        /// With which RTO; before it is backed off, if it has expired. Left out if it was stopped.
        rto_ns: Option<Duration>,
        /// Amount that was given up, if it has expired: bytes of DATA chunks sent to the address last.
        outstanding_bytes: Option<u64>,
    }
    /// A SACK has come.
    Sack = "sack" {
        /// TSN up to which all DATA chunks have arrived.
        cumulative_tsn: u32,
        /// Number of Gap Ack Blocks: runs of chunks that have arrived beyond others that have not.
        gap_blocks: u16,
        /// Room that the peer has (a_rwnd).
        a_rwnd_bytes: u32,
    }
    /// A DATA chunk has been put into a packet.
    Sent = "sent" {
        /// The message's number; left out for what has none.
        message: Option<u64>,
        /// TSN of the chunk.
        tsn: u32,
        /// Path to which it goes.
        path: IpAddr,
        /// 1 for the first time, 2 for the first retransmission, and so on.
        transmission: u32,
    }
    /// A DATA chunk is to be retransmitted.
    Lost = "lost" {
        /// The message's number; left out for what has none.
        message: Option<u64>,
        /// TSN of the chunk.
        tsn: u32,
        /// Path to which it was sent last.
        path: IpAddr,
        /// Way in which the loss was noticed.
        evidence: Evidence,
        /// Number of SACKs that have reported it missing, if they have.
        reports: Option<u16>,
        /// Time elapsed since it was sent, if it was overtaken.
        age_ns: Option<Duration>,
        /// The time for reordering, if it was overtaken.
        reordering_window_ns: Option<Duration>,
        /// Greatest packet that the link carries, if the chunk's packet was longer.
        mtu_bytes: Option<u16>,
    }
    /// A DATA chunk that counted as lost was not: it is in flight again, without having been sent.
    Restored = "restored" {
        /// The message's number; left out for what has none.
        message: Option<u64>,
        /// TSN of the chunk.
        tsn: u32,
    }
    /// The peer has thrown away a DATA chunk that it had acknowledged by a Gap Ack Block.
    Revoked = "revoked" {
        /// The message's number; left out for what has none.
        message: Option<u64>,
        /// TSN of the chunk.
        tsn: u32,
    }
    /// The peer has acknowledged all of a message.
    Acknowledged = "acknowledged" {
        /// Number of the message; left out for what has none.
        message: Option<u64>,
    }
    /// The other end has given a message to its reader. Only where a trace knows both ends: of a simulated run.
    Delivered = "delivered" {
        /// Number of the message.
        message: u64,
        /// Instant at which the sender gave it to the transport, or would have if there had been room.
        offered_ns: Instant,
    }
    /// The association has ended before a message was acknowledged.
    Failed = "failed" {
        /// Number of the message; left out for what has none.
        message: Option<u64>,
    }
    /// No packet can leave from an address of ours any more: it has gone, or its link; or one can again.
    LocalLink = "local_link" {
        /// Address of ours.
        source: IpAddr,
        /// True if packets can leave from it.
        up: bool,
    }
    /// Nothing leaves, for another reason than before. It holds until the next one, and is told only after all that
    /// could leave has left.
    Waiting = "waiting" {
        /// Reason for which nothing leaves.
        reason: WaitReason,
        /// Room that the peer has beyond what is in flight.
        peer_rwnd_bytes: u64,
    }
    /// After a message was refused for want of room in the send buffer there is room again.
    Room = "room" {
        /// Room that is free in the send buffer.
        free_bytes: u64,
    }
    /// The association is gone.
    Closed = "closed" {
        /// True if it ended in order, by SHUTDOWN COMPLETE.
        orderly: bool,
        /// Why, in words.
        reason: String,
    }
    /// Records are missing here: more came at once than are held.
    Dropped = "dropped" {
        /// Number of records that are missing.
        records: u64,
    }
    /// The last line of a trace that is whole: the run is over.
    End = "end" {}
}

fn write_field(line: &mut String, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        write!(line, ",\"{name}\":{value}").expect("a string takes all");
    }
}

fn read_field<F: Field>(line: &Map<String, Value>, name: &'static str) -> Result<F, RecordFault> {
    F::read(line.get(name)).ok_or(RecordFault::Field(name))
}

impl Record {
    /// Writes the record as a line, without its end.
    pub(crate) fn write(&self, line: &mut String) {
        let (at, association, name) = (self.at.as_nanos(), self.association, self.what.name());
        write!(line, "{{\"t_ns\":{at},\"association\":{association},\"event\":\"{name}\"")
            .expect("a string takes all");
        self.what.write_fields(line);
        line.push('}');
    }

    pub(crate) fn read(line: &Map<String, Value>) -> Result<Self, RecordFault> {
        let name: String = read_field(line, "event")?;
        Ok(Self {
            at: read_field(line, "t_ns")?,
            association: read_field(line, "association")?,
            what: What::read(&name, line)?,
        })
    }
}

/// Kind of record, as it is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DescribedRecord {
    /// Name of the event in a trace.
    pub name: &'static str,
    /// Meaning of the event.
    pub about: String,
    /// Fields, each with its name, the kind of its value and its meaning.
    pub fields: Vec<(&'static str, String, String)>,
}

/// All kinds of records, in the order of `docs/trace.md`.
pub fn described_records() -> Vec<DescribedRecord> {
    let told = Notice::described().into_iter().map(|entry| {
        let fields = entry.fields.into_iter().map(|field| (field.name, field.kind, field.meaning));
        DescribedRecord { name: entry.name, about: entry.about, fields: fields.collect() }
    });
    described().into_iter().chain(told).collect()
}

/// The part of `docs/trace.md` that lists all kinds of records, as the code declares them.
pub fn page() -> String {
    let mut page = String::new();
    for DescribedRecord { name, about, fields } in described_records() {
        write!(page, "### `{name}`\n\n{about}\n\n").expect("a string takes all");
        if fields.is_empty() {
            continue;
        }
        page.push_str("| field | what stands there | meaning |\n|---|---|---|\n");
        for (field, kind, meaning) in fields {
            writeln!(page, "| `{field}` | {kind} | {meaning} |").expect("a string takes all");
        }
        page.push('\n');
    }
    page
}
