"""The fast place under the contrastive losses: passes over logits in pieces, and which of them serves."""
