//! SCCP messages (Q.713, section 4): mandatory fixed parts, pointers, mandatory variable parts, optional parts.

use crate::sccp::{OptionalParameters, PartyAddress};

/// A subsystem number: the SCCP user. 1 is SCCP management, 6 the HLR, 7 the VLR, 8 the MSC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ssn(pub u8);

/// A reference that one end of a connection gave it, 24 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocalReference(pub u32);

/// Protocol class 0 to 3, and for connectionless classes the message handling field in the high half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolClass {
    /// 0 basic connectionless, 1 in sequence, 2 basic connection-oriented, 3 with flow control.
    pub class: u8,
    /// Message handling: 8 asks to return the message on error.
    pub handling: u8,
}

/// The sequencing/segmenting parameter of class 3 (Q.713, section 3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequencingSegmenting {
    /// P(S), 7 bits.
    pub send: u8,
    /// P(R), 7 bits.
    pub receive: u8,
    /// True if more segments follow.
    pub more: bool,
}

/// The segmentation parameter of XUDT and LUDT (Q.713, section 3.17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segmentation {
    /// True for the first segment.
    pub first: bool,
    /// Class 1 asked for: in sequence.
    pub in_sequence: bool,
    /// Segments that are still to come, 0 to 15.
    pub remaining: u8,
    /// Reference that ties the segments together.
    pub reference: LocalReference,
}

/// A message, by its name. Addresses are parsed; optional parts are kept in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the parameters of Q.713, section 4, by their names")]
pub enum Message {
    /// Connection request message.
    Cr { source: LocalReference, class: ProtocolClass, called: PartyAddress, optional: OptionalParameters },
    /// Connection confirm message.
    Cc {
        destination: LocalReference,
        source: LocalReference,
        class: ProtocolClass,
        optional: OptionalParameters,
    },
    /// Connection refused message.
    Cref { destination: LocalReference, cause: u8, optional: OptionalParameters },
    /// Released message: the sender ends the connection.
    Rlsd { destination: LocalReference, source: LocalReference, cause: u8, optional: OptionalParameters },
    /// Release complete message.
    Rlc { destination: LocalReference, source: LocalReference },
    /// Data form 1, class 2.
    Dt1 { destination: LocalReference, more: bool, data: Vec<u8> },
    /// Data form 2, class 3.
    Dt2 { destination: LocalReference, sequencing: SequencingSegmenting, data: Vec<u8> },
    /// Data acknowledgement, class 3.
    Ak { destination: LocalReference, receive: u8, credit: u8 },
    /// Unitdata message of basic form.
    Udt { class: ProtocolClass, called: PartyAddress, calling: PartyAddress, data: Vec<u8> },
    /// Unitdata service: a UDT that came back.
    Udts { cause: u8, called: PartyAddress, calling: PartyAddress, data: Vec<u8> },
    /// Expedited data, class 3.
    Ed { destination: LocalReference, data: Vec<u8> },
    /// Expedited data acknowledgement.
    Ea { destination: LocalReference },
    /// Reset request message.
    Rsr { destination: LocalReference, source: LocalReference, cause: u8 },
    /// Reset confirm message.
    Rsc { destination: LocalReference, source: LocalReference },
    /// Protocol data unit error.
    Err { destination: LocalReference, cause: u8 },
    /// Inactivity test message.
    It {
        destination: LocalReference,
        source: LocalReference,
        class: ProtocolClass,
        sequencing: SequencingSegmenting,
        credit: u8,
    },
    /// Extended unitdata message.
    Xudt {
        class: ProtocolClass,
        hop_counter: u8,
        called: PartyAddress,
        calling: PartyAddress,
        data: Vec<u8>,
        optional: OptionalParameters,
    },
    /// Extended unitdata service.
    Xudts {
        cause: u8,
        hop_counter: u8,
        called: PartyAddress,
        calling: PartyAddress,
        data: Vec<u8>,
        optional: OptionalParameters,
    },
    /// Long unitdata message.
    Ludt {
        class: ProtocolClass,
        hop_counter: u8,
        called: PartyAddress,
        calling: PartyAddress,
        data: Vec<u8>,
        optional: OptionalParameters,
    },
    /// Long unitdata service.
    Ludts {
        cause: u8,
        hop_counter: u8,
        called: PartyAddress,
        calling: PartyAddress,
        data: Vec<u8>,
        optional: OptionalParameters,
    },
}
