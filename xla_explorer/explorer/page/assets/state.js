// What the views share, and who is told when it changes. A view subscribes to fields; no view calls another one.

/**
 * What views and actions are given: the state (the fields of STATE in explorer.js), the data behind it, and the actions.
 * @typedef {{ store: Awaited<ReturnType<typeof import("./store.js").openStore>>, root: HTMLElement & { dataset: any },
 *     subscribe: (keys: string[], listener: (news: any) => void) => () => boolean, change: (news: any) => Promise<unknown> } & Record<string, any>} App
 */
/**
 * An object whose fields are the shared state.
 * `subscribe(keys, listener)` returns the way to end it; `change(news)` sets fields and tells, in the order in which they
 * subscribed, those who watch one of them; it resolves when those that go on in pieces are done.
 * @param {Record<string, any>} fields
 * @returns {App}
 */
export function observable(fields) {
  const watching = new Set();
  const made = Object.assign(fields, {
    /** @param {string[]} keys @param {(news: any) => void} listener */
    subscribe(keys, listener) {
      const entry = { keys, listener };
      watching.add(entry);
      return () => watching.delete(entry);
    },
    /** @param {Record<string, any>} news */
    change(news) {
      Object.assign(fields, news);
      const answers = [];
      for (const entry of [...watching]) if (watching.has(entry) && entry.keys.some((/** @type {string} */ key) => Object.hasOwn(news, key))) answers.push(entry.listener(news));
      return Promise.all(answers);
    },
  });
  return /** @type {any} */ (made);
}
