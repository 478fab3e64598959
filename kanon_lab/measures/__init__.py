"""Measures of a file: risk of re-identification, diversity of sensitive values, and what a release has lost."""

from kanon_lab.loading import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "file_measures": "FileRisk Measures attacker_risks file_risk measure",
        "information_loss": """QuantityLoss average_class_size discernibility granularity non_uniform_entropy
            quantity_loss table_distances""",
        "linkage": "LinkageResult Linked linkage_attack record_linkage",
        "loglinear_model": "LogLinear loglinear",
        "propensity_scores": "Propensity propensity",
        "quantities": "Interval Outliers Robust UpperTail interval_disclosure outliers robust_disclosure upper_tail",
        "risk": """ESTIMATORS RecordsAbove household_risk household_risks household_size individual_risk records_above
            with_household_composition with_household_size""",
        "sensitive_values": "DISTANCES MEASURES AlphaK Bands Diversity PSensitivity alpha_k diversity p_sensitivity",
        "special_uniques": "Suda suda unique_keys",
        "survey_design": "Design",
        "survey_indicators": "IndicatorSet compare_indicators indicator_loss indicators",
    },
)
