//! `access`: what terminals had to send, asked for and had, whenever they looked.

use slantpath_base::Instant;
use slantpath_net::LinkEnd;
use slantpath_results::Table;
use slantpath_scenario::build::{RunNetwork, rate_of};

use crate::columns::{Count, Number, Text, columns};
use crate::output::TableKind;
use crate::scenario::Scenario;

columns! {
    /// Columns of `access`.
    pub(super) struct Columns {
        /// Time at which the terminal looked.
        at_s: Number,
        /// Name of the access system.
        system: Text,
        /// Name of the link.
        link: Text,
        /// Direction: `forward` or `reverse`.
        direction: Text,
        /// Bytes offered since it looked before, with `link_overhead`.
        offered_bytes: Count,
        /// Bytes to be sent, with `link_overhead`.
        backlog_bytes: Count,
        /// Rate that it asks for by now; of one that asks for volumes, the rate that it has.
        asked_bit_per_s: Count,
        /// Rate that it has.
        allocated_bit_per_s: Count,
        /// Requests that it has sent since it looked before.
        requests: Count,
        /// Requests of these that met another in their room and were not heard.
        collided: Count,
    }
}

/// Rows that terminals of a system have reported since this was last called, from the end of the warm-up on. `None` for
/// a system without a frame.
pub(super) fn rows(scenario: &Scenario, network: &mut RunNetwork<'_>, system: usize) -> Option<Table> {
    let begin = Instant::START + *scenario.scenario.warm_up;
    let (name, keys) = scenario.access.iter().nth(system)?;
    let frame = keys.frame_config()?;
    let samples = network.source_mut().systems_mut()[system].take_samples();
    let mut columns = Columns::new();
    for sample in samples.into_iter().filter(|sample| sample.at >= begin) {
        columns.at_s.push_instant(sample.at);
        columns.system.push(name);
        columns.link.push(network.graph().link_name(sample.direction.sender().link()));
        columns.direction.push(sample.direction.name());
        columns.offered_bytes.push(sample.offered_bytes);
        columns.backlog_bytes.push(sample.backlog_bytes);
        columns.asked_bit_per_s.push(rate_of(&frame, sample.asked_slots).as_bits_per_sec());
        columns.allocated_bit_per_s.push(rate_of(&frame, sample.slots).as_bits_per_sec());
        columns.requests.push(u64::from(sample.requests));
        columns.collided.push(u64::from(sample.collided));
    }
    Some(columns.finish(TableKind::Access)).filter(|rows| rows.rows() > 0)
}
