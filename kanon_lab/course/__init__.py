"""The course that the chapters make: its order, the frame of its pages, and exercises with what checks them."""
