"""Independent scenes: filmed sessions from a second renderer, for scoring alone.

`vision/scenes` draws what the networks learn from and what most benches film. A fault that its
pictures hide stays hidden there. This package films the same plan of a game (who gets which card
when, from `simulation`) with another renderer, Blender's Cycles: meshes with thickness and curl,
soft shadows from area lamps, gloss, a lens with depth of field and distortion, hands as meshes. It
takes from `vision/scenes` the plan's vocabulary (`performance`) and the card art, and no code that
draws.

`room` says what a seed's room looks like, `plan` where everything is at a time, `bodies` what
shape it has. `jobs` lists the pictures to render; `blend` renders them, inside Blender; `film` lays
them over each other and adds the lens; `session` adds the sensor and the stream and writes the
folder that the product replays. Pictures are kept in `.cache/independent`, so a film that was
interrupted goes on.

Blender is no dependency of the product or of its tests. `PITWATCH_BLENDER` names a Python with the
`bpy` package (`pip install bpy`, 4.5 for Python 3.11), or Blender itself, 4.2 or later.
Whatever is found on these films is cured in code or on training data, never on these scenes.
"""
