"""Open your data: traces, exports and responses of other tools, with their PDFs."""

from proofspan.ui.opening import panels

panels.heading()
panels.opened_before()
panels.upload_form()
panels.path_form()
