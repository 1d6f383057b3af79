//! Pairs of sites that satellites that do not forward have to join, and the cables behind them.

use slantpath_base::Duration;

/// Two sites that are to be joined. Where no satellite of a constellation that both may use forwards to another, one
/// satellite must be in sight of both ends at once, and the antennas of both choose it together, for each such
/// constellation: `contact::joint` says how. Of others nothing is asked, and antennas to them choose for themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SitePair {
    /// The site whose antenna says how they choose.
    pub from: String,
    /// The other site.
    pub to: String,
    /// The constellation that joins them; any where none is named.
    pub constellation: Option<String>,
    /// The satellites that may join them; any where none is named.
    pub satellites: Vec<String>,
    /// True if it shares no satellite with other pairs of the same two sites.
    pub is_apart: bool,
}

impl SitePair {
    /// Two sites that any satellite may join.
    pub fn new(from: &str, to: &str) -> Self {
        Self { from: from.to_owned(), to: to.to_owned(), ..Self::default() }
    }

    /// Tells if both join the same two sites.
    pub(crate) fn has_ends_of(&self, other: &Self) -> bool {
        (&self.from, &self.to) == (&other.from, &other.to)
            || (&self.from, &self.to) == (&other.to, &other.from)
    }
}

/// A cable between two sites: it stands all the time, but for outages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cable {
    /// Ends of the cable: at least one of them is a gateway.
    pub ends: [String; 2],
    /// Delay of the cable from end to end.
    pub delay: CableDelay,
}

/// Source of a cable's delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CableDelay {
    /// Delay as stated.
    Fixed(Duration),
    /// Delay of light in fibre along the great circle between its ends, which both stand still.
    GreatCircle,
}

/// Light in fibre goes at this share of its speed in the void: the group index of G.652 fibre at 1,550 nm is 1.468.
pub const FIBRE_SPEED_RATIO: f64 = 1.0 / 1.468;
