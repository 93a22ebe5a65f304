import time, numpy as np
from dataclasses import replace
from mprlib import warm_up as w, LabelError, Confusion, corrected
from mprlib.compiled import compilation
t=time.process_time(); print(w.warm_up(["linear"]), time.process_time()-t, compilation())
p=w._problem(12); rng=np.random.default_rng(0)
q={n: rng.dirichlet(np.ones(len(o)), p.n) for n,o in list(p.attributes.items())[:1]}
c={n: Confusion.of(.9*np.eye(len(o))+.1/len(o)) for n,o in list(p.attributes.items())[1:]}
for e in (LabelError(probabilities=q, items=c), LabelError(items=c)):
    pe=replace(p, label_error=e); print(corrected(pe, range(12), "linear")); print(compilation())
import mprlib
print(mprlib.select(pe,"mopr",.1,"linear").status, compilation())
