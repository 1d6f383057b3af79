//! The simulated network: packets, links, queues, impairments, routes and the run loop.
