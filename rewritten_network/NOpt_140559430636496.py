import sys
import mindspore
from mindspore import nn
from mindspore.nn import Cell
from mindspore.ops import functional as F
#
#
sys.path.insert(0, '/tmp/adv')
N = getattr(sys.modules['__main__'], 'N')

class NOpt(N, nn.Cell):

    def __init__(self, obj):
        nn.Cell.__init__(self)
        for key, value in obj.__dict__.items():
            setattr(self, key, value)

    def construct(s, x):
        str_var_4 = str(x.dtype)
        s.out.append(str_var_4)
        y = s.d(x)
        str_var_3 = str(y.dtype)
        s.out.append(str_var_3)
        z = s.bn(y)
        str_var_2 = str(z.dtype)
        s.out.append(str_var_2)
        w = s.ln(z)
        str_var_1 = str(w.dtype)
        s.out.append(str_var_1)
        q = s.sm(w)
        str_var = str(q.dtype)
        s.out.append(str_var)
        return q
#