"""Archives of many sessions: settle again, export, extract evidence."""
