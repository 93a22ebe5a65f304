"""Every method that the data allows, from configuration to rows, without Ray."""

import numpy as np
import pytest

from jobs.audit import prepare
from jobs.config.file import read_config
from jobs.errors import UsageError
from jobs.queries import SHIPPED_PHRASES, read_phrases
from jobs.results.preparation import preparation
from jobs.stages.order import read_order
from jobs.store import Receipt, unit_file
from mprlib import METHODS, metrics
from mprlib.baselines.clip_clip import column_order

from .conftest import people, write_audit
from .units_in_process import run_units

TEXT_ENCODER = {"kind": "precomputed", "column": "embedding", "text": {"kind": "sentence"}}
METHODS_ASKED = [
    "top_k",
    {"mmr": {"values": [0.5], "spread": "nearest"}},
    {"pbm": {"points": 2, "attributes": ["gender"]}},
    {"clip_clip": {"points": 1, "attributes": ["gender"]}},
    {"paths": {"trade_off": 0.2, "dimensions": 3}},
    {"apportionment": {"rule": "dhondt"}},
    {"dpp": {"weight": 1.0}},
    {"fair_top_k": {"group": "gender=female", "significance": 0.2}},
    "det_greedy",
    {"det_relaxed": {"order": "score"}},
    {"det_cons": {"order": "fair"}},
    {"det_const_sort": {"order": "fair"}},
    {"exposure_policy": {"order": "score"}},
    {"orth_cali": {"prompts": ["a man", "a woman"], "pairs": ["a male nurse", "a female nurse"]}},
    {"spd": {"attributes": ["gender"]}},
    {"bend_vlm": {"attributes": ["gender"], "prompts": ["a man"], "variants": ["a male {query}", "a female {query}"]}},
    {"closed_form_debias": {"prompts": ["a man", "a woman"]}},
]


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    return run_units(tmp_path_factory.mktemp("methods"), encoder=TEXT_ENCODER, methods=METHODS_ASKED)


def rows_of(solved, method):
    plan, store = solved
    [unit] = [unit for unit in plan.stages["solve"] if unit.title == f"items: nurse: {method}"]
    return store.read_table(unit_file("solve", unit.key, "results")).to_pylist()


@pytest.mark.parametrize("name", [entry if isinstance(entry, str) else next(iter(entry)) for entry in METHODS_ASKED])
def test_every_row_has_k_distinct_items(solved, name):
    rows = rows_of(solved, name)
    assert rows
    for row in rows:
        assert row["status"] == "done"
        assert len(set(row["item_ids"])) == 10
        assert 0 <= row["mpr"] <= 1
    assert {row["parameter"] for row in rows} == {METHODS[name].parameter}


@pytest.mark.parametrize(("name", "is_by_score"), [("det_greedy", True), ("det_relaxed", True), ("det_cons", False)])
def test_a_re_ranker_returns_its_own_order_where_that_is_asked_for(solved, name, is_by_score):
    """The measures of the order are those of the order that is returned."""
    [best] = {tuple(row["item_ids"]) for row in rows_of(solved, "top_k")}
    [row, _] = rows_of(solved, name)
    shown = [item for item in best if item in row["item_ids"]]
    assert len(shown) > 2
    assert ([item for item in row["item_ids"] if item in shown] == shown) == is_by_score
    frame = people().set_index("person")
    target = (frame.groupby("gender")["weight"].sum() / frame["weight"].sum()).to_dict()
    ndkl = metrics.ndkl(metrics.ranking(frame["gender"][row["item_ids"]], target))
    assert row["ndkl"] >= ndkl - 1e-12


def test_two_settings_of_one_method_are_told_apart(tmp_path):
    """Rows, groups and what is prepared carry the entry's own name."""
    entries = [{"name": "few", "rounds": 1}, {"name": "many", "rounds": 20}]
    methods = ["top_k", *({"mopr_paper": {"values": [0.02], "targets": ["linear"]} | entry} for entry in entries)]
    plan, store = solved = run_units(tmp_path, methods=methods, function_classes=["linear"])
    names = ["mopr_paper(few)", "mopr_paper(many)"]
    few, many = (rows_of(solved, f"{name} for linear") for name in names)
    assert [row["method"] for row in (*few, *many)] == names and few[0]["parameter"] == "rho"
    assert few[0]["item_ids"] != many[0]["item_ids"]
    for unit in plan.stages["solve"]:
        groups = store.read_table(unit_file("solve", unit.key, "groups"))
        assert set(groups["method"].to_pylist()) == {unit.method.display}


def test_pbm_at_small_eps_shows_both_genders_alike(tmp_path):
    methods = [{"pbm": {"values": [0.0], "attributes": ["gender"]}}]
    solved = run_units(tmp_path, methods=methods)
    gender = people().set_index("person")["gender"]
    items = rows_of(solved, "pbm")[0]["item_ids"]
    assert (gender[items] == "female").sum() == 5


def test_an_unknown_level_is_neutral_for_pbm(tmp_path):
    table = people()
    table.loc[table["gender"] == "male", "gender"] = None
    table.loc[::7, "gender"] = "other"
    solved = run_units(tmp_path, table=table, methods=[{"pbm": {"values": [0.0], "attributes": ["gender"]}}])
    gender = table.set_index("person")["gender"]
    shown = gender[rows_of(solved, "pbm")[0]["item_ids"]]
    # The last block may not fit: then it gives one of the two.
    assert abs((shown == "female").sum() - (shown == "other").sum()) <= 1
    assert shown.isna().any()


def test_pbm_by_prompts_reads_the_encoder(tmp_path):
    methods = [{"pbm": {"values": [0.5], "prompts": ["a person", "a woman", "a man"]}}]
    plan, _store = solved = run_units(tmp_path, encoder=TEXT_ENCODER, methods=methods)
    assert [unit.texts for unit in plan.stages["texts"]] == [("a person", "a woman", "a man")]
    assert len(set(rows_of(solved, "pbm")[0]["item_ids"])) == 10


def test_clip_clip_drops_the_column_that_tells_the_gender(solved):
    plan, store = solved
    vectors = np.array(people()["embedding"].tolist(), dtype=np.float32)
    [unit] = plan.stages["order"]
    order = read_order(store, unit.key)
    assert order.tolist() == column_order(vectors, (people()["gender"] == "male").to_numpy().astype(int)).tolist()
    assert order[0] == 0


def test_the_order_is_one_set_of_units_for_all_queries_and_k(tmp_path):
    path = write_audit(tmp_path, methods=[{"clip_clip": {"points": 2, "attributes": ["gender"]}}], k=[5, 10])
    before = prepare(read_config(path))[1]
    assert len(before.stages["information"]) == 8
    assert len(before.stages["solve"]) == 4
    after = prepare(read_config(path, ("methods=[{clip_clip: {points: 3, attributes: [gender]}}]",)))[1]
    for stage in ("information", "order"):
        assert [unit.key for unit in after.stages[stage]] == [unit.key for unit in before.stages[stage]]
    assert {unit.asked.order for unit in after.stages["solve"]} == {after.stages["order"][0].key}


def test_a_new_query_leaves_clip_clip_of_the_others_alone(tmp_path):
    path = write_audit(tmp_path, encoder={"kind": "sentence"}, methods=[{"clip_clip": {"points": 2}}], queries=["x"])
    text = path.read_text(encoding="utf-8").replace("vectors: queries.parquet", "list: [nurse]")
    path.write_text(text.replace("  id: person\n", "  id: person\n  text: '{job}'\n"), encoding="utf-8")
    before, after = (
        {unit.title: unit.key for unit in prepare(read_config(path, overrides))[1].stages["solve"]}
        for overrides in ((), ("queries.list=[nurse, chef]",))
    )
    assert before.items() < after.items()


def test_variants_are_of_one_query_each(tmp_path):
    """Another query asks for texts of its own, and what was there stays."""
    methods = [{"bend_vlm": {"variants": ["a male {query}", "a female {query}"]}}]
    plans = [
        prepare(read_config(write_audit(tmp_path, queries=queries, encoder=TEXT_ENCODER, methods=methods)))[1]
        for queries in (["nurse"], ["nurse", "chef"])
    ]
    assert [unit.texts for unit in plans[1].stages["texts"]] == [
        ("a male nurse", "a female nurse"),
        ("a male chef", "a female chef"),
    ]
    before, after = ({unit.key for unit in plan.stages["texts"]} for plan in plans)
    assert before < after


def test_phrases_of_a_file_and_their_place_is_not_in_the_key(tmp_path):
    keys = []
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("# looks\ntall person\nshort person\ntall person\n", encoding="utf-8")
        path = write_audit(tmp_path, encoder=TEXT_ENCODER, methods=[{"paths": {"phrases": name}}])
        plan = prepare(read_config(path))[1]
        assert plan.stages["texts"][0].texts == ("tall person", "short person")
        keys.append([unit.key for unit in plan.units])
    assert keys[0] == keys[1]


def test_the_shipped_phrases():
    phrases = read_phrases(None, SHIPPED_PHRASES.parent)
    assert len(phrases) >= 200
    assert len({phrase.casefold() for phrase in phrases}) == len(phrases)
    assert all(2 <= len(phrase.split()) <= 4 for phrase in phrases)


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        ("[{paths: {phrases: absent.txt}}]", ["absent.txt"]),
        ("[{pbm: {attributes: [shoe]}}]", ["'shoe'", "gender, age"]),
        ("[{pbm: {attributes: [gender], prompts: [a, b]}}]", ["both attributes and prompts"]),
        ("[{pbm: {prompts: [a]}}]", ["prompts"]),
        ("[{pbm: {group_labels: [1, 2]}}]", ["group_labels", "attributes"]),
        ("[{clip_clip: {order: [1, 0]}}]", ["order", "attributes"]),
        ("[{fair_top_k: {group: female}}]", ["attribute=level"]),
        ("[orth_cali]", ["orth_cali needs prompts"]),
        ("[{orth_cali: {prompts: [a man], pairs: [a, b, c]}}]", ["pairs has 3 texts", "an even number"]),
        ("[{closed_form_debias: {prompts: [a man]}}]", ["prompts", "one for each level"]),
        ("[{bend_vlm: {variants: ['a male {query}', a female nurse]}}]", ["'a female nurse'", "{query}"]),
        ("[{spd: {attributes: [shoe]}}]", ["'shoe'", "gender, age"]),
        ("[{spd: {axes: 0}}]", ["axes", "at least 1"]),
        ("[{fair_top_k: {share: 0.5}}]", ["share without a group"]),
        ("[{apportionment: {rule: borda}}]", ["hamilton, dhondt"]),
        ("[{mmr: {spread: median}}]", ["mean, nearest, farthest"]),
        ("[{dpp: {weight: heavy}}]", ["dpp"]),
    ],
)
def test_unusable_settings_are_found_before_anything_runs(tmp_path, methods, words):
    path = write_audit(tmp_path, encoder=TEXT_ENCODER)
    with pytest.raises(UsageError) as caught:
        prepare(read_config(path, (f"methods={methods}",)))
    for word in words:
        assert word in str(caught.value)


def test_texts_need_an_encoder(audit_file):
    with pytest.raises(UsageError, match="method paths.*encoder.text"):
        prepare(read_config(audit_file, ("methods=[paths]",)))


@pytest.mark.parametrize(
    ("encoder", "words"),
    [
        ({"kind": "precomputed", "column": "embedding"}, "has no text tower"),
        (TEXT_ENCODER, "is sentence, whose text tower takes none"),
    ],
)
def test_learned_tokens_need_a_text_tower_that_reads_them(tmp_path, encoder, words):
    path = write_audit(tmp_path, encoder=encoder, methods=[{"debias_clip": {"tokens": "tokens.safetensors"}}])
    with pytest.raises(UsageError, match=f"debias_clip.*open_clip.*{words}"):
        prepare(read_config(path))


def test_debias_clip_needs_tokens(tmp_path):
    with pytest.raises(UsageError, match="debias_clip needs tokens.*train-prompt"):
        prepare(read_config(write_audit(tmp_path, methods=["debias_clip"])))


def test_what_clip_clip_prepares_for_all_queries_is_its_own(solved):
    """Its order of columns and the information behind it, not the vectors, which serve every method."""
    plan, _ = solved
    receipt = Receipt(stage="", key="", title="", files={}, seconds=1.0)
    seconds = {
        row["method"]: row["seconds"] for row in preparation(plan.units, {unit.key: receipt for unit in plan.units})
    }
    own = len(plan.stages["order"]) + len(plan.stages["information"])
    # `bend_vlm` has texts of its own, and variants of either query.
    texts = {"paths": 1, "orth_cali": 1, "closed_form_debias": 1, "bend_vlm": 3}
    assert seconds == {"clip_clip": own, **texts} and sum(texts.values()) == len(plan.stages["texts"])


def test_a_balanced_reference_counts_one_row_for_each_combination_unless_it_says_otherwise(tmp_path):
    """As in the paper's experiments; MPR depends on the size."""
    sizes = {}
    for size in (None, 500):
        reference = {"kind": "balanced"} | ({} if size is None else {"size": size})
        (tmp_path / str(size)).mkdir()
        plan, store = run_units(tmp_path / str(size), reference=reference, methods=["top_k"])
        first = plan.stages["solve"][0]
        row = store.read_table(unit_file("solve", first.key, "results")).to_pylist()[0]
        sizes[size] = row["reference_size"]
    levels = prepare(read_config(write_audit(tmp_path, methods=["top_k"])))[1].stages["solve"][0].levels
    assert sizes == {None: np.prod([len(own) for own in levels.values()]), 500: 500}
