"""RFID readers: tagged cards at the mouth of a shoe, tagged chips on a circle."""
