"""Images: their files are decoded within limits, and embedded by a model of texts and images, such as CLIP."""

import hashlib
from io import BytesIO
from typing import Any, Final

from actors.embedder.models.sentence_model import Encoder
from actors.embedder.spaces.vectors import unit
from actors.runtime.faults import EmbeddingFault, InvalidParamsFault
from events.quantization import Float32
from events.vocabulary.values import Image

MEDIA_TYPES: Final = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",
    "WEBP": "image/webp",
    "GIF": "image/gif",
}
"""By Pillow's name of the format. It takes a JPEG with further pictures for MPO, as phones write them."""

KNOWN: Final = ("PNG", "JPEG", "WEBP", "GIF")
"""The decoders of Pillow that run."""

MAX_PIXELS: Final = 1 << 25
"""Of the decoded image, some 100 MB: a file of a few kilobytes can state any size."""

SIDE: Final = 1_024
"""Pixels of the longer side that the model is given at most; models reduce it to some 200 to 400."""


def reads_images(encoder: Encoder) -> bool:
    """Tell whether a model of sentence-transformers embeds images beside texts."""
    return "image" in getattr(encoder, "modalities", ())


def embed(encoder: Encoder, content: bytes | None) -> tuple[Float32, Image]:
    """Return the unit vector of an image file by the encoder of E10, shape (dimension,), and what it is.

    Raises:
        EmbeddingFault: The encoder reads no images, or Pillow is missing.
        InvalidParamsFault: The content is no image within the limits.
    """
    if not reads_images(encoder):
        raise EmbeddingFault(
            "Embedding failed: no model of this store reads images. Start a new store with one that does "
            "(`context-graph serve --data FOLDER --embedder sentence-transformers/clip-ViT-B-32`, or a folder with a "
            "CLIP model), or make one from this store with `context-graph reembed`; or store a description as text",
            parameter="modality",
        )
    if content is None:
        raise _invalid("modality image needs a path or a data URI; 'content' is its caption")
    picture, image = decode(content)
    (vector,) = encoder.encode([picture], normalize_embeddings=True, show_progress_bar=False)
    return unit(vector), image


def decode(content: bytes) -> tuple[Any, Image]:
    """Return a Pillow image in RGB of at most `SIDE` pixels a side, and what the file holds; of several the first.

    What is transparent is white, as on a page. Raises what `embed` raises.
    """
    try:
        import PIL.Image
        from PIL import ImageOps
    except ImportError:
        raise EmbeddingFault("Embedding failed: images need Pillow; run: pip install 'context-graph[images]'") from None
    try:
        picture = PIL.Image.open(BytesIO(content), formats=KNOWN)
        width, height = picture.size
        if width * height > MAX_PIXELS:
            raise _invalid(f"{width} x {height} pixels, at most {MAX_PIXELS:,} in all")
        media_type = MEDIA_TYPES[str(picture.format)]
        picture.thumbnail((SIDE, SIDE))  # decodes; a JPEG at once in a lower resolution
        picture = _in_rgb(ImageOps.exif_transpose(picture))
    except PIL.Image.UnidentifiedImageError:
        raise _invalid(f"not an image of a known type ({', '.join(KNOWN)})") from None
    except (PIL.Image.DecompressionBombError, PIL.Image.DecompressionBombWarning):
        raise _invalid(f"more than {MAX_PIXELS:,} pixels") from None
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError) as error:
        raise _invalid(f"the file is damaged: {error}") from None
    return picture, Image(media_type, width, height, len(content), hashlib.sha256(content).digest())


def _in_rgb(picture: Any) -> Any:
    import PIL.Image

    if picture.mode.startswith("I;16"):  # else all above 255 is white
        picture = picture.point(lambda value: value / 256).convert("L")
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    picture = picture.convert("RGBA")
    return PIL.Image.alpha_composite(PIL.Image.new("RGBA", picture.size, "white"), picture).convert("RGB")


def _invalid(problem: str) -> InvalidParamsFault:
    return InvalidParamsFault(f"Invalid 'image': {problem}", parameter="image")
