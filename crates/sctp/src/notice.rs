//! The dictionary of events: what an association tells of itself, declared once.
//!
//! Each entry of `notices!` has the event's name, its fields with their meaning, the names by which programs are told
//! of it, and the words in which people are. All else follows from that: the lines of a trace and the page that
//! describes them, the words of `slantpath explain` and of the command's log, the notifications of programs in Rust
//! and Python with their fields, and the file that documents them for Python.
//!
//! An event is added by an entry here and a line where SCTP knows of it, which makes the event ([`Notice::event`]).
//! Events that code acts on have a form of their own in [`Event`] as well; [`Event::notice`] gives the entry of each.
//! Messages, what is said of each of them, and what only a trace tells of decisions are none of the dictionary's.
//!
//! [`Event`]: crate::Event
//! [`Event::notice`]: crate::Event::notice

mod of_event;
mod value;

use std::net::IpAddr;

use slantpath_base::Duration;

use crate::event::Event;
use crate::path::PathState;
use crate::reliability::ReliabilityPolicy;
pub use value::{AddressRequest, Field, PeerAddress, StreamAnswer, StreamRequest, StreamsStep, Value};

/// A field of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedField {
    /// Name of the field.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: String,
    /// Type of its value in Python.
    pub python: &'static str,
    /// Meaning of its value.
    pub meaning: String,
}

/// An entry of the dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Name of the event in a file.
    pub name: &'static str,
    /// Meaning of the event.
    pub about: String,
    /// Names by which a program is told of it: one for each course that the event may take, and none if no program is
    /// told.
    pub called: Vec<&'static str>,
    /// Fields of the event.
    pub fields: Vec<DescribedField>,
}

/// Declares the events, each with its name in files, its fields, the names by which programs are told of it, and words.
macro_rules! notices {
    ($(
        $(#[doc = $about:literal])+
        $Variant:ident = $name:literal {
            $( $(#[doc = $doc:literal])+ $field:ident: $Type:ty, )*
        }
        called $by:expr => { $( $pattern:pat => $called:literal, )* }
        words $words:block
    )+) => {
        /// Events of an association, as it tells them.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Notice { $(
            $(#[doc = $about])+
            $Variant { $( $(#[doc = $doc])+ $field: $Type, )* },
        )+ }

        #[expect(unused_variables, reason = "few entries use all of their fields in each place")]
        impl Notice {
            /// Name of the event in files.
            pub const fn name(&self) -> &'static str {
                match self { $( Self::$Variant { .. } => $name, )+ }
            }

            /// Name of what has happened, as a program is told it: a word or two. What no program is told has the
            /// name that it has in files.
            pub fn called(&self) -> &'static str {
                match self { $(
                    Self::$Variant { $( $field, )* } => match $by {
                        $( $pattern => $called, )*
                        #[allow(unreachable_patterns, reason = "most entries are told in each of their courses")]
                        _ => $name,
                    },
                )+ }
            }

            /// Tells the event in words, without the path that it is about.
            pub fn words(&self) -> String {
                match self { $( Self::$Variant { $( $field, )* } => $words.into(), )+ }
            }

            /// Fields of the event by their names, in the order of the declaration.
            pub fn fields(&self) -> Vec<(&'static str, Value)> {
                match self { $(
                    Self::$Variant { $( $field, )* } => vec![ $( (stringify!($field), $field.value()), )* ],
                )+ }
            }

            /// Reads the event of this name from its fields; `None` if there is no such event.
            ///
            /// # Errors
            /// The name of a field that is wrong or lacking.
            pub fn read(
                name: &str,
                mut field: impl FnMut(&'static str) -> Option<Value>,
            ) -> Result<Option<Self>, &'static str> {
                Ok(match name {
                    $( $name => Some(Self::$Variant { $(
                        $field: field(stringify!($field)).and_then(Field::of).ok_or(stringify!($field))?,
                    )* }), )+
                    _ => None,
                })
            }

            /// All entries of the dictionary, in order.
            pub fn described() -> Vec<Described> {
                vec![ $( Described {
                    name: $name,
                    about: concat!($($about),+).trim().to_owned(),
                    called: vec![ $( $called, )* ],
                    fields: vec![ $( DescribedField {
                        name: stringify!($field),
                        kind: <$Type as Field>::kind(),
                        python: <$Type as Field>::python(),
                        meaning: concat!($($doc),+).trim().to_owned(),
                    }, )* ],
                }, )+ ]
            }
        }
    };
}

notices! {
    /// The layer above has been told that an address has become reachable, unreachable or potentially failed.
    PathChanged = "path_changed" {
        /// Address of the path.
        path: IpAddr,
        /// State of the path from now on.
        state: PathState,
    }
    called state => {
        PathState::Active => "active",
        PathState::Inactive => "inactive",
        PathState::PotentiallyFailed => "potentially failed",
    }
    words {
        match state {
            PathState::Active => "is active",
            PathState::Inactive => "is inactive",
            PathState::PotentiallyFailed => "is potentially failed, other paths are preferred",
            PathState::Unconfirmed => "is unconfirmed",
        }
    }

    /// Another path has become the primary one without the user's command (RFC 7829, section 5).
    PrimaryChanged = "primary_changed" {
        /// Address of the path.
        path: IpAddr,
    }
    called () => { () => "primary", }
    words { "has become the primary path: the former one had not answered often enough" }

    /// New DATA goes to another path, since the one that carried it has not answered (RFC 9260, section 6.4.1).
    FailedOver = "failed_over" {
        /// Address of the path that carries new DATA from now on.
        path: IpAddr,
        /// Address of the path that has carried it.
        former: IpAddr,
        /// Number of the first message that goes there; left out for what has none.
        message: Option<u64>,
        /// Time since the last DATA, HEARTBEAT or probe left that the former path has answered. What was retransmitted
        /// does not count: nobody knows which of its packets is answered. Left out if none was.
        unanswered_ns: Option<Duration>,
        /// Time since an answer of the former path was first due and did not come; left out if its own link has gone.
        first_timeout_ns: Option<Duration>,
        /// Time since another path was decided on; left out of what only a capture shows.
        decided_ns: Option<Duration>,
    }
    called () => { () => "failed over", }
    words {
        let since = unanswered_ns.map_or_else(String::new, |time| format!(" for {time}"));
        format!("carries new DATA from now on: {former} has not answered{since}")
    }

    /// The path MTU has changed: by a report of ICMP, by probes or by losses (RFC 8899).
    PathMtuChanged = "path_mtu_changed" {
        /// Address of the path.
        path: IpAddr,
        /// Longest packet from now on, in bytes, IP header included.
        mtu_bytes: u16,
        /// Longest packet before, in bytes.
        before_bytes: u16,
    }
    called () => { () => "path MTU changed", }
    words { format!("takes packets of {mtu_bytes} bytes at most, and took {before_bytes} before") }

    /// A message has been given up as its reliability asks (RFC 3758, RFC 7496). What was sent of it may have arrived.
    Abandoned = "abandoned" {
        /// Number of the message; left out for what has none.
        message: Option<u64>,
        /// Stream of the message.
        stream: u16,
        /// By which rule.
        policy: ReliabilityPolicy,
        /// True if a part of it had been sent.
        sent: bool,
    }
    called () => { () => "abandoned", }
    words { format!("a message of stream {stream} is given up") }

    /// The peer has reported something that is not fatal.
    PeerReported = "peer_reported" {
        /// Causes that the peer has reported.
        causes: String,
    }
    called () => { () => "error reported", }
    words { format!("the peer has reported {causes}") }

    /// The peer has begun anew.
    Restarted = "restarted" {}
    called () => { () => "restarted", }
    words { "the peer has begun anew" }

    /// The peer has begun to shut down.
    ShutdownReceived = "shutdown_received" {}
    called () => {}
    words { "the peer shuts down" }

    /// The rest of a message that the reader had a part of will never come: the peer has given it up, or the
    /// association ends or begins anew.
    PartialDeliveryAborted = "partial_delivery_aborted" {
        /// Stream of the message.
        stream: u16,
        /// Number of the message in its stream; left out if it is unordered.
        sequence: Option<u16>,
    }
    called () => {}
    words {
        let which = match sequence {
            Some(sequence) => format!("message {sequence} of stream {stream}"),
            None => format!("an unordered message of stream {stream}"),
        };
        format!("the rest of {which} will never come: its reader had a part")
    }

    /// The peer has answered a request of ours about streams (RFC 6525); also told if it is over without an answer.
    StreamsAnswered = "streams_answered" {
        /// Request that was answered.
        request: StreamRequest,
        /// The streams that it names, 256 at most; left out: all, or none.
        streams: Option<Vec<u16>>,
        /// Number of streams that it adds, if it does.
        count: Option<u16>,
        /// Answer of the peer.
        answer: StreamAnswer,
    }
    called answer => {
        StreamAnswer::Performed | StreamAnswer::NothingToDo => "request accepted",
        _ => "request refused",
    }
    words {
        let what = request_words(*request, streams.as_deref(), *count);
        format!("the request to {what} is answered: {}", answer_words(*answer))
    }

    /// Streams have been reset or added, by whosever request (RFC 6525).
    StreamsChanged = "streams_changed" {
        /// Change of the streams.
        change: StreamsStep,
        /// Streams that have changed, 256 at most; left out: all.
        streams: Option<Vec<u16>>,
        /// Number of streams on which we can send, if some were added.
        outbound_streams: Option<u16>,
        /// Number of streams on which the peer may send, if some were added.
        inbound_streams: Option<u16>,
    }
    called change => {
        StreamsStep::Added => "streams added",
        StreamsStep::AssociationReset => "association reset",
        StreamsStep::InboundReset | StreamsStep::OutboundReset => "streams reset",
    }
    words {
        let named = streams_words(streams.as_deref());
        match change {
            StreamsStep::Added => {
                let (outbound, inbound) = outbound_streams.zip(*inbound_streams).unwrap_or_default();
                format!("streams were added: {outbound} to send on, {inbound} for the peer")
            }
            StreamsStep::AssociationReset => "all streams and the TSNs begin again".to_owned(),
            StreamsStep::InboundReset => format!("the numbers of {named} that the peer sends on begin again"),
            StreamsStep::OutboundReset => format!("the numbers of {named} to send on begin again"),
        }
    }

    /// The peer has answered a request of ours about addresses (RFC 5061).
    AddressAnswered = "address_answered" {
        /// Request that was answered.
        request: AddressRequest,
        /// The address; left out for what is not known here.
        address: Option<IpAddr>,
        /// True if the peer has done it.
        accepted: bool,
    }
    called accepted => {
        true => "change accepted",
        false => "change refused",
    }
    words {
        let address = address.map_or_else(|| "an address".to_owned(), |address| address.to_string());
        let what = match request {
            AddressRequest::Add => format!("add {address}"),
            AddressRequest::Delete => format!("delete {address}"),
            AddressRequest::SetPrimary => format!("send to {address} from now on"),
            AddressRequest::Unknown => format!("do something with {address}"),
        };
        let answer = if *accepted { "has done so" } else { "refuses" };
        format!("the peer, asked to {what}, {answer}")
    }

    /// The peer has said something about its addresses (RFC 5061).
    PeerAddress = "peer_address" {
        /// Change of the address.
        change: PeerAddress,
        /// The address, by which its path is called.
        path: IpAddr,
    }
    called change => {
        PeerAddress::Added => "address added",
        PeerAddress::Removed => "address deleted",
        PeerAddress::Primary => "address preferred",
    }
    words {
        match change {
            PeerAddress::Added => "the peer has this address from now on",
            PeerAddress::Primary => "the peer wants DATA at this address",
            PeerAddress::Removed => "the peer has this address no more",
        }
    }

    /// The peer has said what its layer above is (RFC 5061, section 4.2.6).
    AdaptationLayer = "adaptation_layer" {
        /// Adaptation Code Point of the layer above.
        code: u32,
    }
    called () => { () => "adaptation layer", }
    words { format!("the peer's layer above has the code point {code}") }

    /// Chunks of the peer's are not authenticated as they should be (RFC 4895): what has come is dropped.
    NotAuthenticated = "not_authenticated" {
        /// The number of the peer's key; left out where the peer has not offered to authenticate any.
        key: Option<u16>,
        /// True if there is a key of that number here, which is another one; left out together with it.
        known: Option<bool>,
    }
    called key => {
        None => "not authenticated",
        Some(_) => "authentication failed",
    }
    words {
        match key {
            None => "the peer does not offer authentication".to_owned(),
            Some(key) => {
                let why = if *known == Some(true) { "is another one here" } else { "is not known here" };
                format!("what the peer authenticates is dropped: key {key} {why}, give both ends the same")
            }
        }
    }
}

impl Notice {
    /// Event for the layer above that tells this and nothing else.
    pub fn event(self) -> Event {
        Event::Notice(Box::new(self))
    }

    /// Value of a field; `None` if the event has none of that name.
    fn field(&self, name: &str) -> Option<Value> {
        self.fields().into_iter().find_map(|(field, value)| (field == name).then_some(value))
    }

    /// The peer's address by which the path is called that the event is about, if it is about one.
    pub fn path(&self) -> Option<IpAddr> {
        self.field("path").and_then(Field::of)
    }

    /// The first address that the event names, if it names one.
    pub fn address(&self) -> Option<IpAddr> {
        self.fields().into_iter().find_map(|(_, value)| match value {
            Value::Address(address) => Some(address),
            _ => None,
        })
    }

    /// Tells if the event is an answer of the peer's to a request of this end.
    pub const fn is_answer(&self) -> bool {
        matches!(self, Self::AddressAnswered { .. } | Self::StreamsAnswered { .. })
    }
}

/// Gives the words for a set of streams; `None`: all.
fn streams_words(streams: Option<&[u16]>) -> String {
    match streams {
        None | Some([]) => "all streams".to_owned(),
        Some([one]) => format!("stream {one}"),
        Some(several) => {
            const MOST: usize = 16;
            let named: Vec<String> = several.iter().take(MOST).map(u16::to_string).collect();
            let more = if several.len() > MOST { ", …" } else { "" };
            format!("streams {}{more}", named.join(", "))
        }
    }
}

fn request_words(request: StreamRequest, streams: Option<&[u16]>, count: Option<u16>) -> String {
    let (streams, count) = (streams_words(streams), count.unwrap_or_default());
    match request {
        StreamRequest::AddInbound => format!("let the peer send on {count} more streams"),
        StreamRequest::AddOutbound => format!("send on {count} more streams"),
        StreamRequest::ResetAssociation => "begin all streams and TSNs again".to_owned(),
        StreamRequest::ResetInbound => format!("begin {streams} again that the peer sends on"),
        StreamRequest::ResetOutbound => format!("begin {streams} again"),
    }
}

const fn answer_words(answer: StreamAnswer) -> &'static str {
    match answer {
        StreamAnswer::AlreadyInProgress => "another request is in its way",
        StreamAnswer::BadSequenceNumber => "its number was not the expected one",
        StreamAnswer::Denied => "denied",
        StreamAnswer::InProgress => "it is being done",
        StreamAnswer::NothingToDo => "there was nothing to do",
        StreamAnswer::Performed => "done",
        StreamAnswer::Unknown => "something that is not known here",
        StreamAnswer::WrongStream => "it names a stream that does not exist",
    }
}
