// Errors that tsc must find: each line below `@ts-expect-error` that passes is itself an error of the check.

/** @param {import("../../xla_explorer/explorer/page/assets/core/app.js").App} app */
export function misspelt(app) {
  // @ts-expect-error: a field of the state
  const id = app.selectd;
  // @ts-expect-error: an action
  app.slect(id, "graph");
  // @ts-expect-error: a type of an argument
  app.go("3");
  // @ts-expect-error: a field that nobody may set; an action does
  app.selected = 3;
  // @ts-expect-error: the function that changes the state, which only actions have
  app.change({ selected: 3 });
  // @ts-expect-error: a field to subscribe to
  app.subscribe(["selectd"], () => {});
  // @ts-expect-error: a service of a view
  app.provide({ isDrwan: () => true });
  // @ts-expect-error: a member of the data
  return app.store.decision;
}
