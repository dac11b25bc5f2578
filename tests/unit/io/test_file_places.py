"""Where models are saved to and loaded from: paths, links, modes, open files, bytes; what a crash leaves."""

import io
import os
import signal
import stat
import subprocess
import sys
import textwrap

import pytest
from unit.io.models import classifier, regressor

import weald
from weald.errors import ModelFileError, ParameterError
from weald.io import model_file, place


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_that_is_replaced_keeps_its_mode(mode, tmp_path):
    path = tmp_path / "m.weald"
    path.write_bytes(b"old")
    path.chmod(mode)
    regressor().save(path)
    assert mode_of(path) == mode
    weald.load(path)


def test_a_partial_file_is_never_open_to_more_people_than_the_file(tmp_path, monkeypatch):
    path = tmp_path / "m.weald"
    path.write_bytes(b"old")
    path.chmod(0o600)
    seen = []
    replace = os.replace

    def watched(partial, target):
        seen.append(stat.S_IMODE(os.stat(partial).st_mode))
        replace(partial, target)

    monkeypatch.setattr(os, "replace", watched)
    regressor().save(path)
    assert seen == [0o600]


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "m.weald", tmp_path / "latest.weald"
    target.write_bytes(b"old")
    target.chmod(0o600)
    link.symlink_to(target)
    regressor().save(link)
    assert link.is_symlink()
    assert mode_of(target) == 0o600
    assert target.read_bytes() == model_file.to_bytes(regressor())
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    absent = tmp_path / "next.weald"
    absent.symlink_to(tmp_path / "real" / "new.weald")
    regressor().save(absent)
    weald.load(tmp_path / "real" / "new.weald")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes there")
def test_what_is_no_ordinary_file_is_written_to(tmp_path):
    """A pipe of our own, not the system's /dev/null: a save that replaced that would do harm."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        regressor().save(pipe)
        assert os.read(reader, 2**16) == regressor().to_bytes()
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_folder_is_no_place_for_a_model(tmp_path):
    with pytest.raises(IsADirectoryError):
        regressor().save(tmp_path)


def test_long_names(tmp_path):
    path = tmp_path / ("m" * 240 + ".weald")
    regressor().save(path)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_open_files_and_bytes():
    model = classifier()
    file = io.BytesIO()
    model.save(file)
    data = model_file.to_bytes(model)
    assert file.getvalue() == model.to_bytes() == data
    file.seek(0)
    for source in (data, bytearray(data), memoryview(data), file):
        assert model_file.to_bytes(weald.load(source)) == data


def test_a_loaded_model_does_not_follow_changes_of_its_bytes():
    data = bytearray(regressor(weighted=True).to_bytes())
    model = weald.load(data)
    before = model.forest_.value.copy()
    data[-2000:] = bytes(2000)
    assert (model.forest_.value == before).all()


def test_an_unbuffered_file_that_takes_little_at_a_time(tmp_path):
    class Slow(io.RawIOBase):
        def __init__(self):
            self.data = b""

        def writable(self):
            return True

        def write(self, data):
            self.data += bytes(data[:100])
            return min(100, len(data))

    slow = Slow()
    regressor().save(slow)
    assert slow.data == model_file.to_bytes(regressor())
    with open(tmp_path / "m.weald", "wb", buffering=0) as file:
        regressor().save(file)
    with open(tmp_path / "m.weald", "rb") as file:
        weald.load(file)


@pytest.mark.parametrize("taken", [0, -5, None])
def test_a_file_that_takes_nothing_is_an_error(taken):
    class Stuck(io.RawIOBase):
        def write(self, data):
            return taken

    with pytest.raises(BlockingIOError, match=f"took none of the last .* bytes.*write gave {taken}"):
        regressor().save(Stuck())


def test_a_file_of_ones_own_that_tells_nothing_has_taken_all():
    class Own:
        data = b""

        def write(self, data):
            self.data += bytes(data)

    own = Own()
    regressor().save(own)
    assert own.data == regressor().to_bytes()


@pytest.mark.parametrize("name", ["a\0b.weald", "\ud800.weald"])
def test_a_name_that_no_file_can_have_is_said_to_be_one(name):
    for ask in (regressor().save, weald.load, lambda path: weald.load(path, mmap=True)):
        with pytest.raises(ParameterError, match=r"No file can be called '.*weald': a name has no zero"):
            ask(name)


def test_wrong_sources_say_so(tmp_path):
    for wrong in (3, None, [1]):
        with pytest.raises(ParameterError, match="path or given as an open binary file"):
            weald.load(wrong)
        with pytest.raises(ParameterError, match="path or given as an open binary file"):
            regressor().save(wrong)
    with pytest.raises(ParameterError, match='"wb"'):
        regressor().save(io.StringIO())
    with pytest.raises(ParameterError, match='"rb"'):
        weald.load(io.StringIO("text"))
    with pytest.raises(ParameterError, match="needs a path"):
        weald.load(regressor().to_bytes(), mmap=True)
    with pytest.raises(ModelFileError, match="The bytes: "):
        weald.load(b"nothing")
    with pytest.raises(FileNotFoundError):
        weald.load(tmp_path / "absent")


def test_a_model_that_could_not_be_read_is_not_written(tmp_path):
    path = tmp_path / "m.weald"
    path.write_bytes(b"old")
    model = weald.SVR().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.5])
    model._model_.coefficients[:] = float("nan")
    for where in (path, io.BytesIO()):
        with pytest.raises(ModelFileError, match="could not be read again"):
            model.save(where)
    assert path.read_bytes() == b"old"
    assert where.getvalue() == b""


KILLED = """
    import os, signal, sys
    from weald import DecisionTreeRegressor
    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [0, 1])
    fsync = os.fsync
    def killed(number):
        print("writing", flush=True)
        sys.stdin.readline()
        os.kill(os.getpid(), signal.SIGKILL)
    os.fsync = killed
    model.save(sys.argv[1])
"""


@pytest.mark.skipif(place.fcntl is None, reason="files are locked otherwise there")
def test_what_a_killed_save_left_goes_with_the_next_save_and_a_living_one_stays(tmp_path):
    path = tmp_path / "m.weald"
    (tmp_path / ".other.weald.0123abcd.partial").write_bytes(b"of another file")

    def partials():
        return sorted(each.name for each in tmp_path.glob(".m.weald.*.partial"))

    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout.readline() == "writing\n"
        living = partials()
        assert len(living) == 1
        regressor().save(path)
        assert partials() == living  # another process is at it
        writer.stdin.write("\n")
        writer.stdin.flush()
        assert writer.wait() == -signal.SIGKILL
    assert partials() == living
    regressor().save(path)
    assert partials() == []
    assert (tmp_path / ".other.weald.0123abcd.partial").exists()
    weald.load(path)


def test_a_partial_file_taken_away_before_its_lock_is_made_again(tmp_path, monkeypatch):
    """Between the making of a partial file and its lock, another save may take it for a leftover."""
    locked, taken = place._locked, []

    def late(file, partial):
        if not taken:
            taken.append(partial)
            os.unlink(partial)
        return locked(file, partial)

    monkeypatch.setattr(place, "_locked", late)
    regressor().save(tmp_path / "m.weald")
    assert len(taken) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["m.weald"]


def test_a_body_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_bytes(b"old")
    other = FileNotFoundError(2, "No such file", "elsewhere.csv")

    def fail() -> None:
        with place.opened(path) as file:
            file.write(b"new")
            raise other

    with pytest.raises(FileNotFoundError) as caught:
        fail()
    assert caught.value is other  # about another file: not told as if it were of this one
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError, match=r"its folder does not exist: '.*m\.weald'"):
        regressor().save(tmp_path / "none" / "m.weald")
