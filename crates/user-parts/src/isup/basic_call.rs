//! Parameters that an exchange sends for a basic call (Q.763, section 3): speech between ordinary subscribers over a
//! terrestrial circuit.

use bytes::Bytes;

use super::layout::ParameterCode;
use super::message::Parameter;
use super::number::{CalledPartyNumber, CallingPartyNumber};

/// Cause value 102 of Q.850: recovery on timer expiry.
pub(super) const RECOVERY_ON_TIMER_EXPIRY: u8 = 102;

/// The mandatory parameters of an IAM: no satellite, no continuity check; a national call, ISDN user part preferred;
/// an ordinary subscriber; speech.
pub(super) fn initial_address(called: &CalledPartyNumber) -> Vec<Parameter> {
    let mut number = Vec::new();
    called.emit(&mut number);
    vec![
        parameter(ParameterCode::NATURE_OF_CONNECTION, &[0]),
        parameter(ParameterCode::FORWARD_CALL, &[0x20, 0x01]),
        parameter(ParameterCode::CALLING_PARTY_CATEGORY, &[0x0a]),
        parameter(ParameterCode::TRANSMISSION_MEDIUM, &[0]),
        parameter(ParameterCode::CALLED_PARTY_NUMBER, &number),
    ]
}

/// The optional parameters of an IAM of a caller who has a number.
pub(super) fn calling_party(calling: &CallingPartyNumber) -> Vec<Parameter> {
    let mut number = Vec::new();
    calling.emit(&mut number);
    vec![parameter(ParameterCode::CALLING_PARTY_NUMBER, &number)]
}

/// The mandatory parameter of ACM and CON: no indication; charge; subscriber free; ordinary subscriber; ISDN user part
/// all the way.
pub(super) fn backward_call() -> Vec<Parameter> {
    vec![parameter(ParameterCode::BACKWARD_CALL, &[0x16, 0x04])]
}

/// The mandatory parameter of REL: ITU-T coding, from the network beyond the interworking point; the cause value with
/// its last-octet bit.
pub(super) fn cause(value: u8) -> Vec<Parameter> {
    vec![parameter(ParameterCode::CAUSE, &[0x8a, value | 0x80])]
}

fn parameter(code: ParameterCode, value: &[u8]) -> Parameter {
    Parameter { code, value: Bytes::copy_from_slice(value) }
}
