//! Configuration in `net` of a direction of a link.

use slantpath_net::{DirectionConfig, Reordering, SendingConfig};

use super::conditioning;
use super::schema::LinkParameters;
use crate::access;
use crate::schema::File;

/// The configuration of a direction whose link carries packets of at most `mtu_bytes`.
pub(crate) fn direction(file: &File, parameters: &LinkParameters, mtu_bytes: u32) -> DirectionConfig {
    let mut config = parameters.port.direction(mtu_bytes);
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
    config.delay = parameters.propagation.0.clone();
    config.duplication = *parameters.duplicate;
    config.reordering =
        Reordering { probability: *parameters.reorder, extra_delay_max: *parameters.reorder_delay };
    config.while_down = parameters.while_down.policy();
    config
}
