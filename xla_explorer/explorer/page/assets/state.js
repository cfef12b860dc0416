// What the views share, and who is told when it changes. A view subscribes to fields; no view calls another one.

/**
 * An object whose fields are the shared state.
 * `subscribe(keys, listener)` returns the way to end it; `change(news)` sets fields and tells, in the order in which they
 * subscribed, those who watch one of them.
 * @param {Record<string, any>} fields
 */
export function observable(fields) {
  const watching = new Set();
  return Object.assign(fields, {
    subscribe(keys, listener) {
      const entry = { keys, listener };
      watching.add(entry);
      return () => watching.delete(entry);
    },
    change(news) {
      Object.assign(fields, news);
      for (const entry of [...watching]) if (watching.has(entry) && entry.keys.some(key => Object.hasOwn(news, key))) entry.listener(news);
    },
  });
}
