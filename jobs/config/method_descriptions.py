"""What the settings mean that a configuration has in the place of a method's arrays (`method_settings.MADE_FROM`).

The library describes the settings that are its own, beside their types.
"""

from __future__ import annotations

from collections.abc import Mapping

DESCRIPTIONS: Mapping[str, Mapping[str, str]] = {
    "pbm": {
        "attributes": "whose joint levels are the classes; default: all. An unknown level is neutral",
        "prompts": "a neutral text, then one a class: labels by the encoder",
        "probes": "names of `probes` whose joint levels are the classes",
    },
    "clip_clip": {"attributes": "whose joint level the dropped columns tell about; default: all"},
    "debias_clip": {"tokens": "required: a file that `train-prompt` or `convert-prompt` has written; needs open_clip"},
    "paths": {"phrases": "a file, one a line; default: the list that comes with the job"},
    "fair_top_k": {
        "group": "the protected one, as `gender=female`; default: the level that top-k shows too little of",
    },
}
