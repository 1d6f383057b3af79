//! An end system: interfaces, transports and the applications that load them.
