//! Whom TLS trunks are believed to be.

use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// Trusts the well-known certificate authorities and those of the operator's file.
///
/// # Errors
/// The file cannot be read, or holds no certificate.
pub(super) fn verifier(extra: Option<&Path>) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(path) = extra {
        let name = path.display();
        let certificates = CertificateDer::pem_file_iter(path).map_err(|error| format!("tls_ca {name}: {error}"))?;
        let mut any = false;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| format!("tls_ca {name}: {error}"))?;
            roots.add(certificate).map_err(|error| format!("tls_ca {name}: {error}"))?;
            any = true;
        }
        if !any {
            return Err(format!("tls_ca {name} holds no certificate"));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().map_err(|error| error.to_string())?;
    Ok(verifier)
}
