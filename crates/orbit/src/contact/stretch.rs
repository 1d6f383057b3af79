//! Stretches of time with the reasons for their ends, and their algebra.

use core::fmt;

/// Why a contact begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContactCause {
    /// An end of the link crosses the cut-off latitude.
    CutOffLatitude,
    /// The policy prefers another satellite.
    HandedOver,
    /// The limb of the Earth, with its air, opens or closes the line of sight.
    LineOfSight,
    /// Another satellite of the neighbouring plane becomes, or was, the nearest.
    Neighbour,
    /// The other end of the path gains or loses the satellite.
    OtherEnd,
    /// Something goes out of service or returns.
    Outage,
    /// The policy found this satellite better than the last.
    Preferred,
    /// The link becomes longer than its terminals reach, or shorter.
    Range,
    /// The antennas are reassigned, as at every tick of the reconfiguration grid.
    Reconfiguration,
    /// The last satellite was lost and this one was the best of those in sight.
    Replacement,
    /// The satellite rises over the minimum elevation or the horizon mask.
    Rises,
    /// The satellite sets.
    Sets,
    /// The span begins.
    SpanBegins,
    /// The span ends.
    SpanEnds,
}

impl ContactCause {
    /// All of them, in the order of the alphabet.
    pub const ALL: [Self; 14] = [
        Self::CutOffLatitude,
        Self::HandedOver,
        Self::LineOfSight,
        Self::Neighbour,
        Self::OtherEnd,
        Self::Outage,
        Self::Preferred,
        Self::Range,
        Self::Reconfiguration,
        Self::Replacement,
        Self::Rises,
        Self::Sets,
        Self::SpanBegins,
        Self::SpanEnds,
    ];
}

impl ContactCause {
    /// Name of the cause in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CutOffLatitude => "cut-off latitude",
            Self::HandedOver => "handed over",
            Self::LineOfSight => "line of sight",
            Self::Neighbour => "nearest neighbour changes",
            Self::OtherEnd => "at the other end",
            Self::Outage => "outage",
            Self::Preferred => "preferred",
            Self::Range => "range",
            Self::Reconfiguration => "reconfiguration",
            Self::Replacement => "replacement",
            Self::Rises => "rises",
            Self::Sets => "sets",
            Self::SpanBegins => "span begins",
            Self::SpanEnds => "span ends",
        }
    }
}

impl fmt::Display for ContactCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A stretch of time, seconds after the start of the span, open at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stretch {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) opens: ContactCause,
    pub(crate) closes: ContactCause,
}

/// Intervals of one condition: each end is of the condition's cause, except where the span itself ends it.
pub(crate) fn of_condition(
    intervals: Vec<(f64, f64)>,
    (opens, closes): (ContactCause, ContactCause),
    span: f64,
) -> Vec<Stretch> {
    let stretch = |(start, end): (f64, f64)| Stretch {
        start,
        end,
        opens: if start <= 0.0 { ContactCause::SpanBegins } else { opens },
        closes: if end >= span { ContactCause::SpanEnds } else { closes },
    };
    intervals.into_iter().filter(|(start, end)| end > start).map(stretch).collect()
}

/// The times common to two lists in order. The later start and the earlier end keep their reasons.
pub(crate) fn common(a: &[Stretch], b: &[Stretch]) -> Vec<Stretch> {
    let (mut i, mut j) = (0, 0);
    let mut both = Vec::new();
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let (start, opens) = if x.start >= y.start { (x.start, x.opens) } else { (y.start, y.opens) };
        let (end, closes) = if x.end <= y.end { (x.end, x.closes) } else { (y.end, y.closes) };
        if end > start {
            both.push(Stretch { start, end, opens, closes });
        }
        if x.end <= y.end { i += 1 } else { j += 1 }
    }
    both
}

/// Stretches that are left when outages are cut out of them.
pub(crate) fn without(stretches: Vec<Stretch>, outages: &[(f64, f64)]) -> Vec<Stretch> {
    outages.iter().fold(stretches, |stretches, &(from, until)| {
        let cut = |stretch: Stretch| {
            let before = Stretch { end: stretch.end.min(from), closes: ContactCause::Outage, ..stretch };
            let after = Stretch { start: stretch.start.max(until), opens: ContactCause::Outage, ..stretch };
            let untouched = until <= stretch.start || from >= stretch.end;
            let parts = if untouched { [Some(stretch), None] } else { [Some(before), Some(after)] };
            parts.into_iter().flatten().filter(|part| part.end > part.start)
        };
        stretches.into_iter().flat_map(cut).collect()
    })
}

/// Takes the time of acquisition off the beginning of each stretch that begins within the span.
pub(crate) fn after_acquisition(mut stretches: Vec<Stretch>, seconds: f64) -> Vec<Stretch> {
    for stretch in &mut stretches {
        if stretch.opens != ContactCause::SpanBegins {
            stretch.start += seconds;
        }
    }
    stretches.retain(|stretch| stretch.end > stretch.start);
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(mut edges: Vec<f64>) -> Vec<Stretch> {
        edges.sort_by(f64::total_cmp);
        edges.dedup();
        let pairs = edges.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        of_condition(pairs, (ContactCause::Rises, ContactCause::Sets), 100.0)
    }

    fn covers(list: &[Stretch], t: f64) -> bool {
        list.iter().any(|stretch| stretch.start <= t && t < stretch.end)
    }

    proptest! {
        #[test]
        fn algebra_is_that_of_sets(
            a in prop::collection::vec(0.0..100.0_f64, 0..12), b in prop::collection::vec(0.0..100.0_f64, 0..12),
            cuts in prop::collection::vec((0.0..100.0_f64, 0.0..30.0_f64), 0..4), t in 0.0..100.0_f64,
        ) {
            let (a, b) = (list(a), list(b));
            let cuts: Vec<_> = cuts.into_iter().map(|(from, length)| (from, from + length)).collect();
            prop_assert_eq!(covers(&common(&a, &b), t), covers(&a, t) && covers(&b, t));
            let cut = cuts.iter().any(|&(from, until)| from <= t && t < until);
            let left = without(a.clone(), &cuts);
            prop_assert_eq!(covers(&left, t), covers(&a, t) && !cut);
            prop_assert!(left.windows(2).all(|pair| pair[0].end <= pair[1].start));
        }
    }
}
