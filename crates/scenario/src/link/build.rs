//! What `net` makes of a direction of a link.

use slantpath_net::{Delay, DirectionConfig, QueueConfig, QueueLimit, Reordering, WhileDown};

use super::schema::{self, Direction};

/// The configuration of a direction whose link carries packets of at most `mtu_bytes`.
pub(crate) fn direction(direction: &Direction, mtu_bytes: u32) -> DirectionConfig {
    let queue = match direction.queue {
        schema::QueueLimit::Bytes(size) => QueueLimit::Bytes(size),
        schema::QueueLimit::Packets(count) => QueueLimit::Packets(count),
        schema::QueueLimit::Unlimited => QueueLimit::Unlimited,
    };
    DirectionConfig {
        rate: direction.rate,
        overhead_bytes: 0,
        delay: Delay::Constant(direction.delay),
        queue: QueueConfig::DropTail(queue),
        mtu_bytes,
        loss: direction.loss,
        bit_errors: direction.bit_error_rate,
        duplication: direction.duplicate,
        reordering: Reordering { probability: direction.reorder, extra_delay_max: direction.reorder_delay },
        while_down: match direction.while_down {
            schema::WhileDown::Drop => WhileDown::Drop,
            schema::WhileDown::Hold => WhileDown::Hold,
        },
    }
}
