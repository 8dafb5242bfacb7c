//! Sends the e-mail that campaigns owe. Any node may: a mail that is taken is left alone by the others until its
//! lease is over. After a crash between the server's answer and the commit it is sent again under the same name.

use ::campaigns::mail;

use super::{Next, NodeParts, Poll, poll};

/// `None` without a mail server.
pub fn work(node: &NodeParts<'_>) -> Option<Poll> {
    let mailer = node.app.mailer.clone()?;
    poll(move |app| {
        let mailer = mailer.clone();
        async move {
            while mail::send_due(&app, &mailer).await? {}
            Ok(Next::Due(mail::next_due(&app).await?))
        }
    })
}
