"""Shapes and views: elements put into another form, none computed."""
