from aninfonce.plots.tables import html_table


def test_cells_are_escaped_and_numbers_stand_right():
    text = html_table(["a", "n"], [["<b>", "1"], ["&", "2"]], numbers=[1])
    assert "<b>" not in text
    assert "&lt;b&gt;" in text
    assert text.count("<td") == 4
    assert text.count("text-align:right") == 3
