//! ISUP (ITU-T Q.763, Q.764): the messages of basic call control, and the life of one circuit.

mod basic_call;
mod circuit;
mod circuit_state;
mod layout;
mod message;
mod number;

pub use circuit::{Circuit, CircuitCommand, CircuitConfig, CircuitCounters, CircuitEvent, CircuitOutput};
pub use circuit_state::{CIRCUIT, CircuitAction, CircuitInput, CircuitState};
pub use layout::{MessageType, ParameterCode};
pub use message::{CircuitIdentification, EmitError, Message, Parameter, ParseError};
pub use number::{CalledPartyNumber, CallingPartyNumber, NumberError};
