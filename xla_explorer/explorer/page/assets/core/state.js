// The shared state, and its subscribers. A view subscribes to fields; no view calls another one.

/**
 * The argument of views and actions: the state (the fields of STATE in explorer.js), its data, and the actions.
 * @typedef {{ store: Awaited<ReturnType<typeof import("./store.js").openStore>>, root: HTMLElement & { dataset: any },
 *     subscribe: (keys: string[], listener: (news: any) => void) => () => boolean, change: (news: any) => Promise<unknown> } & Record<string, any>} App
 */
/**
 * An object whose fields are the shared state.
 * `subscribe(keys, listener)` returns a function that ends it; `change(news)` sets fields and calls, in the order of
 * subscription, the listeners of any of them; it resolves when those that work in pieces are done.
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
