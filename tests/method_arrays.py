"""Arrays that some methods need, made up for vectors of any width."""

import numpy as np


def needed(method: str, width: int, seed: int = 0) -> dict[str, np.ndarray]:
    """The settings without which a method refuses."""
    random = np.random.default_rng(seed)
    return {
        "debias_clip": {"debiased_query": random.standard_normal(width)},
        "paths": {"subspace": random.standard_normal((2, width))},
        "orth_cali": {"attribute_prompts": random.standard_normal((1, width))},
        "closed_form_debias": {"prototypes": random.standard_normal((2, width))},
    }.get(method, {})
