//! TCAP (ITU-T Q.771 to Q.774): transaction messages with their components, and the dialogues that carry operations.
//!
//! What an operation means is for its user: parameters and the dialogue portion stay octets.

mod ber;
mod component;
mod dialogues;
mod layout;
mod message;
mod primitive;
mod transaction;

pub use ber::{BerError, Element};
pub use component::{Code, Component, Problem};
pub use dialogues::Dialogues;
pub use layout::Layout;
pub use message::{AbortCause, Message, ParseError, TransactionId};
pub use primitive::{
    DialogueCounters, DialogueError, DialogueEvent, DialogueId, DialogueOutput, DialoguesConfig, Ending,
    Invocation, OperationClass,
};
pub use transaction::{TRANSACTION, TransactionAction, TransactionInput, TransactionState};
