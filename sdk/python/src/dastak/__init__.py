"""The SDK of dastak: voice and chat agents.

    from dastak import Client

    with Client() as client:
        for call in client.calls.list():
            print(call.id, call.state)
"""

from . import models, webhooks
from ._chat_stream import AsyncChatStream, ChatDone, ChatStream, ChatStreamEvent, ChatText
from ._client import AsyncClient, Client
from ._errors import (
    ApiError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ConnectionFailedError,
    DastakError,
    GoneError,
    InsufficientBalanceError,
    InvalidArgumentError,
    LockedError,
    NotFoundError,
    PagingError,
    PermissionDeniedError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    SignatureError,
    StreamInterruptedError,
    UnexpectedAnswerError,
    UnprocessableError,
)
from ._extended import NoRecordingError
from ._files import AsyncDownload, Download, FileInput
from ._paging import AsyncPage, AsyncPager, Page
from ._requests import OMIT, Omit
from ._transport import RawResponse
from ._version import VERSION

__version__ = VERSION

__all__ = [
    "OMIT",
    "VERSION",
    "ApiError",
    "AsyncChatStream",
    "AsyncClient",
    "AsyncDownload",
    "AsyncPage",
    "AsyncPager",
    "AuthenticationError",
    "BadRequestError",
    "ChatDone",
    "ChatStream",
    "ChatStreamEvent",
    "ChatText",
    "Client",
    "ConflictError",
    "ConnectionFailedError",
    "DastakError",
    "Download",
    "FileInput",
    "GoneError",
    "InsufficientBalanceError",
    "InvalidArgumentError",
    "LockedError",
    "NoRecordingError",
    "NotFoundError",
    "Omit",
    "Page",
    "PagingError",
    "PermissionDeniedError",
    "RateLimitError",
    "RawResponse",
    "RequestTimeoutError",
    "ServerError",
    "SignatureError",
    "StreamInterruptedError",
    "UnexpectedAnswerError",
    "UnprocessableError",
    "models",
    "webhooks",
]
