"""PhantomWiki: universes of made-up people, and questions along their relations.

In reading order: `relations` (the table), `universes` (who lives), `kinship` (who is whose what),
`articles`, `questions` in the official `grammar`, `official` (the reader of the official files), and
`environment`, where a task, its dialogue and its verifier come together.
"""
