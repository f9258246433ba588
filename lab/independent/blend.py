"""Render what the lines on standard input ask for; runs inside Blender (see the package's page).

A first line describes the room, each further one a picture: its part of the canvas, its samples,
what is in it and where the result goes, an array ``(H, W, 4)`` float16 of linear light with its
share of cover. A line ``## PATH`` answers each. Blender's unit is 100 mm here.
"""

import json
import math
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector

sys.path.insert(0, str(Path(__file__).parents[2]))
from lab.independent import bodies

Item: TypeAlias = dict[str, Any]

UNIT_MM: Final = 100.0
ATLAS: Final = (14, 4)  # cells across and down: thirteen ranks and the back; four suits
VOXEL_MM: Final = 2.2
POSE: Final = {"at_mm", "angle_deg", "roll_deg", "pitch_deg"}


class Table:
    """The table in Blender, and what lies on it now."""

    def __init__(self, room: Item) -> None:
        self.room = room
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.scene = bpy.context.scene
        self.there: dict[str, Any] = {}
        self.meshes: dict[str, Any] = {}
        self.paints: dict[str, Any] = {}
        self.furniture: list[Any] = []
        self._render_settings()
        self._lights()
        self._eye()
        self._furniture()

    # --- the room -------------------------------------------------------------------------

    def _render_settings(self) -> None:
        scene, render = self.scene, self.scene.render
        render.engine = "CYCLES"
        render.threads_mode, render.threads = "FIXED", self.room["threads"]
        render.use_persistent_data = True
        render.resolution_x, render.resolution_y = self.room["canvas_px"]
        render.use_border = render.use_crop_to_border = True
        render.image_settings.file_format = "OPEN_EXR"
        render.image_settings.color_mode = "RGBA"
        render.image_settings.color_depth = "32"
        render.image_settings.exr_codec = "NONE"
        render.filter_size = 1.3
        cycles = scene.cycles
        cycles.use_denoising, cycles.denoiser = True, "OPENIMAGEDENOISE"
        cycles.denoising_input_passes = "RGB_ALBEDO_NORMAL"
        cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 2, 1, 1
        cycles.transparent_max_bounces = 4
        cycles.caustics_reflective = cycles.caustics_refractive = False
        cycles.use_adaptive_sampling = True
        cycles.adaptive_threshold, cycles.adaptive_min_samples = 0.03, 2

    def _lights(self) -> None:
        world = bpy.data.worlds.new("world")
        world.use_nodes = True
        world.node_tree.nodes["Background"].inputs[0].default_value = (*self.room["ambient"], 1)
        self.scene.world = world
        for lamp in self.room["lamps"]:
            data = bpy.data.lights.new("lamp", "AREA")
            data.size = lamp["side_mm"] / UNIT_MM
            data.energy, data.color = lamp["watts"] * 1800, lamp["colour"]
            light = bpy.data.objects.new("lamp", data)
            light.location = _place(lamp["at_mm"])
            target = _place((*lamp["towards_mm"], 0.0))
            light.rotation_euler = (target - light.location).to_track_quat("-Z", "Y").to_euler()
            self.scene.collection.objects.link(light)

    def _eye(self) -> None:
        data = bpy.data.cameras.new("eye")
        width = self.room["canvas_px"][0]
        data.sensor_fit, data.sensor_width = "HORIZONTAL", 36.0
        data.lens = 36.0 * self.room["focal_px"] / width
        data.clip_end = 200.0
        data.dof.use_dof, data.dof.aperture_fstop = True, self.room["stop"]
        data.dof.focus_distance = self.room["eye_mm"][2] / UNIT_MM
        eye = bpy.data.objects.new("eye", data)
        turn = Matrix(self.room["turn"])
        flip = Matrix.Diagonal((1, -1, -1))
        right, down, ahead = (flip @ row for row in turn)
        frame = Matrix((right, -down, -ahead)).transposed().to_4x4()
        eye.matrix_world = Matrix.Translation(_place(self.room["eye_mm"])) @ frame
        self.scene.collection.objects.link(eye)
        self.scene.camera = eye

    def _furniture(self) -> None:
        self.felt = self._felt()
        for piece in self.room["furniture"]:
            part = self._new(piece["what"], self._body(piece), self._materials_of(piece))
            part.location = _place(piece["at_mm"])
            part.rotation_euler = Euler(
                (
                    math.radians(piece.get("pitch_deg", 0)),
                    math.radians(piece.get("roll_deg", 0)),
                    -math.radians(piece.get("angle_deg", 0)),
                )
            )
            self.furniture.append(part)

    def _felt(self) -> Any:
        width, depth = (side / UNIT_MM for side in self.room["felt_mm"])
        mesh = bpy.data.meshes.new("felt")
        x0, x1, y0, y1 = -width / 2, width / 2, 0.0, -depth
        mesh.from_pydata([(x0, y1, 0), (x1, y1, 0), (x1, y0, 0), (x0, y0, 0)], [], [(0, 1, 2, 3)])
        _map(mesh, [(0, 0), (1, 0), (1, 1), (0, 1)])
        felt = bpy.data.objects.new("felt", mesh)
        paint = _painted("felt", self.room["felt_print"], rough=0.95, shine=0.12)
        _weave(paint)
        mesh.materials.append(paint)
        self.scene.collection.objects.link(felt)
        return felt

    # --- a picture ------------------------------------------------------------------------

    def render(self, job: Item) -> None:
        wanted = {json.dumps(item, sort_keys=True): item for item in job["items"]}
        for key in [key for key in self.there if key not in wanted]:
            _remove(self.there.pop(key))
        for key, item in wanted.items():
            if key not in self.there:
                self.there[key] = self._put(item)
        over = job["over"]
        self.scene.render.film_transparent = over
        self.felt.is_shadow_catcher = over
        for part in self.furniture:
            part.hide_render = over
        self._frame(job)
        with tempfile.TemporaryDirectory() as folder:
            self.scene.render.filepath = str(Path(folder) / "part.exr")
            bpy.ops.render.render(write_still=True)
            pixels = _pixels(Path(folder) / "part.exr")
        left, top, right, bottom = job["part_px"]
        shape = ((bottom - top) // job["shrink"], (right - left) // job["shrink"])
        if pixels.shape[:2] != shape:
            raise SystemExit(f"rendered {pixels.shape[:2]} for {shape}: {job['out']}")
        out = Path(job["out"])
        out.parent.mkdir(parents=True, exist_ok=True)
        part = out.with_suffix(".part.npy")
        np.save(part, pixels.astype(np.float16))
        part.rename(out)

    def _frame(self, job: Item) -> None:
        render = self.scene.render
        render.resolution_percentage = 100 // job["shrink"]
        self.scene.cycles.samples = job["samples"]
        width, height = (side / job["shrink"] for side in self.room["canvas_px"])
        left, top, right, bottom = (edge / job["shrink"] for edge in job["part_px"])
        render.border_min_x, render.border_max_x = (left + 0.2) / width, (right + 0.2) / width
        render.border_min_y = (height - bottom + 0.2) / height
        render.border_max_y = (height - top + 0.2) / height

    def _put(self, item: Item) -> Any:
        kind = item["what"]
        if kind == "hand":
            return self._hand(item)
        shape = json.dumps({k: v for k, v in item.items() if k not in POSE}, sort_keys=True)
        if shape not in self.meshes:
            self.meshes[shape] = _dressed(self._body(item), self._materials_of(item))
        thing = self._shown(kind, self.meshes[shape])
        thing.location = _place(item["at_mm"])
        thing.rotation_mode = "YXZ"
        thing.rotation_euler = Euler(
            (
                math.radians(item.get("pitch_deg", 0)),
                math.radians(item.get("roll_deg", 0)),
                -math.radians(item.get("angle_deg", 0)),
            ),
            "YXZ",
        )
        return thing

    def _body(self, item: Item) -> Any:
        kind = item["what"]
        if kind == "card":
            return _surface(_dealt(bodies.card(tuple(item["bend_mm"])), item["cell"], item["back"]))
        if kind == "stack":
            chips = []
            height = 0.0
            values = _values(item)
            for number, turn, x, y in item["chips"]:
                chip = bodies.chip(turn, (x, y, height))
                height += bodies.CHIP_THICK_MM + 0.05
                chip.materials[:] = [3 * values.index(number) + one for one in chip.materials]
                chips.append(chip)
            return _surface(bodies.joined(chips))
        if kind == "box":
            return _surface(bodies.box(tuple(item["size_mm"])))
        if kind == "cup":
            return _surface(bodies.cup(*item["size_mm"]), smooth=True)
        start, end = (np.array(item[end]) for end in ("start_mm", "end_mm"))
        return _surface(bodies.capsule(start, end, *item["radius_mm"]), smooth=True)

    def _materials_of(self, item: Item) -> list[Any]:
        kind = item["what"]
        if kind == "card":
            deck = self._deck(item["deck"])
            return [deck, deck, self._plain((0.8, 0.79, 0.76), 0.6)]
        if kind == "stack":
            return [paint for value in _values(item) for paint in self._chip(value)]
        if kind == "cup":
            return [self._plain(tuple(item["colour"]), 0.4), self._plain(tuple(item["drink"]), 0.1)]
        return [self._plain(tuple(item["colour"]), item.get("rough", 0.5), item.get("metal", 0.0))]

    def _deck(self, path: str) -> Any:
        if path not in self.paints:
            self.paints[path] = _painted("deck", path, rough=self.room["gloss"], shine=0.45)
        return self.paints[path]

    def _chip(self, value: int) -> list[Any]:
        key = f"chip {value}"
        if key not in self.paints:
            chip = self.room["chips"][str(value)]
            face = _painted(key, chip["face"], rough=0.5, shine=0.4)
            self.paints[key] = [face, _plain(chip["colour"], 0.5), _plain(chip["spots"], 0.5)]
        return list(self.paints[key])

    def _plain(self, colour: tuple[float, ...], rough: float, metal: float = 0.0) -> Any:
        key = f"{colour} {rough} {metal}"
        if key not in self.paints:
            self.paints[key] = _plain(colour, rough, metal)
        return self.paints[key]

    def _hand(self, item: Item) -> Any:
        anchor = bpy.data.objects.new("hand", None)
        self.scene.collection.objects.link(anchor)
        skin = _skin(tuple(item["skin"]))
        mesh = self._skin_mesh(item["posture"])
        parts = [self._new("skin", mesh, [skin])]
        nail = self._plain(tuple(0.25 + 0.7 * one for one in item["skin"]), 0.3)
        for middle, axis, radius in bodies.nails(item["posture"]):
            bar = bodies.capsule(
                middle - axis * radius * 0.5,
                middle + axis * radius * 0.4,
                radius * 0.62,
                radius * 0.55,
            )
            parts.append(self._new("nail", _surface(bar, smooth=True), [nail]))
        cloth = self._plain(tuple(item["sleeve"]), 0.9)
        parts.append(
            self._new("sleeve", _surface(bodies.sleeve(item["bare_mm"]), smooth=True), [cloth])
        )
        if item["cuff"]:
            white = self._plain((0.75, 0.75, 0.73), 0.8)
            parts.append(
                self._new("cuff", _surface(bodies.cuff(item["bare_mm"]), smooth=True), [white])
            )
        for part in parts:
            part.parent = anchor
        anchor.location = _place(item["at_mm"])
        anchor.rotation_euler = Euler((0, 0, -math.radians(item["angle_deg"])))
        anchor.scale = (-1.0 if item["left"] else 1.0, 1.0, 1.0)
        return _Group(anchor, parts)

    def _skin_mesh(self, posture: str) -> Any:
        if posture not in self.meshes:
            rough = self._new("rough", _surface(bodies.hand(posture), smooth=True), [])
            melt = rough.modifiers.new("melt", "REMESH")
            melt.mode, melt.voxel_size = "VOXEL", VOXEL_MM / UNIT_MM
            even = rough.modifiers.new("even", "SMOOTH")
            even.iterations, even.factor = 5, 0.5
            bpy.context.view_layer.update()
            seen = rough.evaluated_get(bpy.context.evaluated_depsgraph_get())
            mesh = bpy.data.meshes.new_from_object(seen)
            mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
            bpy.data.objects.remove(rough)
            self.meshes[posture] = mesh
        return self.meshes[posture].copy()

    def _new(self, name: str, mesh: Any, materials: list[Any]) -> Any:
        return self._shown(name, _dressed(mesh, materials))

    def _shown(self, name: str, mesh: Any) -> Any:
        thing = bpy.data.objects.new(name, mesh)
        self.scene.collection.objects.link(thing)
        return thing


class _Group:
    """Objects that come and go together, removed as one."""

    def __init__(self, anchor: Any, parts: list[Any]) -> None:
        self.all = [*parts, anchor]


def _remove(thing: Any) -> None:
    for each in thing.all if isinstance(thing, _Group) else [thing]:
        bpy.data.objects.remove(each)


def _values(stack: Item) -> list[int]:
    """The values in a stack of chips, each once."""
    return list(dict.fromkeys(number for number, *_ in stack["chips"]))


def _dressed(mesh: Any, materials: list[Any]) -> Any:
    mesh.materials.clear()
    for paint in materials:
        mesh.materials.append(paint)
    return mesh


def _place(mm: Sequence[float]) -> Any:
    x, y, z = mm
    return Vector((x / UNIT_MM, -y / UNIT_MM, z / UNIT_MM))


def _surface(body: bodies.Mesh, *, smooth: bool = False) -> Any:
    mesh = bpy.data.meshes.new("body")
    mesh.from_pydata((body.points / UNIT_MM).tolist(), [], body.faces)
    mesh.polygons.foreach_set("material_index", body.materials)
    mesh.polygons.foreach_set("use_smooth", [smooth] * len(body.faces))
    if body.uv:
        _map(mesh, body.uv)
    mesh.update()
    return mesh


def _map(mesh: Any, places: Sequence[Sequence[float]]) -> None:
    layer = mesh.uv_layers.new(name="print")
    layer.data.foreach_set("uv", [part for place in places for part in place])


def _dealt(card: bodies.Mesh, cell: Sequence[int], back: Sequence[int]) -> bodies.Mesh:
    """Put a face's and the back's cell of the deck's sheet on a card; smooth its two sides."""
    across, down = ATLAS
    places: list[tuple[float, float]] = []
    at = 0
    for face, material in zip(card.faces, card.materials, strict=True):
        column, row = {bodies.FRONT: cell, bodies.BACK: back}.get(material, (0, 0))
        for u, v in card.uv[at : at + len(face)]:
            # a hair inside the cell: a texture's filter must not reach the neighbour
            x, y = 0.004 + 0.992 * u, 0.004 + 0.992 * v
            places.append(((column + x) / across, 1 - (row + 1 - y) / down))
        at += len(face)
    return bodies.Mesh(card.points, card.faces, card.materials, places)


def _plain(colour: tuple[float, ...], rough: float, metal: float = 0.0) -> Any:
    paint = bpy.data.materials.new("plain")
    paint.use_nodes = True
    shader = paint.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1)
    shader.inputs["Roughness"].default_value = rough
    shader.inputs["Metallic"].default_value = metal
    return paint


def _skin(colour: tuple[float, ...]) -> Any:
    paint = _plain(colour, 0.48)
    nodes, links = paint.node_tree.nodes, paint.node_tree.links
    shader = nodes["Principled BSDF"]
    noise = nodes.new("ShaderNodeTexNoise")
    noise.inputs["Scale"].default_value, noise.inputs["Detail"].default_value = 9.0, 6.0
    ramp = nodes.new("ShaderNodeMixRGB")
    ramp.inputs[1].default_value = (*(0.86 * one for one in colour), 1)
    ramp.inputs[2].default_value = (colour[0] * 1.12, colour[1] * 0.98, colour[2] * 0.95, 1)
    links.new(noise.outputs["Fac"], ramp.inputs[0])
    links.new(ramp.outputs[0], shader.inputs["Base Color"])
    bump = nodes.new("ShaderNodeBump")
    bump.inputs["Strength"].default_value, bump.inputs["Distance"].default_value = 0.25, 0.01
    links.new(noise.outputs["Fac"], bump.inputs["Height"])
    links.new(bump.outputs[0], shader.inputs["Normal"])
    return paint


def _painted(name: str, path: str, *, rough: float, shine: float) -> Any:
    paint = _plain((1, 1, 1), rough)
    nodes, links = paint.node_tree.nodes, paint.node_tree.links
    shader = nodes["Principled BSDF"]
    shader.inputs["Specular IOR Level"].default_value = shine
    picture = nodes.new("ShaderNodeTexImage")
    picture.image = bpy.data.images.load(path, check_existing=True)
    picture.extension = "EXTEND"
    links.new(picture.outputs["Color"], shader.inputs["Base Color"])
    return paint


def _weave(paint: Any) -> None:
    """Make cloth of a printed surface: a fine nap, and patches of wear."""
    nodes, links = paint.node_tree.nodes, paint.node_tree.links
    shader = nodes["Principled BSDF"]
    picture = next(node for node in nodes if node.type == "TEX_IMAGE")
    place = nodes.new("ShaderNodeTexCoord")
    fine, wide = nodes.new("ShaderNodeTexNoise"), nodes.new("ShaderNodeTexNoise")
    fine.inputs["Scale"].default_value, fine.inputs["Detail"].default_value = 60.0, 3.0
    wide.inputs["Scale"].default_value, wide.inputs["Detail"].default_value = 0.5, 4.0
    for noise in (fine, wide):
        links.new(place.outputs["Object"], noise.inputs["Vector"])
    both = nodes.new("ShaderNodeMath")
    both.operation = "ADD"
    links.new(fine.outputs["Fac"], both.inputs[0])
    links.new(wide.outputs["Fac"], both.inputs[1])
    scale = nodes.new("ShaderNodeMapRange")
    scale.inputs["From Min"].default_value, scale.inputs["From Max"].default_value = 0.6, 1.4
    scale.inputs["To Min"].default_value, scale.inputs["To Max"].default_value = 0.78, 1.18
    links.new(both.outputs[0], scale.inputs["Value"])
    mix = nodes.new("ShaderNodeVectorMath")
    mix.operation = "SCALE"
    links.new(picture.outputs["Color"], mix.inputs[0])
    links.new(scale.outputs["Result"], mix.inputs["Scale"])
    links.new(mix.outputs[0], shader.inputs["Base Color"])


def _pixels(path: Path) -> "np.ndarray[Any, Any]":
    image = bpy.data.images.load(str(path))
    width, height = image.size
    flat = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(flat)
    bpy.data.images.remove(image)
    return flat.reshape(height, width, 4)[::-1]


def main() -> None:
    """Answer the lines of standard input until they end."""
    table: Table | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        if table is None:
            table = Table(asked)
            continue
        table.render(asked)
        print(f"\n## {asked['out']}", flush=True)


if __name__ == "__main__":
    main()
