"""What drawing in the book, in JupyterLab and in a report needs, without a network.

A notebook calls `enable` once, and wraps each chart it shows in `figure`, which demands alternative text.
"""

from kanon_lab.page.figures import Figure, enable, figure
from kanon_lab.page.listing import Listing
from kanon_lab.page.markup import scrolling_table

__all__ = ["Figure", "Listing", "enable", "figure", "scrolling_table"]
