"""The run's folder: files appear whole or not at all, and a receipt says which unit wrote them.

Commit protocol: each file is written under a temporary name, flushed to disk and renamed (on an
object store: one PUT); the unit's receipt, with rows, bytes and SHA-256 of its files, comes last.
A unit without a receipt counts as not done. Paths are relative to the root, with "/" between.
"""

from .disk import TEMPORARY, Entry
from .files import Store
from .inventory import Inventory, take_inventory
from .places import MAPPED_SUFFIX, failure_file, receipt_file, ticket_file, unit_file, units_folder
from .receipts import FileReceipt, Receipt, committed_receipt, read_receipt, valid_receipt
from .tables import schema_digest

__all__ = [
    "MAPPED_SUFFIX",
    "TEMPORARY",
    "Entry",
    "FileReceipt",
    "Inventory",
    "Receipt",
    "Store",
    "committed_receipt",
    "failure_file",
    "read_receipt",
    "receipt_file",
    "schema_digest",
    "take_inventory",
    "ticket_file",
    "unit_file",
    "units_folder",
    "valid_receipt",
]
