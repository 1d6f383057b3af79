//! Signalling System No. 7: MTP3, SCCP, ISUP and TCAP as far as traffic needs them, and MTP2 as a link model.
