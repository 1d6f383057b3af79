//! Command `slantpath gateway`: one point or process of a scenario's signalling network, on this machine's network.

mod check;
mod equipment;
mod explain;
mod kept;
mod operation;
pub(super) mod prepared;
mod reload;
mod serving;

use std::io::Write;

use slantpath_base::Duration;
use slantpath_runner::OwnKinds;

use crate::arguments::{GatewayArguments, GatewayQuestion};
use crate::failure::Failure;
pub(super) use kept::TraceFiles;
pub(super) use prepared::Prepared;
use reload::Reloads;
pub(super) use reload::{RELOAD, Reloaded, in_record, parsed};

/// Time that links have to leave traffic in order, and then associations to be shut down.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn gateway(
    arguments: &GatewayArguments,
    own: &OwnKinds,
    command: &[String],
    out: &mut impl Write,
) -> Result<(), Failure> {
    match &arguments.question {
        Some(GatewayQuestion::Check(seat)) => Ok(check::tell(&Prepared::of(seat, own, false)?, out)?),
        Some(GatewayQuestion::Explain(title)) => explain::explain(title, own, out),
        None => {
            let seat = arguments.seat.as_ref().ok_or_else(|| {
                Failure::Misused("name a scenario, and one of its points by `--point`".to_owned())
            })?;
            let outputs = &arguments.outputs;
            let prepared = Prepared::of(seat, own, outputs.trace.is_some())?;
            let reloads = Reloads::listen(seat, own, outputs, command);
            serving::serve(&prepared, reloads, outputs, &arguments.operation, command, out)
        }
    }
}
