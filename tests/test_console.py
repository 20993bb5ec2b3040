"""Messages come out as they are written."""

from commands import console


def test_a_name_with_colons_or_brackets_is_printed_as_it_is():
    name = "efficientnet-lite0:package [bold]x[/bold]"
    with console.OUT.capture() as captured:
        console.print_result(name)
    assert captured.get().strip() == name
