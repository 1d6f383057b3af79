//! A queue that sends the newest packet first, and drops what has waited for too long.

use slantpath_base::{Declaration, Duration, Instant, OwnParameters};
use slantpath_net::{OwnQueue, QueueControl, QueuedPacket};

/// The queue as scenarios name it: `discipline = { kind = "newest-first", patience = "200 ms" }`.
pub fn kind() -> OwnQueue {
    let declaration =
        Declaration::new("newest-first", "The newest packet first; what has waited for too long is dropped.")
            .with_parameter("patience", "500 ms", "Longest time that a packet waits.");
    OwnQueue::new(declaration, |parameters, _| NewestFirst::new(parameters))
}

/// Packets that wait, the newest last.
#[derive(Clone, Debug)]
pub struct NewestFirst {
    waiting: Vec<QueuedPacket>,
    patience: Duration,
}

impl NewestFirst {
    fn new(parameters: &OwnParameters) -> Self {
        let patience = parameters.text("patience").parse().unwrap_or(Duration::from_millis(500));
        Self { waiting: Vec::new(), patience }
    }
}

impl QueueControl for NewestFirst {
    fn push(&mut self, _: Instant, packet: QueuedPacket) {
        self.waiting.push(packet);
    }

    fn pop(&mut self, now: Instant, dropped: &mut Vec<QueuedPacket>) -> Option<QueuedPacket> {
        let is_late = |packet: &QueuedPacket| now.saturating_since(packet.came()) > self.patience;
        // The oldest stand first.
        let late = self.waiting.iter().take_while(|packet| is_late(packet)).count();
        dropped.extend(self.waiting.drain(..late));
        self.waiting.pop()
    }

    fn take(&mut self) -> Vec<QueuedPacket> {
        core::mem::take(&mut self.waiting)
    }

    fn copied(&self) -> Box<dyn QueueControl> {
        Box::new(self.clone())
    }
}
