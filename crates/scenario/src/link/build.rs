//! What `net` makes of a direction of a link.

use slantpath_net::{Delay, DirectionConfig, QueueConfig, QueueLimit, Reordering};

use super::arq::Arq;
use super::conditioner;
use super::discipline::Discipline;
use super::gilbert_elliott::GilbertElliott;
use super::header_compression::HeaderCompression;
use super::schema::{LinkDelay, LinkParameters};
use super::shaper::Shaper;
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
    let rate = access::build::rate(file, parameters);
    let direction = rate.and_then(|rate| parameters.complete(rate)).expect("a check completes every link");
    DirectionConfig {
        conditioner: conditioner::rules(file, &parameters.conditioners),
        rate: direction.rate,
        frames: parameters.access.as_ref().and_then(|access| access::build::frames(file, &access.0)),
        overhead_bytes: u32::try_from(direction.overhead.as_bytes()).unwrap_or(u32::MAX),
        delay: match &direction.delay {
            LinkDelay::Constant(delay) => Delay::Constant(*delay),
            LinkDelay::Trace(name) => Delay::Curve(traces.delays[name].clone()),
        },
        queue: queue(direction.queue, direction.discipline.as_ref()),
        shaper: direction.shaper.as_ref().map(Shaper::config),
        mtu_bytes,
        is_mtu_reported: true,
        loss: direction.loss,
        bit_errors: direction.bit_error_rate,
        bursts: direction.gilbert_elliott.as_ref().map(GilbertElliott::config),
        duplication: direction.duplicate,
        reordering: Reordering { probability: direction.reorder, extra_delay_max: direction.reorder_delay },
        arq: direction.arq.as_ref().map(Arq::config),
        header_compression: direction.header_compression.as_ref().map(HeaderCompression::config),
        while_down: direction.while_down,
    }
}

/// A queue of a discipline, first in and first out if there is none.
pub(crate) fn queue(limit: QueueLimit, discipline: Option<&Discipline>) -> QueueConfig {
    discipline.map_or(QueueConfig::DropTail(limit), |discipline| discipline.config(limit))
}
