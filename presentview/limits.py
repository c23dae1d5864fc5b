"""Every size at which presentview stops, cuts or splits, and who reads it."""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * 1024

# reading and writing sidecars
LINE_BYTES: Final = 256 * MIB  # longer lines are named, never parsed (sidecar)
LONG_LINE_BYTES: Final = 512 * KIB  # longer lines the web app reads in another process (apart)
LONG_LINE_MEMORY: Final = 2 * 1024 * MIB  # that this process may take (apart)
LONG_LINE_PIECES: Final = 256  # records of one line that it sends at a time (apart)
APART_SECONDS: Final = 30  # until it is ended when nobody needs it (apart)
COLLAB_DEPTH: Final = 250  # deeper collab values stay raw text (records)
LAST_RECORD_BYTES: Final = 4 * MIB  # of the end of one of two, to find its last (twosidecars)
READ_CHUNK: Final = 1 * MIB  # bytes per read while following a file (sidecar)
COMPARE_CHUNK: Final = 1 * MIB  # bytes per hash when a rewrite is compared (follow)
ALIVE_SECONDS: Final = 90  # a file without a lock file counts as live this long (lock)
STALE_TEMP_SECONDS: Final = 3600  # temp files of dead writers older than this are swept (atomic)

# session event logs
EVENT_DATA_DEPTH: Final = 2 * COLLAB_DEPTH  # deeper payloads are written as text (eventlog)
STORED_RESULT_BYTES: Final = 8 * KIB  # of a result inside a stored message (eventlog)
STORED_INPUT_BYTES: Final = 8 * KIB  # of a call's input that is no JSON (eventlog)
VISION_CHARS: Final = 256  # what an image inside a message counts as (eventlog)
REPEATED_CALLS: Final = 5  # equal calls in a row worth a warning (eventlog)

# run logs
RUN_ID_BYTES: Final = 200  # of the id of a run, which names a file (runlog)
RUNS_A_SECOND: Final = 10_000  # ids that are tried for a run (runlog)
RUN_TAIL_BYTES: Final = 16 * KIB  # of the end of a log that a list looks for its result in (runlog)

# what a card's face keeps (transcript)
KEPT_CHARS: Final = 64 * KIB  # of each text in the digest of a long record (digest)
SUBJECT_CHARS: Final = 200
TITLE_CHARS: Final = 80
FIRST_LINE_CHARS: Final = 160

# what a card's body shows (web)
PREVIEW_BYTES: Final = 64 * KIB
DETECT_BYTES: Final = 64 * KIB  # of a file, to tell its format (sources)
DETECT_LINE_BYTES: Final = 4 * MIB  # of one whose first line is longer than that
STEP_CHARS: Final = 256 * KIB  # of a long text that a page asks for at a time (pages)
MARKDOWN_BYTES: Final = 64 * KIB
HIGHLIGHT_BYTES: Final = 32 * KIB
HIGHLIGHT_LINE_CHARS: Final = 2000
DIFF_LINES: Final = 5000
DIFF_CHARS: Final = 512 * KIB
DIFF_LINE_CHARS: Final = 4 * KIB  # of each line of a diff (allowance)
DIFF_OPEN_LINES: Final = 60  # a diff up to this long is open by default
WORD_MARK_LINE_CHARS: Final = 500
WORD_MARK_TOKENS: Final = 300
WORD_MARK_PAIRS: Final = 400
JSON_BYTES: Final = 64 * KIB
JSON_DEPTH: Final = 64
FILES_SHOWN: Final = 100  # of the files that one call names (bodies)
STATEMENTS_SHOWN: Final = 200  # of experts, or items of a to-do list, in one body (bodies)
NAME_CHARS: Final = 80  # of a tool's name, a model's, a path's on a card's face (faces)
ATTACHMENT_BYTES: Final = 20 * MIB
DOM_DEPTH: Final = 64  # cards nested deeper stand in a row inside the deepest (web)
RAW_LINES: Final = 200  # lines on one raw page
RAW_LINE_BYTES: Final = 4 * KIB  # of each line on it

SECTION_CARDS: Final = 50  # cards a page fills and empties at a time (sections)
SECTION_WEIGHT: Final = 450  # elements, about, of a section that many cards would make too heavy
KIDS_CARDS: Final = 50  # nested cards that come with the card they are in (cards)
ALL_CARDS: Final = 2_000  # cards on a page that shows everything at once (pages)
OUTLINE_TURNS: Final = 40  # turns of the outline a page holds at a time (outline)
FIND_QUERY_CHARS: Final = 200  # longer texts are found nowhere (find)
FIND_HITS: Final = 50  # cards in one answer (find)
FIND_CHUNK: Final = (
    32 * KIB
)  # bytes searched at a time: what a processor keeps close (find, runlog)
FIND_SNIPPET_CHARS: Final = 60  # in front of what was found, twice as many behind it (find)
MAP_BUCKETS: Final = 200  # stretches of the map of a whole session (overview)
TIMING_ROWS: Final = 450  # of a waterfall on one page (timetree)
TIMING_ROWS_OPEN: Final = 300  # up to which all of them are unfolded (timetree)
TIMING_SIBLINGS: Final = 120  # beyond that rows side by side are put into parts (timetree)
AGENTS_COMPARED: Final = 50  # in one table (timetables)
TIMINGS_KEPT: Final = 8  # waterfalls of one session that are remembered (timed)
TIMING_FOLDS: Final = 300  # rows that an address unfolds or folds (timeview)

# what is sent to other programs (exporting)
OTLP_BATCH: Final = 500  # spans in one request (otlp)
OTLP_TEXT_CHARS: Final = 32 * KIB  # of an argument or output in a span (otlp)
OTLP_ANSWER_BYTES: Final = 1 * KIB  # of what a collector answers (sending)

# what became of files (changes)
DERIVED_DIFF_WORK: Final = 4_000_000  # lines by lines of texts that are compared (derived)
FLOATING_PIECES: Final = 20  # of a file, whose place is not known (filestate)
SWAP_MATCHES: Final = 10_000  # of one text in a file that a call replaces everywhere (filestate)
STANDING_PLACES: Final = 1_000  # of one hunk in a file, from which on more are as good (standing)
WORKTREE_FILE_BYTES: Final = 16 * MIB  # larger files are not checked (worktree)
PLAYED_RECORD_BYTES: Final = 16 * MIB  # longer records are not played on a page (changed)
PLAY_SECONDS: Final = 0.04  # after which an answer leaves what takes long to the next (changepage)
PLAY_WAIT_SECONDS: Final = 2.0  # and to a reader who asked to wait for it (changepage)
CHANGES_KEPT: Final = 4  # sessions whose steps are remembered (changed)
PLAYERS_KEPT: Final = 64  # families of files of one session that are kept played (changed)
PLAYED_KEPT: Final = 12_000  # steps of one session that are kept played (changed)
STEP_ROWS: Final = 80  # of a list of steps on one page (changerows)
TREE_FILES: Final = 120  # touched files that a page names (changerows)
FILTER_CHOICES: Final = 100  # of files or sub-agents to filter by (changerows)
STEP_FILES: Final = 100  # files of one step that a page offers (changepage)
KNOWN_LINES: Final = 200  # of a file so far, shown at a time (knownfile)
FLOATING_LINES: Final = 60  # of each piece whose place is not known (knownfile)
WATCHED_FOLDERS: Final = 200  # of workspaces, watched while they are compared (treewatch)

# the web app
DEFAULT_PORT: Final = 8377
FEEDS: Final = 32  # sessions whose transcripts are kept in memory
ROWS_FOLLOWED: Final = 16  # sessions being recorded that the list reads on in (listing)
SUB_AGENT_META_BYTES: Final = 64 * KIB  # of what is told of a sub-agent (subagents)
KIN_SHOWN: Final = 20  # sessions that a page names as having to do with it (kin)
PAGE_ROWS: Final = 200  # sessions on one page of the list (listing)
LISTING_READ_BYTES: Final = 8 * MIB  # of new files that one look reads (listing)
PEEK_BYTES: Final = 16 * KIB  # of the beginning and of the end of a file that waits (glance)
LARGE_FILE: Final = 5_000_000  # bytes from which a row says how large its file is (listquery)
LIST_QUERY_CHARS: Final = 200  # of what sessions are found by (listquery)
VIEWS_KEPT: Final = 16  # of one session, whose rows of cards are remembered (rows)
STREAMS: Final = 32  # event streams at once
STREAM_TOPICS: Final = 64  # pages one stream can serve
STREAM_QUEUE: Final = 64  # batches waiting for a slow stream before it must resync
PATCH_LOG: Final = 256  # batches kept per session for tabs that reconnect
DOWNLOAD_CHUNK: Final = 64 * KIB  # of a download, waiting for a slow reader (download)
HEADER_BYTES: Final = 16 * KIB
