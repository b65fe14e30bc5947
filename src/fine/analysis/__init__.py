"""Looking inside a trained model: maps of its functions, what its slots do, rotations it makes.

function_map.py lays out functions in two dimensions, map_page.py and map_sheet.py draw the map;
slots.py measures how much of each slot is in a function, slot_sheet.py draws that; rotations.py
makes rotations of other rotations.
"""
