"""Program: exports all-MiniLM-L6-v2 as ONNX with its tokenizer, from one folder into another.

The tokenizer truncates at 256 pieces, the model's own setting, and pads nothing: both suit a peer best.
"""

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import AutoModel

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
PIECES = 256


class States(torch.nn.Module):
    """The model with positional inputs and one output, as ONNX requires."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        """Return the last hidden states, float32[batch, pieces, 384]."""
        return self.model(**dict(zip(INPUTS, inputs, strict=True))).last_hidden_state


def export(model: Path, folder: Path) -> None:
    """Write model.onnx and tokenizer.json."""
    states = States(AutoModel.from_pretrained(model, attn_implementation="eager").eval())
    example = torch.ones(2, 8, dtype=torch.long)
    torch.onnx.export(
        states,
        (example, example, example * 0),
        str(folder / "model.onnx"),
        input_names=INPUTS,
        output_names=("last_hidden_state",),
        dynamic_axes={name: {0: "batch", 1: "pieces"} for name in (*INPUTS, "last_hidden_state")},
        opset_version=17,
        dynamo=False,  # the newer exporter needs three more packages
    )
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.enable_truncation(PIECES)
    tokenizer.no_padding()
    tokenizer.save(str(folder / "tokenizer.json"))


if __name__ == "__main__":
    export(Path(sys.argv[1]), Path(sys.argv[2]))
