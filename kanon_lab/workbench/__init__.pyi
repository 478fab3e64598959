from .drafts import Draft as Draft
from .drafts import Entry as Entry
from .page import workbench as workbench
from .session import Session as Session
