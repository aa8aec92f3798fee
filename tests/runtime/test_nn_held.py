"""Layers that hold a function's arguments: what the recorded cases do not show."""

import pytest

torch = pytest.importorskip("torch")

from ms2torch.runtime._backend import nn  # noqa: E402


def test_multi_margin():
    # values of MindSpore 2.10 on CPU
    x = torch.sin(torch.arange(12) * 0.7).reshape(3, 4) * 1.5 + 0.01
    labels, weight = torch.tensor([1, 0, 3]), torch.tensor([1.0, 2.0, 3.0, 4.0])
    torch.testing.assert_close(nn.MultiMarginLoss()(x, labels), torch.tensor(0.28143638))
    torch.testing.assert_close(nn.MultiMarginLoss(2, 0.5, "sum")(x, labels), torch.tensor(0.42755958))
    want = torch.tensor([1.4370046, 0.0, 0.5032275])
    torch.testing.assert_close(nn.MultiMarginLoss(reduction="none")(x, labels, weight), want)
    torch.testing.assert_close(nn.MultiMarginLoss(weight=weight, reduction="none")(x, labels), want)


def test_multilabel_margin():
    # (1 - (x[label] - x[other])) above 0, over the classes
    loss = nn.MultilabelMarginLoss()(torch.tensor([[0.1, 0.2, 0.4]]), torch.tensor([[2, -1, 0]]))
    torch.testing.assert_close(loss, torch.tensor((0.7 + 0.8) / 3))


def test_unpool_inverts_pooling():
    x = torch.tensor([[[[1.0, 2.0], [4.0, 3.0]]]])
    best, where = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    out = nn.MaxUnpool2d(2)(best, where.int())
    assert out.tolist() == [[[[0.0, 0.0], [4.0, 0.0]]]]
    assert nn.MaxUnpool1d(2)(torch.tensor([[[5.0]]]), torch.tensor([[[1]]])).tolist() == [[[0.0, 5.0]]]
    cube = nn.MaxUnpool3d(2)(torch.full((1, 1, 1, 1, 1), 5.0), torch.full((1, 1, 1, 1, 1), 7), (2, 2, 2))
    assert cube.sum() == cube[0, 0, 1, 1, 1] == 5


def test_what_is_refused():
    with pytest.raises(ValueError, match="2 sides"):
        nn.ConstantPad1d((1, 2, 3, 4), 0)
    with pytest.raises(ValueError, match="4 sides"):
        nn.ReflectionPad2d((1, 2))
    with pytest.raises(ValueError, match="norm_region"):
        nn.LRN(norm_region="WITHIN_CHANNEL")
