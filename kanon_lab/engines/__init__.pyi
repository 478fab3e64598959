from .counting import CountedFile as CountedFile
from .counting import count_frame as count_frame
from .counting import count_records as count_records
from .saved import load_counts as load_counts
from .saved import save_counts as save_counts
from .source import ENGINES as ENGINES
from .source import choose_engine as choose_engine
