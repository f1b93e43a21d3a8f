from aninfonce.plots.attribution_plot import attribution_plot as attribution_plot
from aninfonce.plots.choice_plot import choice_plot as choice_plot
from aninfonce.plots.concentration_plot import concentration_plot as concentration_plot
from aninfonce.plots.curve_plot import curve_plot as curve_plot
from aninfonce.plots.embedding_page import embedding_page as embedding_page
from aninfonce.plots.embedding_plot import embedding_plot as embedding_plot
