//! ISUP (ITU-T Q.763, Q.764): the messages of basic call control, and the life of one circuit.

mod circuit;
mod layout;
mod message;
mod number;

pub use circuit::{
    CIRCUIT, Circuit, CircuitAction, CircuitCommand, CircuitConfig, CircuitCounters, CircuitEvent,
    CircuitInput, CircuitOutput, CircuitState,
};
pub use layout::{MessageType, ParameterCode};
pub use message::{CircuitIdentification, EmitError, Message, Parameter, ParseError};
pub use number::{CalledPartyNumber, CallingPartyNumber, NumberError};
