"""Anonymity of a population known only as counts: expectation, exact variance, simulation."""

from kanon_lab.loading import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "law": """CUADRO_1_RANGES CUADRO_2_RANGES KRange PERIODS covariance_in_ranges parse_ranges persons_by_k
            persons_in_ranges variance_in_ranges""",
        "places": "anonymity simulate",
        "register": "beside_register draw_register register_counts write_register",
    },
)
