"""Looking without touching: how pipelines are (``claim-check status``), and what the inbox says (``inbox``)."""
