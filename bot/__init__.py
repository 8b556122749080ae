"""The members' room: from a mention to a cited reply."""
