"""The pictures that steps leave among their artifacts, one file each."""
