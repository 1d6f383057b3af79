//! Changes that management makes to a network while it runs.

use slantpath_base::Instant;
use slantpath_signalling::network::{LinkChange, ManagementChange, Side, SignallingLinkId};
use slantpath_signalling::{LineInput, LinkEndChange, ManagementRequest, PointInput, ServerProcessInput};

use crate::network::SignallingNetwork;

impl SignallingNetwork {
    /// Management does something.
    pub fn change(&mut self, now: Instant, change: ManagementChange) {
        match change {
            ManagementChange::Link(link, LinkChange::Activate) => {
                self.change_ends(now, link, LinkEndChange::Activate);
            }
            ManagementChange::Link(link, LinkChange::Deactivate) => {
                self.change_ends(now, link, LinkEndChange::Deactivate);
            }
            ManagementChange::Link(link, LinkChange::Fail) => self.fail_line(now, link),
            ManagementChange::Link(link, LinkChange::Restore) => self.restore_line(now, link),
            ManagementChange::LinkEnd(link, side, change) => self.change_end(now, link, side, change),
            ManagementChange::Point(point, change) => {
                self.point_input(now, point, PointInput::Management(ManagementRequest::Point(change)));
            }
            ManagementChange::Process(asp, change) => {
                self.process_input(now, asp, ServerProcessInput::Management(change));
            }
        }
    }

    fn change_ends(&mut self, now: Instant, link: SignallingLinkId, change: LinkEndChange) {
        for side in Side::BOTH {
            self.change_end(now, link, side, change);
        }
    }

    fn change_end(&mut self, now: Instant, link: SignallingLinkId, side: Side, change: LinkEndChange) {
        let end = self.link_end(link, side);
        let request = ManagementRequest::Link(end.link, change);
        self.point_input(now, end.point, PointInput::Management(request));
    }

    fn fail_line(&mut self, now: Instant, link: SignallingLinkId) {
        let Some(line) = self.line_of(link) else { return };
        if self.lines[line].fail() {
            for end in self.lines[line].ends {
                self.point_input(now, end.point, PointInput::Line(end.link, LineInput::UnitsLost));
            }
        }
    }

    fn restore_line(&mut self, now: Instant, link: SignallingLinkId) {
        if let Some(line) = self.line_of(link) {
            self.lines[line].restore(now);
            self.wait_for_line(line);
        }
    }
}
