//! Command `slantpath traffic`: the users of a scenario's signalling network, on this machine's network.

mod beside;
mod prepared;
mod serving;

use std::io::Write;

use slantpath_runner::OwnKinds;

use crate::arguments::TrafficArguments;
use crate::failure::Failure;
use beside::Beside;
use prepared::PreparedTraffic;

pub(crate) fn traffic(
    arguments: &TrafficArguments,
    own: &OwnKinds,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let beside = arguments.like.as_deref().map(Beside::read).transpose()?;
    let prepared = PreparedTraffic::of(arguments, own)?;
    serving::serve(&prepared, arguments, beside.as_ref(), out)
}
