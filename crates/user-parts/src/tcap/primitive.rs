//! Primitives between TCAP and its user, and the counters of its dialogues (Q.771).

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_ss7::sccp::PartyAddress;

use super::component::{Code, Component};
use super::message::AbortCause;
use super::transaction::TransactionState;

/// Classes of operations, by the outcomes that they report (Q.771, section 2.3.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationClass {
    /// 1: success and failure.
    Both,
    /// 2: failure only.
    FailureOnly,
    /// 3: success only.
    SuccessOnly,
    /// 4: neither success nor failure.
    Neither,
}

/// An operation to be invoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Number of the invocation, of the user's choice and unique within the dialogue.
    pub invoke: i8,
    /// Invocation of the peer's that it belongs to, if any.
    pub linked: Option<i8>,
    /// Operation that is asked for.
    pub operation: Code,
    /// Argument of the operation: one element, or nothing.
    pub parameter: Bytes,
    /// Class of the operation: the outcomes that it reports.
    pub class: OperationClass,
    /// Time for which its outcome is awaited.
    pub timeout: Duration,
}

/// Ways in which a dialogue ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a message and these components.
    Basic(Vec<Component>),
    /// As both ends have agreed, without a message.
    Prearranged,
    /// By an abort of the user's, with this dialogue portion.
    Abort(Option<Bytes>),
}

/// A dialogue, by the identifier that this end gave its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DialogueId(pub u32);

/// Parameters of a user's dialogues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialoguesConfig {
    /// Address of this user.
    pub local: PartyAddress,
    /// Most dialogues at a time: a peer's beyond them is aborted, an own one refused.
    pub max_dialogues: usize,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DialogueError {
    /// There are as many dialogues as the configuration allows.
    #[error("there are {0} dialogues: end one first, or allow more")]
    TooMany(usize),
    /// There is no such dialogue.
    #[error("there is no dialogue {}", .0.0)]
    Unknown(DialogueId),
    /// The state of the transaction has no room for it.
    #[error("dialogue {} cannot do that while its transaction is {state:?}", .dialogue.0)]
    NotNow {
        /// Dialogue of the request.
        dialogue: DialogueId,
        /// State of its transaction.
        state: TransactionState,
    },
    /// An invocation of that number waits for its outcome.
    #[error("invocation {0} of the dialogue is under way: choose another number")]
    InvocationInUse(i8),
}

/// Indications to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialogueEvent {
    /// The peer begins.
    Begin {
        /// Dialogue that begins.
        dialogue: DialogueId,
        /// Address of the peer.
        from: PartyAddress,
        /// Dialogue portion of the peer's message.
        portion: Option<Bytes>,
        /// Components of the peer's message.
        components: Vec<Component>,
    },
    /// The peer goes on.
    Continue(DialogueId, Vec<Component>),
    /// The peer has ended it.
    End(DialogueId, Vec<Component>),
    /// The peer's TCAP has aborted it, or ours has, since a message of it was none.
    ProviderAbort(DialogueId, AbortCause),
    /// The peer's user has aborted it.
    UserAbort(DialogueId, Option<Bytes>),
    /// An invocation's time is over: a failure for classes that report success, else a success.
    Cancelled(DialogueId, i8),
    /// Components without a dialogue.
    Unidirectional(PartyAddress, Vec<Component>),
}

/// Outputs of the dialogues, for their driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialogueOutput {
    /// For the user.
    Event(DialogueEvent),
    /// Unitdata for SCCP.
    Send {
        /// Address that the message goes to.
        called: PartyAddress,
        /// Octets of the message.
        octets: Bytes,
    },
    /// Nothing until then.
    Wait(Option<Instant>),
}

/// Counts of what was discarded or answered with an abort, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialogueCounters {
    /// Messages that are none, with no transaction to abort.
    pub discarded_malformed: u64,
    /// Messages that are none, of a transaction that was aborted: at the peer, here, or at both.
    pub aborted_malformed: u64,
    /// Messages of a transaction that is not known, answered with an abort where they name theirs.
    pub unknown_transaction: u64,
    /// Begins beyond the limit.
    pub aborted_resources: u64,
    /// Results, errors and rejects of no invocation under way: dropped and, but for rejects, rejected.
    pub unknown_invocation: u64,
}
