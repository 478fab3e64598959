"""Methods of protection: recoding and hierarchies, suppression, perturbation, generalisation of whole files."""

from kanon_lab.loading import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "full_domain": "LOSSES LatticeResult generalise generalise_records lattice_search level_grid suppress_records",
        "hierarchy": "Hierarchy",
        "lattice": "L_KINDS MOST_NODES",
        "local_recoding": "MondrianResult mondrian",
        "perturbation": "KEEPS Keep Perturbed",
        "post_randomisation": "pram",
        "quantities": "add_noise microaggregate",
        "recode_settings": "recode_dates recode_step",
        "recoding": "bottom_code cut_bands group_categories round_values top_code",
        "suppression": "CLAIMS Suppression local_suppression protection_claims suppress_above_risk",
        "swapping": "rank_swap shuffle",
        "transition": """estimated_shares invariant_matrix posterior redrawing_matrix shares_covariance
            transition_matrix""",
    },
)
