//! Command `slantpath gateway`: one point or process of a scenario's signalling network, on this machine's network.

mod check;
mod explain;
mod prepared;
mod serving;

use std::io::Write;

use slantpath_base::Duration;

use crate::arguments::{GatewayArguments, GatewayQuestion};
use crate::failure::Failure;
use prepared::Prepared;

/// Time that links have to leave traffic in order, and then associations to be shut down.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn gateway(arguments: &GatewayArguments, out: &mut impl Write) -> Result<(), Failure> {
    match &arguments.question {
        Some(GatewayQuestion::Check(seat)) => Ok(check::tell(&Prepared::of(seat)?, out)?),
        Some(GatewayQuestion::Explain(title)) => explain::explain(title, out),
        None => {
            let seat = arguments.seat.as_ref().ok_or_else(|| {
                Failure::Misused("name a scenario, and one of its points by `--point`".to_owned())
            })?;
            serving::serve(&Prepared::of(seat)?, out)
        }
    }
}
