from aninfonce.sources.array_source import ArraySource as ArraySource
from aninfonce.sources.as_source import as_source as as_source
from aninfonce.sources.base import PairSource as PairSource
from aninfonce.sources.drawn_ahead import DrawnAhead as DrawnAhead
from aninfonce.sources.loader_source import LoaderSource as LoaderSource
from aninfonce.sources.neighbour_order import NeighbourOrder as NeighbourOrder
from aninfonce.sources.process_source import ProcessSource as ProcessSource
from aninfonce.sources.sequence_source import SequenceSource as SequenceSource
