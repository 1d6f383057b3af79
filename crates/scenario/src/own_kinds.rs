//! Kinds that a program brings along itself, so that its scenarios may name them.

use std::sync::Arc;

use slantpath_net::OwnQueue;
use slantpath_profiles::{OwnController, OwnControllers};

/// Congestion controllers and queues of a program's own. A copy shares them.
#[derive(Clone, Debug, Default)]
pub struct OwnKinds {
    controllers: Arc<OwnControllers>,
    queues: Arc<Vec<OwnQueue>>,
}

impl OwnKinds {
    /// No kinds beside those of the project.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a controller, which `congestion_control` may name.
    ///
    /// # Panics
    /// If one has its name already, or if a scenario shares these by now.
    #[must_use]
    pub fn with_controller(mut self, controller: OwnController) -> Self {
        let controllers = Arc::get_mut(&mut self.controllers);
        controllers.expect("kinds are registered before scenarios are read").register(controller);
        self
    }

    /// Adds a queue, which the `kind` of a `discipline` may name.
    ///
    /// # Panics
    /// If one has its name already.
    #[must_use]
    pub fn with_queue(mut self, queue: OwnQueue) -> Self {
        use slantpath_reader::Tagged as _;
        let name = queue.declaration().name.as_str();
        let is_built_in = crate::schema::Discipline::kinds().contains(&name);
        assert!(!is_built_in && self.queue(name).is_none(), "there is a queue `{name}` already");
        Arc::make_mut(&mut self.queues).push(queue);
        self
    }

    /// Controllers that were registered.
    pub fn controllers(&self) -> &OwnControllers {
        &self.controllers
    }

    /// Queues that were registered.
    pub fn queues(&self) -> impl ExactSizeIterator<Item = &OwnQueue> {
        self.queues.iter()
    }

    /// The queue of a name.
    pub fn queue(&self, name: &str) -> Option<&OwnQueue> {
        self.queues().find(|queue| queue.declaration().name == name)
    }
}
