"""E10 from a model that reads texts and images, such as CLIP; the packaged model fills all other neural spaces.

E1 stays the packaged model's, since the text part of such a model reads captions of one sentence.
"""

from collections.abc import Generator

import numpy as np

from actors.embedder.jobs import Rows
from actors.embedder.messages import READS_IMAGES
from actors.embedder.models.sentence_model import Encoder, folder_sha256, local_folder, model_name, windows
from actors.embedder.profiles.formula_spaces import space_model
from actors.text.windows import weighted_mean
from events.fingerprint import Dense, Embedding
from events.quantization import Float32
from events.vocabulary.values import SpaceModel


class ImageSpace:
    """The space that a model of texts and images fills."""

    def __init__(self, source: str, encoder: Encoder) -> None:
        self.image_encoder = encoder
        dimension = len(self._vector("words"))
        made = f"{model_name(source)}, {READS_IMAGES}1"
        sha256 = folder_sha256(local_folder(source))
        self.models: dict[str, SpaceModel] = {"e10_multimodal": space_model("e10_multimodal", made, dimension, sha256)}

    def embed(self, embeddings: dict[str, Embedding], text: str, *, is_query: bool) -> Generator[Rows, object, None]:
        """Put E10 of a text into `embeddings`: the mean over its windows, of which a memory pauses before each."""
        ranges, spans = windows(self.image_encoder, text, "")
        vectors: list[Float32] = []
        for start, end in spans:
            if vectors and not is_query:
                yield []
            vectors.append(self._vector(text[start:end]))
        embeddings["e10_multimodal"] = Dense.of(weighted_mean(ranges, np.stack(vectors)))

    def _vector(self, text: str) -> Float32:
        return self.image_encoder.encode([text], normalize_embeddings=True, show_progress_bar=False)[0]
