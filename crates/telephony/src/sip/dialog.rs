//! Dialog state: tags, route set, remote target, CSeq (RFC 3261 section 12).

use rsipstack::sip::{HasHeaders, Header, Method, Response, Uri};

use super::address::{Hop, hop_of, resolve};
use super::message::{header, parameter, uri_of, value, values};
use super::net::{Ask, Net};

/// A dialog, early or confirmed.
#[derive(Debug, Clone)]
pub(super) struct Dialog {
    pub call_id: String,
    /// Our `From` or `To`, with our tag.
    pub local: String,
    pub local_tag: String,
    /// The other side's `To` or `From`, with its tag once known.
    pub remote: String,
    pub remote_tag: Option<String>,
    /// Where requests go: the other side's Contact.
    pub target: String,
    /// `Route` values, the nearest first.
    pub routes: Vec<String>,
    pub contact: String,
    /// Number of the last request that came in.
    pub remote_seq: Option<u32>,
}

impl Dialog {
    /// Takes over the tag, the Contact and the route of a 18x or 2xx to our INVITE.
    pub fn learn(&mut self, response: &Response) {
        if let Some(to) = value(response, "To")
            && let Some(tag) = parameter(to, "tag")
        {
            self.remote_tag = Some(tag.to_owned());
            to.clone_into(&mut self.remote);
        }
        self.retarget(response);
        let mut routes = values(response, "Record-Route");
        routes.reverse();
        self.routes = routes;
    }

    /// Takes over the Contact of a message that refreshes the target.
    pub fn retarget(&mut self, message: &impl HasHeaders) {
        if let Some(uri) =
            value(message, "Contact").and_then(uri_of).filter(|uri| Uri::try_from(*uri).is_ok())
        {
            uri.clone_into(&mut self.target);
        }
    }

    /// Whether a response or request with this tag of the other side belongs to the dialog.
    pub fn is_of(&self, tag: Option<&str>) -> bool {
        self.remote_tag.is_none() || self.remote_tag.as_deref() == tag
    }

    /// A request inside of the dialog.
    pub fn ask(&self, method: Method, more: Vec<Header>, body: Vec<u8>) -> Ask {
        let mut headers: Vec<Header> = self.routes.iter().map(|route| header("Route", route)).collect();
        headers.push(header("From", &self.local));
        headers.push(header("To", &self.remote));
        headers.push(header("Call-ID", &self.call_id));
        if method != Method::Bye {
            headers.push(header("Contact", &self.contact));
        }
        headers.extend(more);
        Ask { method, uri: self.target.clone(), headers, body }
    }

    /// The address that its requests go to, if no name has to be resolved for it.
    pub fn next_ip(&self) -> Option<std::net::IpAddr> {
        let next = self.routes.first().and_then(|route| uri_of(route)).unwrap_or(&self.target);
        match Uri::try_from(next).ok()?.host_with_port.host {
            rsipstack::sip::Host::IpAddr(ip) => Some(ip),
            rsipstack::sip::Host::Domain(_) => None,
        }
    }

    /// Where its requests go: the first route, else the target.
    ///
    /// # Errors
    /// The name does not resolve.
    pub async fn hop(&self, net: &Net, first: &Hop) -> Result<Hop, String> {
        let next = self.routes.first().and_then(|route| uri_of(route)).unwrap_or(&self.target);
        let uri = Uri::try_from(next).map_err(|error| error.to_string())?;
        let (host, transport) = hop_of(&uri, first.transport);
        resolve(&net.resolver, &host, transport)
            .await?
            .into_iter()
            .next()
            .ok_or_else(|| format!("{host} has no address"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialog() -> Dialog {
        Dialog {
            call_id: "c@h".into(),
            local: "<sip:us@h>;tag=1".into(),
            local_tag: "1".into(),
            remote: "<sip:them@t>".into(),
            remote_tag: None,
            target: "sip:them@t".into(),
            routes: vec![],
            contact: "<sip:us@h:5060>".into(),
            remote_seq: None,
        }
    }

    #[test]
    fn a_2xx_names_tag_target_and_routes() {
        let text = "SIP/2.0 200 OK\r\nTo: <sip:them@t>;tag=9\r\nContact: \"x\" <sip:them@10.0.0.1:5080>;expires=3\r\nRecord-Route: <sip:near;lr>, <sip:far;lr>\r\n\r\n";
        let mut dialog = dialog();
        assert!(dialog.is_of(Some("8")));
        dialog.learn(&Response::try_from(text).expect("a response"));
        assert_eq!(dialog.target, "sip:them@10.0.0.1:5080");
        assert_eq!(dialog.routes, ["<sip:far;lr>", "<sip:near;lr>"]);
        assert!(dialog.is_of(Some("9")) && !dialog.is_of(Some("8")) && !dialog.is_of(None));
        let ask = dialog.ask(Method::Bye, vec![], vec![]);
        let lines: Vec<String> = ask.headers.iter().map(ToString::to_string).collect();
        assert!(lines.contains(&"To: <sip:them@t>;tag=9".to_owned()), "{lines:?}");
    }

    #[test]
    fn a_contact_that_is_no_address_changes_nothing() {
        let mut dialog = dialog();
        dialog.learn(
            &Response::try_from("SIP/2.0 200 OK\r\nTo: <sip:them@t>;tag=9\r\nContact: <nonsense:::>\r\n\r\n")
                .expect("a response"),
        );
        assert_eq!(dialog.target, "sip:them@t");
    }
}
