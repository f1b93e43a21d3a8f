from aninfonce_papers.report.compare import Comparison as Comparison
from aninfonce_papers.report.compare import Section as Section
from aninfonce_papers.report.compare import compare as compare
from aninfonce_papers.report.compare import judge as judge
from aninfonce_papers.report.compare import sections as sections
from aninfonce_papers.report.html import write_report as write_report
from aninfonce_papers.report.markdown import write_markdown as write_markdown
