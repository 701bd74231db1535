"""Learners written as plain Python modules, in the way of SVM^python (dissertation, appendix A).

A module of four functions, ``read_examples``, ``init_model``, ``psi`` and ``classify_example``, is a
learner. See docs/hooks.md, and ``clustruct-learn --help``.
"""

from .hook_training import read_sample, start_model, train
from .modules import HookError, Hooks, importable, load_hooks

__all__ = ["HookError", "Hooks", "importable", "load_hooks", "read_sample", "start_model", "train"]
