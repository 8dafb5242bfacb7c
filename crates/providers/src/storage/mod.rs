//! Storage of recordings and files.
//!
//! | file | holds |
//! |---|---|
//! | `files` | a folder |
//! | `s3` | a bucket of an S3-compatible service, path-style |
//! | `s3_parts` | objects of such a bucket that are stored in parts |
//! | `key` | which keys are valid |

mod files;
mod key;
mod s3;
mod s3_parts;

use std::sync::Arc;
use std::time::Duration;

use domain::ports::ObjectStore;

use crate::http::Net;
use crate::settings;

pub use files::Files;
pub use key::is_key;
pub use s3::S3;
#[doc(hidden)]
pub use s3_parts::fuzzing;

/// Longest wait for a bucket's next response; a recording of an hour takes less.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The store of the settings.
///
/// # Errors
/// The setting that is wrong and why; never a secret.
pub fn build(settings: &settings::Storage, net: &Net) -> Result<Arc<dyn ObjectStore>, String> {
    Ok(match settings {
        settings::Storage::Files(folder) => Arc::new(
            Files::open(folder)
                .map_err(|error| format!("storage: {}: {}", folder.display(), error.kind()))?,
        ),
        settings::Storage::S3 { endpoint, region, bucket, access_key, secret_key } => {
            Arc::new(S3::new(net, endpoint, region, bucket, access_key, secret_key, TIMEOUT)?)
        }
    })
}
