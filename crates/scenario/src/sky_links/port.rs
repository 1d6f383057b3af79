//! Port of a direction of a link of the sky, which a satellite that only repeats does not have.

use slantpath_reader::{
    Complete, Finish, MergedOutput, ObjectSchema, Open, Section, Stage, TableReader, Tables, WriteFields,
    WriteMember, Written,
};

use crate::link::conditioner::Conditioner;
use crate::link::port::Port;

/// Port of a direction of a link of the sky, with the keys of any port.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a file has few, and nearly all of them send")]
pub enum SkyPort<S: Stage = Complete> {
    /// A transmitter with its queue.
    Sends(Port<S>),
    /// A satellite repeats what another transmitter sends. Packets are conditioned all the same.
    Repeats(Tables<Conditioner>),
}

impl<S: Stage> SkyPort<S> {
    /// The transmitter with its queue, if there is one.
    pub const fn transmitter(&self) -> Option<&Port<S>> {
        match self {
            Self::Sends(port) => Some(port),
            Self::Repeats(_) => None,
        }
    }

    /// The transmitter with its queue, if there is one, to be completed.
    pub(crate) const fn transmitter_mut(&mut self) -> Option<&mut Port<S>> {
        match self {
            Self::Sends(port) => Some(port),
            Self::Repeats(_) => None,
        }
    }

    /// Rules by which packets are conditioned.
    pub const fn conditioners(&self) -> &Tables<Conditioner> {
        match self {
            Self::Sends(port) => &port.conditioners,
            Self::Repeats(conditioners) => conditioners,
        }
    }
}

impl<S: Stage> WriteFields for SkyPort<S> {
    fn write_fields(&self, output: &mut MergedOutput) {
        match self {
            Self::Sends(port) => port.write_fields(output),
            Self::Repeats(conditioners) => conditioners.write(output, "conditioners"),
        }
    }
}

impl Section for SkyPort<Written> {
    const ABOUT: &'static str = <Port<Written>>::ABOUT;
    const REFUSED: &'static [(&'static str, &'static str)] = <Port<Written>>::REFUSED;

    fn names() -> Vec<&'static str> {
        <Port<Written>>::names()
    }

    fn read_fields(reader: &mut TableReader<'_>) -> Option<Self> {
        Port::read_fields(reader).map(Self::Sends)
    }

    fn schema_fields(schema: &mut ObjectSchema) {
        <Port<Written>>::schema_fields(schema);
    }
}

impl Finish for SkyPort<Written> {
    type Finished = SkyPort;

    fn finish(self) -> Result<SkyPort, Open> {
        Ok(match self {
            Self::Sends(port) => SkyPort::Sends(port.finish()?),
            Self::Repeats(conditioners) => SkyPort::Repeats(conditioners),
        })
    }
}
