//! Shared by tests only: deterministic packet mangling, in-memory wires and captures.
