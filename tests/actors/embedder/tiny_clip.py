"""A tiny CLIP on the disk: of random weights, fitted within a second to tell colours apart. No published weights."""

from pathlib import Path

from PIL import Image

from tests.actors.embedder.tiny_models import save_tokenizer

COLOURS = {
    "red": (220, 20, 20),
    "green": (20, 160, 40),
    "blue": (30, 40, 220),
    "yellow": (240, 220, 20),
    "black": (5, 5, 5),
    "white": (250, 250, 250),
}
SIDE = 32
TEXTS = ("{}", "a {} square", "the {} one", "something {} that we painted", "it is {}")
LAYERS = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}


def save_clip(folder: Path) -> Path:
    """Save the model with its tokenizer and image processor."""
    import torch
    from transformers import CLIPConfig, CLIPModel, CLIPProcessor, PreTrainedTokenizerFast
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    torch.manual_seed(0)
    torch.set_num_threads(1)
    folder.mkdir()
    save_tokenizer(folder)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder, model_max_length=64)
    text = {"vocab_size": len(tokenizer), "max_position_embeddings": 64, "eos_token_id": 102, "bos_token_id": 101}
    model = CLIPModel(
        CLIPConfig(
            text_config=LAYERS | text | {"pad_token_id": 0},
            vision_config=LAYERS | {"image_size": SIDE, "patch_size": 16},
            projection_dim=32,
        )
    )
    processor = CLIPProcessor(
        CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}), tokenizer
    )
    pictures = [Image.new("RGB", (SIDE, SIDE), colour) for colour in COLOURS.values()]
    pixels = processor(images=pictures, return_tensors="pt")["pixel_values"]
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(120):
        texts = [TEXTS[step % len(TEXTS)].format(colour) for colour in COLOURS]
        words = tokenizer(texts, return_tensors="pt", padding=True)
        optimizer.zero_grad()
        shown = {"input_ids": words["input_ids"], "attention_mask": words["attention_mask"], "pixel_values": pixels}
        model(**shown, return_loss=True).loss.backward()
        optimizer.step()
    model.eval().save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
