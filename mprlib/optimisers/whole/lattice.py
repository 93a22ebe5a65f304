"""A lattice basis in triangular form, for decoders: v = outside + Q (offset + R c) for whole c.

The columns are taken by falling distance from those that follow: a decoder decides the last coordinate first, and
the longer its step the fewer values are left for it.

Source:  Wuebben et al. 2001, on the sorted QR decomposition; Agrell et al. 2002, on closest points in lattices.

Worked example: columns (3, 0) and (0, 1) are taken in the order (0, 1), (3, 0).

>>> sorted_qr(np.array([[3.0, 0.0], [0.0, 1.0]])).order.tolist()
[1, 0]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from mprlib.optimisers.whole.decoder_kernel import Basis
    from mprlib.optimisers.whole.lattice_kernel import Taken

# A column whose distance from the others' span is below this part of the longest one is in it.
DEPENDENCE = 1e-9
# A cap wider than this part of rho is looked at as one of this width: its coordinates are all wide.
WIDEST = 0.5


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Triangular:
    """Columns in triangular form.

    Shapes:  order (d,), the columns taken, in order of the coordinates; dependent (others,), those in their span;
             basis (r, d) = Q, orthonormal; triangle (d, d) = R, upper, with a positive diagonal.
    """

    order: IntArray
    dependent: IntArray
    basis: FloatArray
    triangle: FloatArray

    @classmethod
    def of(cls, found: Taken) -> Triangular:
        """That of the kernel."""
        return cls(order=found.order, dependent=found.dependent, basis=found.basis.T, triangle=found.triangle)

    def with_dependent(self, columns: FloatArray) -> Triangular:
        """The form with the dependent columns as last coordinates, with zeros on the diagonal."""
        added = (self.basis.T[:, :, None] * columns[None][:, :, self.dependent]).sum(axis=1)
        triangle = np.zeros((columns.shape[1], columns.shape[1]))
        triangle[: self.order.size] = np.column_stack([self.triangle, added])
        basis = np.zeros((columns.shape[0], columns.shape[1]))
        basis[:, : self.order.size] = self.basis
        order = np.concatenate([self.order, self.dependent])
        return Triangular(order=order, dependent=self.dependent, basis=basis, triangle=triangle)


def basis_of(form: Triangular, constant: FloatArray, direction: FloatArray) -> Basis:
    """The lattice from a constant part of v (r,), with prices z = direction (r,)."""
    from mprlib.optimisers.whole.decoder_kernel import Basis

    offset = form.basis.T @ constant
    outside = constant - form.basis @ offset
    along = form.basis.T @ direction
    return Basis(
        triangle=form.triangle,
        offset=offset,
        along=along,
        reach=np.sqrt(np.concatenate([[0.0], np.cumsum(along**2)])),
        outside=float(outside @ outside),
        constant=float(direction @ outside),
    )


def sorted_qr(columns: FloatArray) -> Triangular:
    """The triangular form of columns (r, c); the nearest to the span of those taken comes next.

    By element-wise sums: those of a matrix product may depend on the number of threads.
    """
    from mprlib.optimisers.whole.lattice_kernel import triangular

    return Triangular.of(triangular(np.ascontiguousarray(columns, dtype=np.float64), DEPENDENCE))


def independent(columns: FloatArray) -> IntArray:
    """Which columns (c,) the triangular form takes, rising."""
    return np.sort(sorted_qr(columns).order)
