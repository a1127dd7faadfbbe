"""Importers: memories from the files of other programs."""

KNOWN = (
    "Claude Code, Codex, Gemini CLI or SpecStory sessions, memories of the official memory server, mem0 or claude-mem,"
    " exports of ChatGPT, claude.ai, Slack or Telegram (JSON), WhatsApp chats (.txt), notes (.md, .txt, .html, .org, "
    ".rst, .ipynb, .docx), transcripts (.vtt, .srt), messages (.eml, .emlx), mailboxes (.mbox), tables (.csv, .tsv), "
    "or JSON lines with 'content'"
)
"""The formats, as `--help` and errors name them; an error has room for 500 characters."""
