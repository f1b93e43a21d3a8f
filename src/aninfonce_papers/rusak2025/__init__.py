"""“InfoNCE: Identifying the Gap Between Theory and Practice”: its tables and figures."""
