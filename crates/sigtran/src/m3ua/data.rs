//! DATA (RFC 4666, section 3.3.1), which is nearly all that is ever sent: read in one pass and written in one.

use bytes::{BufMut, Bytes};
use slantpath_wire::{Reader, tlv};

use crate::common::{self, HEADER_LEN, MessageKind, MessageParseError, tag as shared};
use crate::m3ua::ProtocolData;
use crate::m3ua::message::tag;

/// A message of a user part, with what routes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// The network that the point codes belong to.
    pub network_appearance: Option<u32>,
    /// The application server.
    pub routing_context: Option<u32>,
    /// Message of the user part, with its routing label.
    pub protocol_data: ProtocolData,
    /// In broadcast mode, a number for the first message that a new ASP gets of each flow.
    pub correlation_id: Option<u32>,
}

/// Class and type of DATA.
pub(super) const KIND: MessageKind = MessageKind { class: 1, kind: 1 };

/// Octets of Protocol Data before the user part's.
const LABEL_LEN: usize = 12;

/// A parameter of 32 bits with its header.
const NUMBER_LEN: usize = 8;

impl Data {
    /// Reads a DATA message from its version on; the user part's octets stay where they are.
    ///
    /// # Errors
    /// If it is another message, or malformed.
    pub fn parse(octets: &Bytes) -> Result<Self, MessageParseError> {
        let (kind, parameters) = common::header(octets)?;
        if kind != KIND {
            return Err(MessageParseError::UnsupportedType(kind));
        }
        let (mut network_appearance, mut routing_context, mut correlation_id) = (None, None, None);
        let mut protocol_data = None;
        let mut reader = Reader::new(parameters);
        while let Some(field) = common::next_parameter(&mut reader)? {
            let number = match field.kind {
                tag::PROTOCOL_DATA => {
                    protocol_data.get_or_insert(field.value);
                    continue;
                }
                tag::NETWORK_APPEARANCE => &mut network_appearance,
                shared::ROUTING_CONTEXT => &mut routing_context,
                shared::CORRELATION_ID => &mut correlation_id,
                _ => continue,
            };
            let value =
                field.value.try_into().map_err(|_| MessageParseError::InvalidParameterValue(field.kind))?;
            number.get_or_insert(u32::from_be_bytes(value));
        }
        let value = protocol_data.ok_or(MessageParseError::MissingParameter(tag::PROTOCOL_DATA))?;
        let protocol_data = ProtocolData::parse(&octets.slice_ref(value))?;
        Ok(Self { network_appearance, routing_context, protocol_data, correlation_id })
    }

    /// Gives the number of octets that [`Data::write`] appends.
    pub fn len(&self) -> usize {
        let numbers = [self.network_appearance, self.routing_context, self.correlation_id];
        let value = 4 + LABEL_LEN + self.protocol_data.user_data.len();
        HEADER_LEN + NUMBER_LEN * numbers.iter().flatten().count() + value + tlv::padding(value)
    }

    /// Tells whether the message has no octets, which none has.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Appends the message from its version on.
    ///
    /// # Panics
    /// If the user part's octets do not fit a parameter: there are at most 65,519.
    pub fn write(&self, out: &mut impl BufMut) {
        let Self { network_appearance, routing_context, protocol_data, correlation_id } = self;
        out.put_slice(&[1, 0, KIND.class, KIND.kind]);
        out.put_u32(u32::try_from(self.len()).expect("a message is shorter than 4 GiB"));
        let number = |tag: u16, value: Option<u32>, out: &mut _| {
            if let Some(value) = value {
                put_number(tag, value, out);
            }
        };
        number(tag::NETWORK_APPEARANCE, *network_appearance, out);
        number(shared::ROUTING_CONTEXT, *routing_context, out);
        let value = 4 + LABEL_LEN + protocol_data.user_data.len();
        out.put_u16(tag::PROTOCOL_DATA);
        out.put_u16(u16::try_from(value).expect("a TLV is at most 65,535 bytes long"));
        protocol_data.write(out);
        out.put_bytes(0, tlv::padding(value));
        number(shared::CORRELATION_ID, *correlation_id, out);
    }
}

fn put_number(tag: u16, value: u32, out: &mut impl BufMut) {
    out.put_u16(tag);
    out.put_u16(8);
    out.put_u32(value);
}
