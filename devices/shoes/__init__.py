"""Card readers in the mouth of the shoe, one file a device."""
