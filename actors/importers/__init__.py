"""Importers: memories from the files of other programs."""

KNOWN = (
    "Claude Code, Codex, Gemini CLI or SpecStory sessions, memories of mem0, claude-mem or the official server, "
    "exports of ChatGPT, claude.ai, Slack or Telegram, issues of GitHub or Beads (JSON), WhatsApp chats (.txt), notes "
    "(.md, .txt, .html, .org, .rst, .ipynb, .docx), transcripts (.vtt, .srt), mail (.eml, .emlx, .mbox), tables (.csv, "
    ".tsv), or JSON lines with 'content'"
)
"""The formats, as `--help` and errors name them; an error has room for 500 characters."""
