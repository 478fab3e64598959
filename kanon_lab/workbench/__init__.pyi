from .page import workbench as workbench
from .session import Draft as Draft
from .session import Entry as Entry
from .session import Session as Session
