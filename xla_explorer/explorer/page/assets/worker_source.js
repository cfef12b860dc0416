/** The script of the worker: deflated, as base64. front_end.py puts it here; without it everything is done by the page. */
export const WORKER_SOURCE = "";
