//! Explanation of a global title by a seat, which knows what it does not reach now.

use slantpath_control::{Pairs, Refusal};

use super::Seat;
use super::orders::nothing;
use crate::titles::{TitleExplanation, TitleQuestion, WrittenTitle, explain_title};

/// Keys of a question.
const KEYS: [&str; 7] = ["calling", "digits", "nature", "plan", "point", "subsystem", "translation_type"];

impl Seat {
    /// Explains where a title goes that is called here, with what cannot be reached now. What is not said of the title
    /// it does not have.
    ///
    /// # Errors
    /// The reason for which there is no such question here.
    pub fn explain_title(&self, pairs: &Pairs) -> Result<TitleExplanation, Refusal> {
        if let Some((key, _)) = pairs.iter().find(|(key, _)| !KEYS.contains(&key.as_str())) {
            return Err(nothing("key", key, &KEYS));
        }
        let get = |key: &str| pairs.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str());
        let number = |key: &str| {
            let wrong = |text: &str| {
                Refusal::new(format!("`{key}` is {text}"))
                    .help("write a number from 0 to 255, or leave it out")
            };
            get(key).map(|text| text.parse::<u8>().map_err(|_| wrong(text))).transpose()
        };
        let digits = get("digits").ok_or_else(|| Refusal::new("no title").help("write `digits`"))?;
        let title = WrittenTitle {
            digits,
            translation_type: number("translation_type")?,
            plan: number("plan")?,
            nature: number("nature")?,
            subsystem: number("subsystem")?,
            calling: get("calling"),
        };
        let parties = title.parties();
        let (called, calling) =
            parties.map_err(|error| Refusal::new(error.to_string()).help("write digits like 4917123456"))?;
        let nowhere = || Refusal::new("the process serves no point").help("ask its gateway");
        let at = self.entity.code().ok_or_else(nowhere)?;
        let own = self.point_names().of(at);
        if let Some(point) = get("point").filter(|point| *point != own) {
            return Err(Refusal::new(format!("`{point}` is not here")).help(format!("`{own}` is")));
        }
        let now = |code, ssn| self.entity.not_reached(code, ssn);
        Ok(explain_title(&self.network, &TitleQuestion { at, called, calling }, Some(&now)))
    }
}
