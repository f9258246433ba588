"""The service: it reads many tables' journals and shows them to authorised people."""
