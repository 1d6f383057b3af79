//! The optional part of SCCP messages (Q.713, sections 1.8 and 3).

use slantpath_wire::{Reader, WireError};

use crate::sccp::TooLong;

/// One optional parameter as it stands: name code and value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Parameter name code.
    pub name: u8,
    /// Octets of the parameter, at most 255.
    pub value: Vec<u8>,
}

impl Parameter {
    /// Called party address.
    pub const CALLED: u8 = 3;
    /// Calling party address.
    pub const CALLING: u8 = 4;
    /// Name code of the credit.
    pub const CREDIT: u8 = 9;
    /// Name code of the data.
    pub const DATA: u8 = 15;
    /// Name code of the segmentation.
    pub const SEGMENTATION: u8 = 16;
    /// Name code of the hop counter.
    pub const HOP_COUNTER: u8 = 17;
    /// Name code of the importance.
    pub const IMPORTANCE: u8 = 18;
}

/// The optional parameters of a message, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionalParameters(pub Vec<Parameter>);

/// The name code that ends the optional part.
const END_OF_OPTIONAL_PARAMETERS: u8 = 0;

impl OptionalParameters {
    /// The value of the first parameter of that name.
    pub fn value(&self, name: u8) -> Option<&[u8]> {
        self.0.iter().find(|parameter| parameter.name == name).map(|parameter| &parameter.value[..])
    }

    /// Tells if there is no parameter.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads parameters up to their end mark. An absent end mark is an error.
    pub(crate) fn parse(octets: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(octets);
        let mut parameters = Vec::new();
        loop {
            let name = reader.u8()?;
            if name == END_OF_OPTIONAL_PARAMETERS {
                return Ok(Self(parameters));
            }
            let len = usize::from(reader.u8()?);
            parameters.push(Parameter { name, value: reader.take(len)?.to_vec() });
        }
    }

    pub(crate) fn emit(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        for Parameter { name, value } in &self.0 {
            let len = u8::try_from(value.len()).map_err(|_| TooLong { len: value.len() })?;
            out.extend_from_slice(&[*name, len]);
            out.extend_from_slice(value);
        }
        out.push(END_OF_OPTIONAL_PARAMETERS);
        Ok(())
    }
}
