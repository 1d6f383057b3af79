//! SIGTRAN adaptation layers: M2PA, M3UA, M2UA, SUA and IUA, each a codec and a state machine.
