//! The event kernel: a calendar with a total order, clocks and the run digest.
