//! Controllers over one bottleneck, packet by packet, without a transport: recovery is ideal, so that what is seen is
//! the controller's.

mod backlog;
mod controllers;
mod flow;

mod loss_based;
mod model;
mod rate_based;
