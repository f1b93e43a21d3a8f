"""“Contrastive Learning Inverts the Data Generating Process” (cl-ica): its tables and Figure 2."""
