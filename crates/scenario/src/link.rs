//! Links of the packet network: their keys, what must hold between them, and what `net` makes of them.

pub(crate) mod arq;
pub(crate) mod build;
pub(crate) mod channel;
pub(crate) mod check;
pub(crate) mod conditioner;
pub(crate) mod conditioning;
pub(crate) mod delay_trace;
pub(crate) mod discipline;
pub(crate) mod fade_step;
pub(crate) mod fade_trace;
pub(crate) mod gilbert_elliott;
pub(crate) mod header_compression;
mod mahimahi;
pub(crate) mod own_discipline;
pub(crate) mod port;
pub(crate) mod queue_size;
pub(crate) mod schema;
pub(crate) mod shaper;
pub(crate) mod trace;
pub(crate) mod wan_emulator;
pub(crate) mod wiring;
