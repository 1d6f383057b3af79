//! What a TCAP user asks for and is given, and what its dialogues keep count of (Q.771).

use bytes::Bytes;
use slantpath_base::{Duration, Instant};

use super::component::{Code, Component};
use super::message::AbortCause;
use super::transaction::TransactionState;
use crate::sccp::PartyAddress;

/// Which outcome an operation reports (Q.771, section 2.3.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationClass {
    /// 1: success and failure.
    Both,
    /// 2: failure only.
    FailureOnly,
    /// 3: success only.
    SuccessOnly,
    /// 4: neither.
    Neither,
}

/// An operation to be invoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Its number, of the user's choice and unique within the dialogue.
    pub invoke: i8,
    /// Which invocation of the peer's it belongs to.
    pub linked: Option<i8>,
    /// What is asked for.
    pub operation: Code,
    /// Its argument: one element, or nothing.
    pub parameter: Bytes,
    /// What it reports.
    pub class: OperationClass,
    /// How long its outcome is waited for.
    pub timeout: Duration,
}

/// How a dialogue ends.
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

/// Parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialoguesConfig {
    /// This user's address.
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
        /// Which.
        dialogue: DialogueId,
        /// Its state.
        state: TransactionState,
    },
    /// An invocation of that number waits for its outcome.
    #[error("invocation {0} of the dialogue is under way: choose another number")]
    InvocationInUse(i8),
}

/// What is indicated to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialogueEvent {
    /// The peer begins.
    Begin {
        /// The dialogue.
        dialogue: DialogueId,
        /// Who.
        from: PartyAddress,
        /// Its dialogue portion.
        portion: Option<Bytes>,
        /// Its components.
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

/// What the dialogues want.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialogueOutput {
    /// For the user.
    Event(DialogueEvent),
    /// Unitdata for SCCP.
    Send {
        /// To whom.
        called: PartyAddress,
        /// The message.
        octets: Bytes,
    },
    /// Nothing until then.
    Wait(Option<Instant>),
}

/// What was discarded or answered with an abort, by reason.
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
