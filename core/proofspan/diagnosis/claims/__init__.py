"""Check what an answer claims against its evidence: claims, figures, support, differences."""
