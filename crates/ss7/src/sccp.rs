//! SCCP (ITU-T Q.711–Q.714): addresses, messages, global title translation.

mod address;
mod codec;
pub mod gtt;
mod management;
mod message;
mod optional;

pub use address::{Digits, DigitsError, GlobalTitle, PartyAddress, TitleAttributes};
pub use codec::TooLong;
pub use management::{Affected, ScmgMessage};
pub use message::{LocalReference, Message, ProtocolClass, Segmentation, SequencingSegmenting, Ssn};
pub use optional::{OptionalParameters, Parameter};
