//! `access`: what terminals had to send, asked for and had, whenever they looked.

use slantpath_base::Instant;
use slantpath_net::LinkEnd;
use slantpath_results::{Table, TextColumn, TypedColumn};
use slantpath_scenario::build::{RunNetwork, rate_of};

use crate::output::TableKind;
use crate::scenario::Scenario;

/// Columns of the table.
pub(super) struct Rows {
    at: TypedColumn<f64>,
    texts: [TextColumn; 3],
    counts: [TypedColumn<u64>; 6],
}

impl Default for Rows {
    fn default() -> Self {
        let counts = [
            "offered_bytes",
            "backlog_bytes",
            "asked_bit_per_s",
            "allocated_bit_per_s",
            "requests",
            "collided",
        ];
        Self {
            at: TypedColumn::new("at_s"),
            texts: ["system", "link", "direction"].map(TextColumn::new),
            counts: counts.map(TypedColumn::new),
        }
    }
}

impl Rows {
    pub(super) fn table(self) -> Table {
        let texts = self.texts.into_iter().map(Into::into);
        let counts = self.counts.into_iter().map(Into::into);
        TableKind::Access.table([self.at.into()].into_iter().chain(texts).chain(counts))
    }
}

/// Rows that terminals of a system have reported since this was last called, from the end of the warm-up on. `None` for
/// a system without a frame.
pub(super) fn rows(scenario: &Scenario, network: &mut RunNetwork<'_>, system: usize) -> Option<Table> {
    let begin = Instant::START + *scenario.scenario.warm_up;
    let (name, keys) = scenario.access.iter().nth(system)?;
    let frame = keys.frame_config()?;
    let samples = network.source_mut().systems_mut()[system].take_samples();
    let mut rows = Rows::default();
    for sample in samples.into_iter().filter(|sample| sample.at >= begin) {
        rows.at.push_instant(sample.at);
        let link = network.graph().link_name(sample.direction.sender().link());
        let texts = [name, link, sample.direction.name()];
        rows.texts.iter_mut().zip(texts).for_each(|(column, text)| column.push(text));
        let counts = [
            sample.offered_bytes,
            sample.backlog_bytes,
            rate_of(&frame, sample.asked_slots).as_bits_per_sec(),
            rate_of(&frame, sample.slots).as_bits_per_sec(),
            u64::from(sample.requests),
            u64::from(sample.collided),
        ];
        rows.counts.iter_mut().zip(counts).for_each(|(column, count)| column.push(count));
    }
    Some(rows.table()).filter(|rows| rows.rows() > 0)
}
