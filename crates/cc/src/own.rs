//! Controllers of a program's own: made elsewhere, declared to whoever reads files, and called through a table of
//! functions. Those of this project pay nothing for it.

use core::fmt;
use std::sync::{Mutex, PoisonError};

use slantpath_base::{Declaration, OwnParameters, ParameterFault, ParameterValue};

use crate::control::CongestionControl;
use crate::controller::{Algorithm, SCTP_STANDARD, TCP_STANDARD};
use crate::terms::Terms;

/// A controller that stands elsewhere. Whatever is a [`CongestionControl`] and can be cloned is one.
pub trait OwnControl: CongestionControl + fmt::Debug + Send + Sync {
    /// A copy in the same state.
    fn copied(&self) -> Box<dyn OwnControl>;
}

impl<T: CongestionControl + Clone + fmt::Debug + Send + Sync + 'static> OwnControl for T {
    fn copied(&self) -> Box<dyn OwnControl> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn OwnControl> {
    fn clone(&self) -> Self {
        (**self).copied()
    }
}

/// Makes the controller of a new path.
type Make = dyn Fn(&Terms, &OwnParameters) -> Box<dyn OwnControl> + Send + Sync;

/// A kind of controller of a program's own, as it is registered.
pub struct OwnController {
    declaration: Declaration,
    needs_loss_times: bool,
    heeds_marks: bool,
    reads_capacity: bool,
    make: Box<Make>,
}

impl OwnController {
    /// A controller as files have it declared; `make` makes that of a new path.
    pub fn new<C: OwnControl + 'static>(
        declaration: Declaration,
        make: impl Fn(&Terms, &OwnParameters) -> C + Send + Sync + 'static,
    ) -> Self {
        Self {
            declaration,
            needs_loss_times: false,
            heeds_marks: true,
            reads_capacity: false,
            make: Box::new(move |terms, parameters| Box::new(make(terms, parameters))),
        }
    }

    /// Has files ask for a detection of losses that tells of each at its time, as RACK does.
    #[must_use]
    pub fn needing_loss_times(mut self) -> Self {
        self.needs_loss_times = true;
        self
    }

    /// Has files refuse ECN: a mark does not slow it down.
    #[must_use]
    pub fn deaf_to_marks(mut self) -> Self {
        self.heeds_marks = false;
        self
    }

    /// Has files give a [capacity](Terms::known_capacity) that is known.
    #[must_use]
    pub fn reading_capacity(mut self) -> Self {
        self.reads_capacity = true;
        self
    }

    /// Name, words and parameters of it.
    pub const fn declaration(&self) -> &Declaration {
        &self.declaration
    }
}

impl fmt::Debug for OwnController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnController").field("declaration", &self.declaration).finish_non_exhaustive()
    }
}

/// An own controller that a file has chosen, with its parameters.
#[derive(Debug)]
struct Chosen {
    controller: &'static OwnController,
    parameters: OwnParameters,
}

/// An own controller that was chosen, as configurations have it: they are copied with every connection.
#[derive(Clone, Copy)]
pub struct OwnChoice(&'static Chosen);

impl OwnChoice {
    /// Name, words and parameters of the controller.
    pub const fn declaration(self) -> &'static Declaration {
        &self.0.controller.declaration
    }

    /// Values of the parameters.
    pub const fn parameters(self) -> &'static OwnParameters {
        &self.0.parameters
    }

    pub(crate) const fn needs_loss_times(self) -> bool {
        self.0.controller.needs_loss_times
    }

    pub(crate) const fn heeds_marks(self) -> bool {
        self.0.controller.heeds_marks
    }

    pub(crate) const fn reads_capacity(self) -> bool {
        self.0.controller.reads_capacity
    }

    pub(crate) fn controller(self, terms: &Terms) -> Box<dyn OwnControl> {
        (self.0.controller.make)(terms, &self.0.parameters)
    }
}

/// Equal if one registered controller was chosen with the same parameters.
impl PartialEq for OwnChoice {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.0, other.0)
            || (self.declaration() == other.declaration() && self.parameters() == other.parameters())
    }
}

// A parameter that is not a number differs from itself, and reading refuses it.
impl Eq for OwnChoice {}

impl fmt::Debug for OwnChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(&self.declaration().name).field(self.parameters()).finish()
    }
}

/// The controllers of a program's own. What is registered and chosen is kept until the program ends: configurations
/// are copied, and have no owner. That is little, as equal choices are one.
#[derive(Debug, Default)]
pub struct OwnControllers {
    all: Vec<&'static OwnController>,
    chosen: Mutex<Vec<OwnChoice>>,
}

impl OwnControllers {
    /// Registers a controller.
    ///
    /// # Panics
    /// If one of this name is registered, or one of the project has it.
    pub fn register(&mut self, controller: OwnController) {
        let name = &controller.declaration.name;
        assert!(!self.is_taken(name), "there is a controller `{name}` already");
        self.all.push(Box::leak(Box::new(controller)));
    }

    /// Tells if a controller has this name, of the project or registered.
    pub fn is_taken(&self, name: &str) -> bool {
        let is_built_in = Algorithm::NAMED.iter().any(|named| named.name == name);
        is_built_in || [TCP_STANDARD, SCTP_STANDARD].contains(&name) || self.find(name).is_some()
    }

    /// Every registered controller, in the order of registration.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'static OwnController> {
        self.all.iter().copied()
    }

    /// The controller of a name.
    pub fn find(&self, name: &str) -> Option<&'static OwnController> {
        self.iter().find(|controller| controller.declaration.name == name)
    }

    /// The choice of a registered controller with such parameters.
    pub fn choose(
        &self,
        controller: &'static OwnController,
        given: &[(String, ParameterValue)],
    ) -> Result<OwnChoice, ParameterFault> {
        let choice = Chosen { controller, parameters: controller.declaration.completed(given)? };
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_this = |known: &&OwnChoice| {
            core::ptr::eq(known.0.controller, controller) && *known.parameters() == choice.parameters
        };
        if let Some(known) = chosen.iter().find(is_this) {
            return Ok(*known);
        }
        let choice = OwnChoice(Box::leak(Box::new(choice)));
        chosen.push(choice);
        Ok(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Acknowledged, Sent};
    use crate::cubic::Cubic;
    use crate::cubic::tests::CONFIG;
    use crate::terms::tests::TERMS;
    use crate::{Controller, NewReno};
    use slantpath_base::Instant;

    fn cubic(name: &str) -> OwnController {
        let declaration = Declaration::new(name, "CUBIC, from elsewhere.");
        let declaration = declaration.with_parameter("gain", 0.5, "By which it grows.");
        OwnController::new(declaration, |_, _| Cubic::new(CONFIG))
    }

    #[test]
    fn an_own_controller_does_in_its_place_as_it_does_alone() {
        let mut own = OwnControllers::default();
        own.register(cubic("mine"));
        let choice = own.choose(own.find("mine").unwrap(), &[]).unwrap();
        let mut alone = Cubic::new(CONFIG);
        let mut chosen = Controller::of(Algorithm::Own(choice), &TERMS, || -> NewReno { unreachable!() });
        for millis in 1..100 {
            let now = Instant::from_millis(millis);
            let acknowledged = Acknowledged::of(now, 1_460, chosen.cwnd());
            alone.on_acknowledged(&acknowledged);
            chosen.on_acknowledged(&acknowledged);
            chosen.on_sent(Sent { now, bytes: 1_460, in_flight_before: 0 });
            let copy = chosen.clone();
            assert_eq!((chosen.cwnd(), copy.ssthresh()), (alone.cwnd(), alone.ssthresh()));
        }
    }

    #[test]
    fn equal_choices_are_one_and_others_differ() {
        let mut own = OwnControllers::default();
        own.register(cubic("mine"));
        own.register(cubic("yours"));
        let choose = |name: &str, gain: f64| {
            own.choose(own.find(name).unwrap(), &[("gain".to_owned(), gain.into())]).unwrap()
        };
        assert!(core::ptr::eq(choose("mine", 0.5).0, choose("mine", 0.5).0));
        assert_ne!(choose("mine", 0.5), choose("mine", 0.7));
        assert_ne!(choose("mine", 0.5), choose("yours", 0.5));
        assert_eq!(own.chosen.lock().unwrap().len(), 3);
    }

    #[test]
    #[should_panic(expected = "there is a controller `bbr` already")]
    fn no_own_controller_has_the_name_of_another() {
        OwnControllers::default().register(cubic("bbr"));
    }

    #[test]
    fn a_name_is_taken_by_the_project_a_transport_or_a_registration() {
        let mut own = OwnControllers::default();
        assert!(!own.is_taken("mine"));
        own.register(cubic("mine"));
        for name in ["mine", "cubic", "new-reno", "rfc9260"] {
            assert!(own.is_taken(name), "{name}");
        }
    }
}
