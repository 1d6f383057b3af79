"""One transport stack and one satellite network, run three ways: simulated, emulated, live."""
