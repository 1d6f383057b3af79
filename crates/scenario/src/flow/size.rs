//! Sizes that messages of a flow may have.

use slantpath_base::DataSize;
use slantpath_reader::Fault;

/// A message carries its number and its length.
pub(crate) const LEAST_MESSAGE: DataSize = DataSize::from_bytes(8);

/// The longest message that a flow sends.
const LARGEST_MESSAGE: DataSize = DataSize::from_bytes(65_536);

/// Why no message can have this size.
pub(crate) fn message_size(size: DataSize) -> Result<(), Fault> {
    if (LEAST_MESSAGE..=LARGEST_MESSAGE).contains(&size) {
        return Ok(());
    }
    let help = format!("a message has between {LEAST_MESSAGE} and {LARGEST_MESSAGE}; the first 8 name it");
    Err(Fault::new(format!("no message has {size}")).help(help))
}
