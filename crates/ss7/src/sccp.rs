//! SCCP (ITU-T Q.711–Q.714): addresses and messages.

mod address;
mod codec;
mod management;
mod message;
mod optional;

pub use address::{Digits, DigitsError, GlobalTitle, PartyAddress};
pub use codec::TooLong;
pub use management::{Affected, ScmgMessage};
pub use message::{LocalReference, Message, ProtocolClass, Segmentation, SequencingSegmenting, Ssn};
pub use optional::{OptionalParameters, Parameter};
