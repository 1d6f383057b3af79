//! `access`: what terminals had to send, asked for and had, whenever they looked.

use slantpath_base::Instant;
use slantpath_net::LinkEnd;
use slantpath_results::{Table, TextColumn, TypedColumn};

use super::schema::rate_of;
use crate::network::source::RunNetwork;
use crate::output::TableKind;
use crate::scenario::Scenario;

/// Rows from the end of the warm-up on.
pub(crate) fn table(scenario: &Scenario, network: &mut RunNetwork<'_>) -> Table {
    let begin = Instant::START + *scenario.scenario.warm_up;
    let mut at = TypedColumn::<f64>::new("at_s");
    let [mut name, mut link, mut direction] = ["system", "link", "direction"].map(TextColumn::new);
    let [mut offered, mut backlog] = ["offered_bytes", "backlog_bytes"].map(TypedColumn::<u64>::new);
    let [mut asked, mut allocated] = ["asked_bit_per_s", "allocated_bit_per_s"].map(TypedColumn::<u64>::new);
    let [mut requests, mut collided] = ["requests", "collided"].map(TypedColumn::<u64>::new);
    let systems: Vec<_> = scenario.access.iter().collect();
    for (place, (system_name, system)) in systems.iter().enumerate() {
        let Some(frame) = system.frame_config() else { continue };
        let samples = network.source_mut().systems_mut()[place].take_samples();
        for sample in samples.into_iter().filter(|sample| sample.at >= begin) {
            at.push_instant(sample.at);
            name.push(system_name);
            link.push(network.graph().link_name(sample.direction.sender().link()));
            direction.push(sample.direction.name());
            offered.push(sample.offered_bytes);
            backlog.push(sample.backlog_bytes);
            asked.push(rate_of(&frame, sample.asked_slots).as_bits_per_sec());
            allocated.push(rate_of(&frame, sample.slots).as_bits_per_sec());
            requests.push(u64::from(sample.requests));
            collided.push(u64::from(sample.collided));
        }
    }
    TableKind::Access.table([
        at.into(),
        name.into(),
        link.into(),
        direction.into(),
        offered.into(),
        backlog.into(),
        asked.into(),
        allocated.into(),
        requests.into(),
        collided.into(),
    ])
}
