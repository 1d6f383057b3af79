//! The changes of links that a script asks of `net`.

use std::collections::BTreeMap;

use slantpath_base::Instant;
use slantpath_net::{Change, DirectionId, NetworkBuilder, Reordering};

use super::schema::{Action, Event};
use crate::network::planned::{PlannedLink, directions_called};
use crate::schema::File;

/// Gives a network that is being built every change of the script.
pub(crate) fn schedule(file: &File, links: &[PlannedLink], builder: &mut NetworkBuilder) {
    let mut called = BTreeMap::new();
    for event in &file.script {
        let of = (event.link.as_str(), event.direction.as_str());
        let directions =
            called.entry(of).or_insert_with(|| directions_called(links, &event.link, *event.direction));
        let at = Instant::START + *event.at;
        for direction in directions.iter() {
            for change in changes(event) {
                builder.change(at, *direction, change);
            }
        }
    }
}

/// The changes that an event makes, each with the direction of a link that it changes.
pub fn changes_of(event: &Event, links: &[PlannedLink]) -> Vec<(DirectionId, Change)> {
    let directions = directions_called(links, &event.link, *event.direction);
    let changes = changes(event);
    directions.into_iter().flat_map(|id| changes.iter().map(move |change| (id, *change))).collect()
}

fn changes(event: &Event) -> Vec<Change> {
    match *event.action {
        Action::Down => vec![Change::Down],
        Action::Up => vec![Change::Up],
        Action::Set => [
            event.rate.map(|rate| Change::Rate(*rate)),
            event.delay.map(|delay| Change::Delay(*delay)),
            event.loss.map(|loss| Change::Loss(*loss)),
            event.bit_error_rate.map(|rate| Change::BitErrors(*rate)),
            event.duplicate.map(|duplicate| Change::Duplication(*duplicate)),
            event.reorder.zip(event.reorder_delay).map(|(probability, extra_delay_max)| {
                Change::Reordering(Reordering {
                    probability: *probability,
                    extra_delay_max: *extra_delay_max,
                })
            }),
        ]
        .into_iter()
        .flatten()
        .collect(),
    }
}
