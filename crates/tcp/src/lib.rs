//! TCP as the studies need it, sans-IO: SACK, NewReno, RTO, delayed ACK and window scaling.
