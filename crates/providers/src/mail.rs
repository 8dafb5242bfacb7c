//! Sending e-mail through the mail server that the operator names (SMTP).

use std::time::Duration;

use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::transport::smtp::Error as SmtpError;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use tokio::time::timeout;

/// Longest time for one mail, from the connection to the last response.
const DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub struct Mail {
    /// A message id that is the same for each retry, by which a server recognises a repeat.
    pub id: String,
    /// The recipient.
    pub to: String,
    /// The subject; control characters are replaced.
    pub subject: String,
    pub text: String,
}

/// Why a mail was not sent. Neither variant contains an address or the server's text, which may contain one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailError {
    /// A retry is of no use.
    Refused(String),
    /// The server may accept it later.
    NotNow(String),
}

pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    domain: String,
}

impl Mailer {
    /// The server at this URL, for mail from `from`. Does not connect yet.
    ///
    /// # Errors
    /// What is wrong with the settings, without their secrets.
    pub fn new(url: &str, from: &str) -> Result<Self, String> {
        // The words of the library may hold the URL, and that a password.
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|_| "smtp.url: not the URL of a mail server (the value is not shown)".to_owned())?
            .timeout(Some(DEADLINE))
            .build();
        let address: Address = from.parse().map_err(|_| format!("smtp.from: «{from}» is not an address"))?;
        let domain = address.domain().to_owned();
        Ok(Self { transport, from: Mailbox::new(None, address), domain })
    }

    /// Sends one mail.
    ///
    /// # Errors
    /// [`MailError`]; after an error it may still have been accepted.
    pub async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        let to: Address =
            mail.to.parse().map_err(|_| MailError::Refused("the address cannot be used".into()))?;
        let subject: String =
            mail.subject.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        let message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(subject)
            .message_id(Some(format!("<{}@{}>", mail.id, self.domain)))
            .header(ContentType::TEXT_PLAIN)
            .body(mail.text.clone())
            .map_err(|_| MailError::Refused("the mail cannot be written".into()))?;
        match timeout(DEADLINE, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(why)) => Err(read(&why)),
            Err(_) => Err(MailError::NotNow("the mail server did not answer in time".into())),
        }
    }
}

fn read(why: &SmtpError) -> MailError {
    let code = why.status().map(|code| code.to_string());
    let told = match &code {
        Some(code) => format!("the mail server answered {code}"),
        None if why.is_tls() => "no TLS with the mail server".to_owned(),
        None if why.is_timeout() => "the mail server did not answer in time".to_owned(),
        None => "the mail server could not be spoken to".to_owned(),
    };
    if why.is_permanent() { MailError::Refused(told) } else { MailError::NotNow(told) }
}
