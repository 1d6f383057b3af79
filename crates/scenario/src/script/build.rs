//! The changes of links that a script asks of `net`.

use slantpath_base::Instant;
use slantpath_net::{Change, DirectionId, NetworkBuilder, Reordering};

use super::schema::{Action, Event, Which};
use crate::network::{PlannedLink, find_link};
use crate::schema::File;

/// Gives a network that is being built every change of the script.
pub(crate) fn schedule(file: &File, links: &[PlannedLink], builder: &mut NetworkBuilder) {
    for event in &file.script {
        let id = find_link(links, &event.link).expect("a check resolves links").id;
        let directions: &[DirectionId] = match *event.direction {
            Which::Both => &[id.forward(), id.reverse()],
            Which::Forward => &[id.forward()],
            Which::Reverse => &[id.reverse()],
        };
        let at = Instant::START + *event.at;
        for direction in directions {
            for change in changes(event) {
                builder.change(at, *direction, change);
            }
        }
    }
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
