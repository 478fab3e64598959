from .downcoding import downcoding_attack as downcoding_attack
from .inversion import ends_attack as ends_attack
from .inversion import means_attack as means_attack
from .inversion import pram_attack as pram_attack
from .minimality import minimality_attack as minimality_attack
from .minimality import rerun_attack as rerun_attack
from .two_pages import two_pages_attack as two_pages_attack
