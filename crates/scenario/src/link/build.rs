//! Configuration in `net` of a direction of a link.

use slantpath_net::{Delay, DirectionConfig, Reordering, SendingConfig};

use super::conditioning;
use super::schema::LinkParameters;
use crate::access;
use crate::flow::trace::Traces;
use crate::schema::File;

/// The configuration of a direction whose link carries packets of at most `mtu_bytes`.
pub(crate) fn direction(
    file: &File,
    parameters: &LinkParameters,
    mtu_bytes: u32,
    traces: &Traces,
) -> DirectionConfig {
    let whole = "a check completes every link";
    let rate = access::build::rate(&file.access, parameters).expect(whole);
    let mut config = parameters.port.direction(rate, mtu_bytes);
    config.conditioner = conditioning::rules(file, &parameters.port.conditioners);
    parameters.channel.configure(&mut config);
    // None of these is there beside another: they are checked.
    let access = parameters.access.as_ref();
    if let Some(frames) = access.and_then(|access| access::build::frames(&file.access, &access.0)) {
        config.sending = SendingConfig::InFrames(frames);
    }
    if let Some(shaper) = &parameters.shaper {
        config.sending = SendingConfig::Shaped(shaper.0.config());
    }
    config.delay = match (&parameters.delay, &parameters.delay_trace) {
        (Some(delay), _) => Delay::Constant(**delay),
        (None, trace) => Delay::Curve(traces.delays[trace.as_ref().expect(whole).file.as_str()].clone()),
    };
    config.duplication = *parameters.duplicate;
    config.reordering =
        Reordering { probability: *parameters.reorder, extra_delay_max: *parameters.reorder_delay };
    config.while_down = parameters.while_down.policy();
    config
}
