/** The script of the worker: deflated, as base64. front_end.py inserts it; without it the page does all work. */
export const WORKER_SOURCE = "";
