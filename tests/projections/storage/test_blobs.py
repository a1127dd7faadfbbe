from hypothesis import given
from hypothesis import strategies as st

from projections.storage.arrays import Blobs


@given(st.lists(st.binary(max_size=9)), st.data())
def test_rows_keep_their_content_until_they_are_cleared(rows: list[bytes], data: st.DataObject):
    blobs = Blobs()
    for row in rows:
        blobs.append(row)
    cleared = data.draw(st.sets(st.sampled_from(range(len(rows))))) if rows else set()
    for row in cleared:
        blobs.clear(row)
    left = [b"" if row in cleared else blob for row, blob in enumerate(rows)]
    assert [blobs.at(row) for row in range(len(blobs))] == left
    assert (blobs.concatenated(), blobs.lengths.tolist()) == (b"".join(left), [len(blob) for blob in left])


def test_nothing_of_a_cleared_row_is_left():
    blobs = Blobs()
    for blob in (b"before", b"secret", b"after"):
        blobs.append(blob)
    assert b"secret" in blobs._bytes.array.tobytes()
    blobs.clear(1)
    assert b"secret" not in blobs._bytes.array.tobytes()
