//! Tables of links of the sky that hold for an antenna or a constellation.

use slantpath_reader::Stage;

use super::schema::{AccessTable, IslLinks, SkyTable};

/// The place of the table of an antenna's links, in alphabetical order.
pub(crate) fn access_table<S: Stage>(
    sky: &SkyTable<S>,
    site: &str,
    constellation: Option<&str>,
) -> Option<usize> {
    let position =
        |is_it: &dyn Fn(&AccessTable<S>) -> bool| sky.access.iter().position(|(_, table)| is_it(table));
    let names_site = |table: &AccessTable<S>| {
        table.sites.as_ref().is_some_and(|sites| sites.iter().any(|known| known == site))
    };
    let names_any = |table: &AccessTable<S>| table.constellation.is_none();
    let fits = |table: &AccessTable<S>| {
        table.constellation.as_ref().is_none_or(|own| Some(own.as_str()) == constellation)
    };
    position(&|table| names_site(table) && fits(table))
        .or_else(|| position(&|table| table.sites.is_none() && !names_any(table) && fits(table)))
        .or_else(|| position(&|table| table.sites.is_none() && names_any(table)))
}

/// The place of the table of the links between a constellation's satellites, in alphabetical order.
pub(crate) fn isl_table<S: Stage>(sky: &SkyTable<S>, constellation: &str) -> Option<usize> {
    let position = |is_it: &dyn Fn(&IslLinks<S>) -> bool| sky.isls.iter().position(|(_, table)| is_it(table));
    let own = |table: &IslLinks<S>| table.constellation.as_ref().map(|own| own.as_str().to_owned());
    position(&|table| own(table).as_deref() == Some(constellation))
        .or_else(|| position(&|table| own(table).is_none()))
}
