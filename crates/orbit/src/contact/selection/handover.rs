//! The pause or the overlap between one satellite and the next.

use super::{Hold, TOGETHER};
use crate::contact::stretch::ContactCause;
use crate::ground::Handover;

/// Applies a handover's pause or overlap to one antenna's holds, in order of time.
pub(in crate::contact) fn make(holds: &mut Vec<Hold>, handover: Handover) {
    match handover {
        Handover::BreakBeforeMake { gap } => {
            for hold in holds.iter_mut().filter(|hold| hold.stretch.opens != ContactCause::SpanBegins) {
                hold.stretch.start += gap.as_secs_f64();
            }
        }
        Handover::MakeBeforeBreak { overlap } => {
            let overlap = overlap.as_secs_f64();
            for index in 1..holds.len() {
                let (before, after) = (holds[index - 1], holds[index]);
                if libm::fabs(after.stretch.start - before.stretch.end) > 2.0 * TOGETHER {
                    continue;
                }
                // What still stands is kept a while; what is about to set is replaced a while before.
                holds[index - 1].stretch.end = (before.stretch.end + overlap).min(before.pass.1);
                let kept = holds[index - 1].stretch.end - after.stretch.start;
                if kept < overlap {
                    let earlier = after.stretch.start - (overlap - kept.max(0.0));
                    holds[index].stretch.start = earlier.max(after.pass.0).max(before.stretch.start);
                }
            }
        }
    }
    holds.retain(|hold| hold.stretch.end > hold.stretch.start);
}
