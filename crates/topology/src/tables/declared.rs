//! Tables of an answer as they are declared: rows, and columns with what is in them. Whoever fills a table takes its
//! columns from here, and so does whoever tells of them.

use slantpath_results::ColumnUnit;

/// Type of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cells {
    Count,
    Flag,
    Number,
    Text,
}

/// Column of a table of an answer.
#[derive(Clone, Copy, Debug)]
pub struct AnswerColumn {
    /// Name, with its unit last.
    pub name: &'static str,
    pub(super) cells: Cells,
    /// Meaning in a sentence.
    pub meaning: &'static str,
}

impl AnswerColumn {
    /// Word for what its cells hold.
    pub const fn cells(&self) -> &'static str {
        match self.cells {
            Cells::Count => "count",
            Cells::Flag => "boolean",
            Cells::Number => "number",
            Cells::Text => "string",
        }
    }

    /// Unit of its cells.
    pub fn unit(&self) -> ColumnUnit {
        ColumnUnit::of_name(self.name)
    }
}

/// Table of an answer.
#[derive(Clone, Copy, Debug)]
pub struct AnswerTable {
    /// Name, as of its files.
    pub name: &'static str,
    /// Meaning of a row, in a sentence, and the condition on which the table is there.
    pub row: &'static str,
    /// Columns in their order.
    pub columns: &'static [AnswerColumn],
}

const fn count(name: &'static str, meaning: &'static str) -> AnswerColumn {
    AnswerColumn { name, cells: Cells::Count, meaning }
}

const fn flag(name: &'static str, meaning: &'static str) -> AnswerColumn {
    AnswerColumn { name, cells: Cells::Flag, meaning }
}

const fn number(name: &'static str, meaning: &'static str) -> AnswerColumn {
    AnswerColumn { name, cells: Cells::Number, meaning }
}

const fn text(name: &'static str, meaning: &'static str) -> AnswerColumn {
    AnswerColumn { name, cells: Cells::Text, meaning }
}

const SITE: AnswerColumn = text("site", "Site, by its name.");
const SATELLITE: AnswerColumn = text("satellite", "Satellite, by its name.");
const PATH: AnswerColumn = text("path", "Path, by its name.");
const ANTENNA: AnswerColumn =
    count("antenna", "Antenna of the site, from 1 on; the first of those that see the same sky.");
const KIND: AnswerColumn = text("kind", "Kind of the contact: ground, inter-satellite or terrestrial.");
const AT: AnswerColumn = number("at_s", "Instant, from the start.");
const START: AnswerColumn = number("start_s", "Begin, from the start.");
const END: AnswerColumn = number("end_s", "End, from the start.");
const DURATION: AnswerColumn = number("duration_s", "Time from begin to end.");
const LATITUDE: AnswerColumn = number("latitude_deg", "Latitude, north positive.");
const LONGITUDE: AnswerColumn = number("longitude_deg", "Longitude, east positive.");
const ALTITUDE: AnswerColumn = number("altitude_km", "Height above the ellipsoid.");
const AZIMUTH: AnswerColumn = number("azimuth_deg", "Azimuth of the satellite, from north over east.");
const ELEVATION: AnswerColumn = number("elevation_deg", "Elevation of the satellite over the horizon.");
const RANGE: AnswerColumn = number("range_km", "Distance from the site to the satellite.");
const LEG: AnswerColumn = count("leg", "Leg of the path, from 0 on.");

pub(super) const ACCESS: AnswerTable = AnswerTable {
    name: "access",
    row: "A pass of a satellite over a site, as antennas are pointed by it. Where there would be more than 200,000 \
          rows, with `access = true` alone.",
    columns: &[
        SITE,
        ANTENNA,
        SATELLITE,
        text("rise_utc", "Date at which it rises."),
        text("highest_utc", "Date at which it is highest."),
        text("set_utc", "Date at which it sets."),
        number("rise_s", "Instant at which it rises, from the start."),
        number("highest_s", "Instant at which it is highest, from the start."),
        number("set_s", "Instant at which it sets, from the start."),
        number("duration_s", "Time from its rise to its set."),
        number("rise_azimuth_deg", "Azimuth where it rises."),
        number("rise_elevation_deg", "Elevation where it rises."),
        number("rise_range_km", "Distance where it rises."),
        number(
            "rise_doppler_ratio",
            "Doppler shift where it rises, as a share of the carrier; positive if it comes nearer.",
        ),
        number("highest_azimuth_deg", "Azimuth where it is highest."),
        number("highest_elevation_deg", "Elevation where it is highest."),
        number("highest_range_km", "Distance where it is highest."),
        number("highest_doppler_ratio", "Doppler shift where it is highest, as a share of the carrier."),
        number("set_azimuth_deg", "Azimuth where it sets."),
        number("set_elevation_deg", "Elevation where it sets."),
        number("set_range_km", "Distance where it sets."),
        number(
            "set_doppler_ratio",
            "Doppler shift where it sets, as a share of the carrier; negative if it goes away.",
        ),
    ],
};

pub(super) const CONTACTS: AnswerTable = AnswerTable {
    name: "contacts",
    row: "A contact: two nodes that can send to each other for a time.",
    columns: &[
        count("contact", "Number of the contact, from 0 on."),
        KIND,
        text("a", "Node at one end."),
        text("b", "Node at the other end."),
        count(
            "antenna",
            "Antenna of the site that it takes, from 1 on; none between satellites and on cables.",
        ),
        START,
        END,
        text("opens", "Reason for its begin."),
        text("closes", "Reason for its end."),
        number("delay_start_s", "Delay of a packet that leaves at its begin."),
        number("delay_end_s", "Delay of a packet that leaves at its end."),
    ],
};

pub(super) const COVERAGE: AnswerTable = AnswerTable {
    name: "coverage",
    row: "A site with an antenna, and how much of the time it sees a satellite.",
    columns: &[
        SITE,
        number("covered_ratio", "Share of the time in which it sees one."),
        number("covered_s", "Time in which it sees one."),
        number("gap_s", "Time in which it sees none."),
        count("gaps", "Number of intervals in which it sees none."),
        number("longest_gap_s", "Longest of these intervals."),
        count("passes", "Passes of satellites over all its antennas."),
        count("satellites", "Satellites that pass."),
    ],
};

pub(super) const COVERAGE_MAP: AnswerTable = AnswerTable {
    name: "coverage_map",
    row: "A cell of 5 degrees of the Earth at `map.at`, as antennas see the sky that follow its satellites at the \
          lowest elevation.",
    columns: &[
        LATITUDE,
        LONGITUDE,
        count("satellites", "Satellites that stand above their minimum elevation there."),
        number("elevation_max_deg", "Elevation of the highest of them."),
    ],
};

pub(super) const DELAY: AnswerTable = AnswerTable {
    name: "delay",
    row: "A path at an instant, every `sample_every`.",
    columns: &[
        PATH,
        AT,
        number("delay_s", "One-way delay of propagation; none in a gap."),
        count("hops", "Links of the path; none in a gap."),
    ],
};

pub(super) const GAPS: AnswerTable = AnswerTable {
    name: "gaps",
    row: "An interval in which a site sees no satellite, or a path does not exist.",
    columns: &[
        text("of", "Whose gap: a site's or a path's."),
        text("name", "Name of the site or path."),
        START,
        END,
        DURATION,
    ],
};

pub(super) const HANDOVERS: AnswerTable = AnswerTable {
    name: "handovers",
    row: "A change of the satellite that serves an end of a path.",
    columns: &[
        PATH,
        number("at_s", "Instant at which the new one serves, from the start."),
        text("site", "Site at that end."),
        text("from_satellite", "Satellite that served before."),
        text("to_satellite", "Satellite that serves from then on."),
        number("interruption_s", "Time without a path before it."),
        number("delay_before_s", "Delay of the path at its end before."),
        number("delay_after_s", "Delay of the path at its begin after it."),
        text("reasons", "Reasons for the change of the path."),
    ],
};

pub(super) const HOPS: AnswerTable = AnswerTable {
    name: "hops",
    row: "A link of a leg.",
    columns: &[
        PATH,
        LEG,
        count("hop", "Place of the link on the path, from 0 on."),
        text("from", "Node that sends."),
        text("to", "Node that receives."),
        KIND,
        count("contact", "Number of the contact, as in `contacts`."),
        number("delay_start_s", "Delay of the link at the begin of the leg."),
        number("delay_end_s", "Delay of the link at the end of the leg."),
    ],
};

pub(super) const LEGS: AnswerTable = AnswerTable {
    name: "legs",
    row: "A stretch of time with one path, or with none.",
    columns: &[
        PATH,
        LEG,
        START,
        END,
        DURATION,
        count("hops", "Links of the path; none in a gap."),
        number("delay_start_s", "Delay of the path at the begin."),
        number("delay_end_s", "Delay of the path at the end."),
        number("delay_min_s", "Least delay of the path in between."),
        number("delay_max_s", "Greatest delay of the path in between."),
        text("nodes", "Nodes from one end to the other."),
        text("reasons", "Reasons for its begin."),
    ],
};

pub(super) const MAP_JOURNEYS: AnswerTable = AnswerTable {
    name: "map_journeys",
    row: "A site that travels at an instant, with all corners of its way.",
    columns: &[SITE, AT, LATITUDE, LONGITUDE, ALTITUDE],
};

pub(super) const MAP_LINKS: AnswerTable = AnswerTable {
    name: "map_links",
    row: "A contact that holds at `map.at`.",
    columns: &[
        KIND,
        text("a", "Node at one end."),
        text("b", "Node at the other end."),
        flag("seam", "True between the first and the last plane of a star."),
        number("delay_s", "Delay at that instant."),
        text("path", "Paths that take it, with blanks between; none if no path does."),
    ],
};

pub(super) const MAP_NODES: AnswerTable = AnswerTable {
    name: "map_nodes",
    row: "A satellite or site at `map.at`.",
    columns: &[
        text("node", "Satellite or site, by its name."),
        text("kind", "Kind of the node: satellite or site."),
        text("constellation", "Constellation of the satellite."),
        text("arrangement", "Arrangement of its planes: delta, loose, ring or star."),
        count("plane", "Plane of the satellite, from 1 on; none in a loose arrangement."),
        count("slot", "Place of the satellite in its plane, from 1 on; none in a loose arrangement."),
        LATITUDE,
        LONGITUDE,
        ALTITUDE,
        text("path", "Paths that pass it, with blanks between; none if no path does."),
    ],
};

pub(super) const MAP_TRACKS: AnswerTable = AnswerTable {
    name: "map_tracks",
    row: "The point below a satellite of a path, every 20 s for `map.tracks` around `map.at`.",
    columns: &[SATELLITE, AT, LATITUDE, LONGITUDE, ALTITUDE],
};

pub(super) const PASSES: AnswerTable = AnswerTable {
    name: "passes",
    row: "A satellite in sight of a site, whatever the antennas choose.",
    columns: &[
        SITE,
        ANTENNA,
        SATELLITE,
        START,
        END,
        DURATION,
        number("highest_s", "Instant at which it is highest, from the start."),
        number("elevation_max_deg", "Elevation where it is highest."),
        text("opens", "Reason for its begin."),
        text("closes", "Reason for its end."),
    ],
};

pub(super) const POSITIONS: AnswerTable = AnswerTable {
    name: "positions",
    row: "The point below a satellite, every `positions_every`; with that key alone.",
    columns: &[SATELLITE, AT, LATITUDE, LONGITUDE, ALTITUDE],
};

pub(super) const SKY_LIMITS: AnswerTable = AnswerTable {
    name: "sky_limits",
    row: "A corner of a site's mask for antennas of one minimum elevation; one row without a corner where there is no \
          mask.",
    columns: &[
        SITE,
        text("constellation", "Constellation that the antennas follow; none if they follow any."),
        number("min_elevation_deg", "Lowest elevation at which they follow a satellite."),
        number("azimuth_deg", "Azimuth of the corner, from north over east."),
        number("mask_deg", "Elevation of the mask there."),
    ],
};

pub(super) const SKY_TRACKS: AnswerTable = AnswerTable {
    name: "sky_tracks",
    row: "A point of a satellite's way over the sky of a site that sees it at `map.at`.",
    columns: &[
        SITE,
        SATELLITE,
        count("pass", "Number of the pass, from 0 on."),
        AT,
        flag("now", "True at `map.at`."),
        AZIMUTH,
        ELEVATION,
        RANGE,
    ],
};

pub(super) const SUMMARY: AnswerTable = AnswerTable {
    name: "summary",
    row: "A path over the whole span.",
    columns: &[
        PATH,
        text("from", "Site at which it begins."),
        text("to", "Site at which it ends."),
        text("selection", "Selection of its route."),
        number("connected_ratio", "Share of the time in which it exists."),
        number("connected_s", "Time in which it exists."),
        number("gap_s", "Time in which it does not."),
        count("gaps", "Number of intervals in which it does not."),
        number("longest_gap_s", "Longest of these intervals."),
        number("delay_min_s", "Least one-way delay of propagation."),
        number("delay_mean_s", "Mean of this delay over the time in which it exists."),
        number("delay_max_s", "Greatest such delay."),
        count("hops_min", "Fewest links."),
        count("hops_max", "Most links."),
        count("path_changes", "Changes from one path to the next."),
        count("handovers", "Changes of the satellite at either end."),
    ],
};

/// Tables that an answer may have, in alphabetical order.
pub const ANSWER_TABLES: [AnswerTable; 18] = [
    ACCESS,
    CONTACTS,
    COVERAGE,
    COVERAGE_MAP,
    DELAY,
    GAPS,
    HANDOVERS,
    HOPS,
    LEGS,
    MAP_JOURNEYS,
    MAP_LINKS,
    MAP_NODES,
    MAP_TRACKS,
    PASSES,
    POSITIONS,
    SKY_LIMITS,
    SKY_TRACKS,
    SUMMARY,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_numbers_has_its_unit_and_all_have_a_sentence() {
        assert!(ANSWER_TABLES.is_sorted_by_key(|table| table.name));
        for table in ANSWER_TABLES {
            assert!(table.row.ends_with('.'), "{}", table.name);
            for column in table.columns {
                let place = format!("{}.{}", table.name, column.name);
                let has_unit = column.unit() != ColumnUnit::None;
                assert_eq!(has_unit, column.cells == Cells::Number, "{place}");
                assert!(column.meaning.ends_with('.') && column.meaning.split(' ').count() > 1, "{place}");
            }
        }
    }
}
