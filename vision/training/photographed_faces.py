"""Whole cards from labelled photographs, for training beside rendered ones."""

from pathlib import Path

import numpy as np

from vision.corners import anchor_points
from vision.reader import Reader
from vision.training.face_pictures import room_of
from vision.training.photographed import CREDITS, entries, labelled_face, opened
from vision.training.picture_store import Pieces


def harvest_faces(folder: Path, reader: Reader) -> Pieces:
    """Cut the cards out of every training photograph, each by every index that was read."""
    rooms, faces = [], []
    for name in CREDITS:
        for entry in entries(folder / name):
            picture = opened(folder / name, entry)
            read = reader.read_found(picture, reader.find(picture, None), None).indices
            points = anchor_points(read.maps, read.right_hand)
            for at, onto in enumerate(read.maps):
                face = labelled_face(entry["cards"], points[at], read, at)
                if face is not None:
                    rooms.append(room_of(picture, onto))
                    faces.append((*face, int(read.right_hand[at])))
    return Pieces(np.array(rooms), *np.array(faces).T)
