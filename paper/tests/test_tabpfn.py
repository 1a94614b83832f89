"""TabPFN's regressor: what it is told, what is made of its answer, and where its weights are."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from paper.tests.tabpfn_stand_in import StandInRegressor

from lawsmith.errors import LawsmithError
from lawsmith.runs import State
from lawsmith_paper.rivals import tabpfn
from lawsmith_paper.rivals.tabpfn import TabPFNSurrogate, new_regressor, weights
from tests.surrogates.studies import done, in_state, observed, small_grid, truth


class Listening(StandInRegressor):
    """Keeps what it was told."""

    def __init__(self):
        self.told = []

    def fit(self, X, y):
        self.told.append((np.array(X), np.array(y)))
        return super().fit(X, y)


@pytest.fixture
def listening(monkeypatch):
    regressor = Listening()
    monkeypatch.setattr(tabpfn, "new_regressor", lambda model_path, *, seed, device: regressor)
    return regressor


def test_the_context_is_the_unit_cube_and_the_standardised_loss_in_order_of_rows(listening):
    grid, runs = small_grid(), observed(small_grid(), 12)
    TabPFNSurrogate().fit(grid, runs)
    [(X, z)] = listening.told
    rows = np.sort(runs.index)
    loss = truth(grid)[rows]
    np.testing.assert_array_equal(X, grid.unit()[rows])
    np.testing.assert_allclose(z, (loss - loss.mean()) / loss.std())


def test_mean_and_deviation_are_brought_back_to_the_loss(listening):
    grid, runs = small_grid(), observed(small_grid(), 12)
    posterior = TabPFNSurrogate().fit(grid, runs)
    answer = listening.predict(grid.unit(), output_type="full")
    mean, sd = runs.loss.mean(), runs.loss.std()
    np.testing.assert_allclose(posterior.mean, mean + sd * answer["mean"])
    variance = answer["criterion"].variance(answer["logits"])
    np.testing.assert_allclose(posterior.sd, sd * np.sqrt(variance))


def test_pending_rows_are_a_second_context_at_the_first_one_s_mean(listening):
    grid, runs = small_grid(), observed(small_grid(), 12)
    free = np.setdiff1d(np.arange(len(grid)), runs.index)[:2]
    alone = TabPFNSurrogate().fit(grid, runs)
    posterior = TabPFNSurrogate().fit(grid, runs.append(in_state(State.PENDING, free)))
    X, z = listening.told[-1]
    assert len(listening.told) == 3
    np.testing.assert_array_equal(X[-2:], grid.unit()[free])
    np.testing.assert_allclose(runs.loss.mean() + runs.loss.std() * z[-2:], alone.mean[free])
    np.testing.assert_array_equal(posterior.mean, alone.mean)


@pytest.mark.parametrize("losses", [[2.5], [2.5, 2.5, 2.5]])
def test_constant_targets_are_answered_without_the_network(listening, losses):
    grid = small_grid()
    posterior = TabPFNSurrogate().fit(grid, done(np.arange(len(losses)), losses))
    np.testing.assert_array_equal(posterior.mean, 2.5)
    np.testing.assert_array_equal(posterior.sd, 0.0)
    assert listening.told == []


def test_a_variance_below_0_by_rounding_is_0_and_tensors_are_brought_home(monkeypatch):
    class Tensor:
        """As torch's: not an array until it is detached and on this machine."""

        def __init__(self, values):
            self.values = values

        def detach(self):
            return SimpleNamespace(cpu=lambda: self.values)

    class Rounding(StandInRegressor):
        def predict(self, X, *, output_type="mean"):
            values = Tensor(np.linspace(-1e-7, 1.0, len(X)))
            criterion = SimpleNamespace(variance=lambda logits: logits)
            return {"mean": np.zeros(len(X)), "criterion": criterion, "logits": values}

    monkeypatch.setattr(tabpfn, "new_regressor", lambda *_, **__: Rounding())
    posterior = TabPFNSurrogate().fit(small_grid(), observed(small_grid(), 8))
    assert posterior.sd[0] == 0.0
    assert (posterior.sd[1:] > 0.0).all()


@pytest.fixture
def package(monkeypatch, tmp_path):
    """The part of the package that finds and loads weights; a download would be an error."""
    loading = ModuleType("tabpfn.model_loading")

    def resolve_model_path(model_path, which, version):
        assert (which, version) == ("regressor", "v9")
        path = tmp_path / "cache" / "default.ckpt" if model_path is None else model_path
        return [path], [], [], which

    loading.resolve_model_path = resolve_model_path
    loading.resolve_model_version = lambda model_path: SimpleNamespace(value="v9")
    top = ModuleType("tabpfn")
    top.TabPFNRegressor = lambda **options: SimpleNamespace(**options)
    top.model_loading = loading
    monkeypatch.setitem(sys.modules, "tabpfn", top)
    monkeypatch.setitem(sys.modules, "tabpfn.model_loading", loading)
    return tmp_path


def test_absent_weights_are_an_error_that_says_where_they_were_looked_for(package):
    grid = small_grid()
    for told, path in ((None, package / "cache" / "default.ckpt"), ("no.ckpt", "no.ckpt")):
        with pytest.raises(LawsmithError) as caught:
            TabPFNSurrogate(model_path=told).fit(grid, observed(grid, 5))
        assert str(caught.value) == (
            f"surrogate tabpfn: got no file {path}, want TabPFN's weights there "
            "(get them by its own instructions, or give the path of a file you have)"
        )
    assert list(package.iterdir()) == []


def test_weights_that_are_there_are_loaded_from_that_very_file(package):
    file = package / "mine.ckpt"
    file.touch()
    regressor = new_regressor(str(file), seed=3, device="cuda")
    assert regressor == SimpleNamespace(
        model_path=str(file), device="cuda", random_state=3, ignore_pretraining_limits=True
    )


# The package itself is not installed for tests: these run where somebody has it.


def test_the_package_looks_where_we_look_and_takes_what_we_tell_it(monkeypatch, tmp_path):
    real = pytest.importorskip("tabpfn")
    from tabpfn.settings import settings

    monkeypatch.setattr(settings.tabpfn, "model_cache_dir", tmp_path)
    with pytest.raises(LawsmithError, match=f"got no file {tmp_path}/tabpfn-v"):
        weights(None)
    (tmp_path / "tabpfn-v2-regressor.ckpt").touch()
    assert weights("tabpfn-v2-regressor.ckpt") == tmp_path / "tabpfn-v2-regressor.ckpt"
    with pytest.raises(LawsmithError, match=r"got no file /nowhere/w\.ckpt"):
        weights("/nowhere/w.ckpt")
    taken = inspect.signature(real.TabPFNRegressor.__init__).parameters
    assert {"model_path", "device", "random_state", "ignore_pretraining_limits"} <= set(taken)


def test_the_package_s_regressor_answers_as_the_stand_in_does(monkeypatch):
    real = pytest.importorskip("tabpfn")
    import torch
    from tabpfn.architectures import tabpfn_v2
    from tabpfn.architectures.shared.bar_distribution import FullSupportBarDistribution
    from tabpfn.constants import ModelVersion
    from tabpfn.inference_config import InferenceConfig

    with torch.random.fork_rng():
        torch.manual_seed(0)  # a network that nobody trained
        config = tabpfn_v2.TabPFNV2Config(
            max_num_classes=0, num_buckets=50, emsize=32, nlayers=1, nhead=2
        )
        network = real.ModelSpecs(
            tabpfn_v2.get_architecture(config),
            config,
            InferenceConfig.get_default("regression", ModelVersion.V2),
            FullSupportBarDistribution(torch.linspace(-4.0, 4.0, 51)),
        )
    monkeypatch.setattr(
        tabpfn,
        "new_regressor",
        lambda model_path, *, seed, device: real.TabPFNRegressor(
            model_path=network, device=device, random_state=seed, n_estimators=1
        ),
    )
    grid, runs = small_grid(), observed(small_grid(), 8)
    posterior = TabPFNSurrogate().fit(grid, runs.append(in_state(State.PENDING, [40])))
    assert posterior.mean.shape == posterior.sd.shape == (len(grid),)
    assert np.isfinite(posterior.mean).all()
    # Nothing learnt: the distribution is about as wide as the losses or its own borders.
    assert (posterior.sd > 0.5 * runs.loss.std()).all()
    assert (posterior.sd < 8.0 * runs.loss.std()).all()
