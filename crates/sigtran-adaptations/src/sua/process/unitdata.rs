//! N-UNITDATA: what is too long goes in segments, and segments come together again (RFC 3868, section 4.7.1; Q.714,
//! section 4.1.1).

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp;
use slantpath_ss7::sccp::{self, LocalReference, MOST_DATA_OCTETS, Reassembled, ReassemblyLimits};

use crate::drops::DropReason;
use crate::sua::process::{UserProcess, UserProcessOutput};
use crate::sua::{Unitdata, UnitdataNotice, return_cause};

/// Settings for sending long messages in segments, and for reassembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentationConfig {
    /// Octets of a user's message that one CLDT takes at most. What SCCP carries whole is not cut; towards a network of
    /// narrowband links it is 247 or less, as the addresses leave room for.
    pub segment_octets: usize,
    /// T(reass): within which time after the first segment all must have come, 10 to 20 seconds (Q.714, annex C).
    pub reassembly: Duration,
    /// Limits of the segments that may wait for further ones.
    pub limits: ReassemblyLimits,
}

impl Default for SegmentationConfig {
    fn default() -> Self {
        Self {
            segment_octets: MOST_DATA_OCTETS,
            reassembly: Duration::from_secs(10),
            limits: ReassemblyLimits { messages: 1_024, octets: 1_024 * MOST_DATA_OCTETS },
        }
    }
}

/// Octets for which one CLDT has room beside its other parameters, whose lengths are of 16 bits.
const MOST_SEGMENT_OCTETS: u64 = 65_000;

impl SegmentationConfig {
    pub(super) fn check(&self) -> Result<(), asp::ConfigError> {
        let (min, max) = (Duration::from_secs(10), Duration::from_secs(20));
        asp::TimerRange::new("T(reass)", min, max).check(self.reassembly)?;
        let value = u64::try_from(self.segment_octets).unwrap_or(u64::MAX);
        if (1..=MOST_SEGMENT_OCTETS).contains(&value) {
            return Ok(());
        }
        Err(asp::ConfigError::NumberOutOfRange {
            what: "segment_octets",
            value,
            min: 1,
            max: MOST_SEGMENT_OCTETS,
        })
    }
}

impl UserProcess {
    /// N-UNITDATA request. What is longer than one CLDT takes goes in up to sixteen segments. False, and counted, if
    /// the ASP has not that traffic, or if the message is too long; then it comes back where that was asked for.
    pub fn unitdata(&mut self, routing_context: u32, unitdata: &Unitdata) -> bool {
        if !self.is_active(routing_context) {
            self.drops.count(DropReason::AspNotActive);
            return false;
        }
        let octets = self.config.segmentation.segment_octets;
        if unitdata.segmentation.is_some() || unitdata.data.len() <= octets {
            self.transmit_flow(unitdata.sequence_control, unitdata.to_message(routing_context));
            return true;
        }
        let Some(segments) = unitdata.segments(octets, self.next_segmentation) else {
            self.drops.count(DropReason::TooLong);
            if unitdata.return_on_error {
                let notice = UnitdataNotice::returning(unitdata, return_cause::SEGMENTATION_FAILURE);
                self.outputs.push_back(UserProcessOutput::Notice(routing_context, notice));
            }
            return false;
        };
        self.next_segmentation = (self.next_segmentation + 1) & REFERENCE_MASK;
        for segment in segments {
            self.transmit_flow(segment.sequence_control, segment.to_message(routing_context));
        }
        true
    }

    /// Octets of segments that wait for others.
    pub const fn segment_octets(&self) -> usize {
        self.segments.octets()
    }

    /// CLDT: to the user, once it is whole.
    pub(super) fn take_unitdata(&mut self, now: Instant, context: u32, mut unitdata: Unitdata) {
        let Some(place) = unitdata.segmentation else { return self.indicate_unitdata(context, unitdata) };
        if place.first && place.remaining == 0 {
            return self.indicate_unitdata(context, unitdata);
        }
        let segmentation = sccp::Segmentation {
            first: place.first,
            in_sequence: unitdata.in_sequence,
            remaining: place.remaining,
            reference: LocalReference(place.reference),
        };
        let data = std::mem::take(&mut unitdata.data);
        let key = (context, unitdata.source.clone(), place.reference);
        let timer = self.config.segmentation.reassembly;
        match self.segments.segment(now, timer, &key, segmentation, (context, unitdata), &data) {
            Reassembled::Complete((_, first), data) => {
                self.indicate_unitdata(context, Unitdata { data: data.into(), ..first });
            }
            Reassembled::Failed((_, first), data, why) => self.give_up(context, first, data.into(), why.0),
            Reassembled::Ignored => self.drops.count(DropReason::SegmentLost),
            Reassembled::Kept => {}
        }
    }

    fn indicate_unitdata(&mut self, context: u32, unitdata: Unitdata) {
        let whole = Unitdata { segmentation: None, ..unitdata };
        self.outputs.push_back(UserProcessOutput::Unitdata(context, whole));
    }

    pub(super) fn expire_segments(&mut self, now: Instant) {
        while let Some(expired) = self.segments.take_expired(now) {
            if let Reassembled::Failed((context, first), data, why) = expired {
                self.give_up(context, first, data.into(), why.0);
            }
        }
    }

    /// A message that will not become whole: its first segment goes back if that was asked for.
    fn give_up(&mut self, context: u32, first: Unitdata, data: Bytes, why: u8) {
        self.drops.count(DropReason::SegmentLost);
        if first.comes_back() && self.is_active(context) {
            let control = first.sequence_control;
            let notice = UnitdataNotice::returning(&Unitdata { data, ..first }, why);
            self.transmit_flow(control, notice.to_message(context));
        }
    }
}

/// Segmentation references have 24 bits.
const REFERENCE_MASK: u32 = 0x00ff_ffff;
