//! Captures: what was sent into a direction, as pcapng.

use slantpath_base::Instant;
use slantpath_wire::Packet;
use slantpath_wire::pcapng::{CaptureInterface, CapturedKind, Direction, Writer};

use crate::DirectionId;
use crate::header;
use crate::link::DropReason;
use crate::parcel::{Fate, Parcel};

/// A capture of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureId(usize);

#[derive(Clone, Debug, Default)]
pub(crate) struct Captures {
    captures: Vec<Capture>,
}

#[derive(Clone, Debug)]
struct Capture {
    writer: Writer,
    interfaces: Vec<(DirectionId, CaptureInterface)>,
}

impl Captures {
    pub(crate) fn add(
        &mut self,
        directions: impl Iterator<Item = (DirectionId, CapturedKind, String)>,
    ) -> CaptureId {
        let mut writer = Writer::new();
        let interface = |(direction, link_type, path): (DirectionId, CapturedKind, String)| {
            (direction, writer.interface_of(link_type, &path))
        };
        let interfaces = directions.map(interface).collect();
        self.captures.push(Capture { writer, interfaces });
        CaptureId(self.captures.len() - 1)
    }

    pub(crate) fn take(&mut self, capture: CaptureId) -> Vec<u8> {
        self.captures[capture.0].writer.take()
    }

    /// Records a packet that was offered to a direction, and what came of it.
    pub(crate) fn record(
        &mut self,
        now: Instant,
        direction: DirectionId,
        offered: Parcel,
        outcome: Result<Parcel, DropReason>,
        packet: &mut Packet,
    ) {
        let parcel = outcome.unwrap_or(offered);
        let comment = match outcome {
            Ok(parcel) => match parcel.fate() {
                Fate::Arrives if parcel.is_marked() && !offered.is_marked() => Some("marked"),
                Fate::Arrives => None,
                Fate::Damaged => Some("damaged: bit error"),
                Fate::Lost => Some("dropped: loss"),
                Fate::Undecodable => Some(DropReason::HeaderContext.comment()),
            },
            Err(reason) => Some(reason.comment()),
        };
        for Capture { writer, interfaces } in &mut self.captures {
            for &(captured, interface) in interfaces.iter() {
                if captured == direction {
                    header::write(packet, parcel);
                    writer.packet(interface, now, &packet.observed(), Direction::Outbound, comment);
                }
            }
        }
    }
}
