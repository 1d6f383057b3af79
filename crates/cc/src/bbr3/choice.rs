//! Rules on which a transport may have BBR version 3 by name.

use super::Bbr3;
use crate::bbr::BbrConfig;
use crate::terms::{Selectable, Terms};

impl Selectable for Bbr3 {
    const NEEDS_LOSS_TIMES: bool = true;
    const HEEDS_MARKS: bool = false;

    fn on(terms: &Terms) -> Self {
        Self::new(BbrConfig::on(terms))
    }
}
