"""The fast core of the contrastive losses: passes over logits in pieces, and the choice between them."""
