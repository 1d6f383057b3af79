//! Global title translation with many rules: ours, and the plain way, an ordered map asked for every prefix.

use std::collections::BTreeMap;

use slantpath_base::Seed;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::Sls;
use slantpath_ss7::sccp::gtt::{
    Conditions, DigitPattern, Entity, Group, RouteOn, Rule, Share, Shared, Sharing, TitleChange, Translator,
};
use slantpath_ss7::sccp::{Digits, GlobalTitle, PartyAddress, Ssn};

use crate::rounds::Failure;

/// Rules of the table.
pub const RULES: usize = 10_000;
/// Titles that are asked for, in turn: more than a cache of the first level holds the paths of.
const TITLES: usize = 4_096;
/// Entities that rules lead to.
const GROUPS: u32 = 64;

/// A table of rules, and titles that they translate.
#[derive(Debug)]
pub struct Table {
    translator: Translator,
    prefixes: BTreeMap<Vec<u8>, PointCode>,
    titles: Vec<PartyAddress>,
}

impl Table {
    /// Ten thousand prefixes of 5 to 10 digits for E.164 numbers, each with conditions on translation type, plan
    /// and nature, and numbers of 12 digits that begin with one of them.
    ///
    /// # Errors
    /// A table that our own translator refuses.
    pub fn new() -> Result<Self, Failure> {
        let mut chance = Seed::new(1, 0).stream("gtt");
        let mut digits = |count: u64| -> String {
            (0..count).map(|_| char::from(b'0' + chance.below(10).to_le_bytes()[0])).collect()
        };
        let mut prefixes = BTreeMap::new();
        let mut rules = Vec::with_capacity(RULES);
        let mut number = 0_u32;
        while rules.len() < RULES {
            let prefix = digits(5 + u64::from(number % 6));
            number += 1;
            let point_code = PointCode(number % GROUPS);
            let values = Digits::parse(&prefix)?.values().to_vec();
            if prefixes.contains_key(&values) {
                continue;
            }
            prefixes.insert(values, point_code);
            rules.push(Rule {
                name: prefix.clone(),
                digits: DigitPattern::parse(&format!("{prefix}*"))?,
                conditions: Conditions {
                    translation_type: Some(0),
                    plan: Some(1),
                    nature: Some(4),
                    ..Conditions::default()
                },
                change: TitleChange::default(),
                group: point_code.0.to_string(),
            });
        }
        let group = |code: u32| Group {
            name: code.to_string(),
            sharing: Sharing::LinkSelection,
            entities: [code, code + GROUPS]
                .map(|code| Entity {
                    point_code: PointCode(code),
                    ssn: None,
                    routing: RouteOn::Ssn,
                    weight: 1,
                })
                .to_vec(),
        };
        let mut titles = Vec::with_capacity(TITLES);
        for rule in rules.iter().cycle().step_by(7).take(TITLES) {
            let rest = digits(12 - rule.digits.places().len() as u64);
            let number = Digits::parse(&format!("{}{rest}", rule.name))?;
            let title = GlobalTitle::with(Some(0), Some(1), Some(4), number);
            titles.push(PartyAddress {
                ssn: Some(Ssn(6)),
                global_title: Some(title),
                ..PartyAddress::default()
            });
        }
        Ok(Self { translator: Translator::new(rules, (0..GROUPS).map(group).collect())?, prefixes, titles })
    }

    /// Translates so many titles, and returns the sum of the groups' numbers.
    ///
    /// # Errors
    /// A title that is not translated.
    pub fn translate(&self, times: usize) -> Result<u64, Failure> {
        let mut sum = 0;
        for title in self.titles.iter().cycle().take(times) {
            let translation =
                self.translator.translate(title, None).map_err(|_| "a title is not translated")?;
            sum += translation.group_number as u64;
        }
        Ok(sum)
    }

    /// Translates so many titles, with the choice of an entity by link selection, and returns the sum of the point
    /// codes.
    ///
    /// # Errors
    /// A title that is not translated.
    pub fn route(&self, times: usize) -> Result<u64, Failure> {
        let mut sum = 0;
        let mut shared = vec![Shared::default(); self.translator.groups().len()];
        for (title, sls) in self.titles.iter().cycle().take(times).zip((0_u8..16).cycle()) {
            let translation =
                self.translator.translate(title, None).map_err(|_| "a title is not translated")?;
            let share = Share { sls: Sls(sls), in_sequence: false };
            let shared = &mut shared[translation.group_number];
            let entity = translation.group.select(share, shared, |_| true).ok_or("no entity")?;
            sum += u64::from(entity.point_code.0);
        }
        Ok(sum)
    }

    /// Asks the ordered map for every prefix of a title, the longest first.
    ///
    /// # Errors
    /// A title that is not found.
    pub fn look_up(&self, times: usize) -> Result<u64, Failure> {
        let mut sum = 0;
        for title in self.titles.iter().cycle().take(times) {
            let digits = title.global_title.as_ref().ok_or("no title")?.digits();
            let values = digits.values();
            let found = (0..=values.len()).rev().find_map(|len| self.prefixes.get(&values[..len]));
            sum += u64::from(found.ok_or("a title is not found")?.0);
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_title_is_translated_to_what_the_map_says() {
        let table = Table::new().expect("the table is whole");
        let plain = table.look_up(TITLES).expect("every title is found");
        let ours = table.route(TITLES).expect("every title is translated");
        // Every second link selection of a group leads to its second entity, whose code is as much higher.
        let mut seen: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
        let mut seconds = 0;
        for (title, sls) in table.titles.iter().zip((0_u8..16).cycle()) {
            let group = table.translator.translate(title, None).expect("every title is found").group_number;
            let selections = seen.entry(group).or_default();
            let place = selections.iter().position(|seen| *seen == sls).unwrap_or_else(|| {
                selections.push(sls);
                selections.len() - 1
            });
            seconds += place as u64 % 2;
        }
        assert!(seconds > TITLES as u64 / 4, "{seconds}");
        assert_eq!(ours, plain + u64::from(GROUPS) * seconds);
    }
}
