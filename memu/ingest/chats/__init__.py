"""Chats as apps export them: each app's form behind one protocol, and what all of them become."""
