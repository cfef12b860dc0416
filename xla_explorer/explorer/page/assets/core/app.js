// The object that all views share: the state to read, the data, the actions that change the state, and what views offer each other.
import { actionsOf } from "./actions.js";
import { INITIAL, observable } from "./state.js";

/**
 * What a view offers to actions and other views. Each function is set once, by `provide`; until then it does nothing.
 * @typedef {Object} Services
 * @property {(key: string) => boolean} hasTab true if this compile has the tab
 * @property {(id: number) => boolean} isDrawn true if the graph has an element for the instruction
 * @property {() => void} undo takes back the last change of what the graph shows
 * @property {(group: string) => unknown} openBox
 * @property {(group: string) => boolean} isBoxOpen
 * @property {(number: number) => void} openRewrite opens a rewrite of the step in its tab
 * @property {(opcode: string) => string | null} opcodeHelp
 * @property {(query: string) => void} search enters a query as if typed
 * @property {() => void} flashWhy draws the eye to the why column
 * @property {() => boolean} closeHelp returns whether the list of keys was open
 */
/** @typedef {ReturnType<typeof actionsOf>} Actions */
/**
 * @typedef {Object} Shared
 * @property {HTMLElement} root
 * @property {import("./store.js").Store} store
 * @property {import("../code/editor.js").Editor} editor
 */
/** @typedef {Readonly<import("./state.js").State>} ReadState */
/**
 * A member that this type lacks is an error of tsc, and so is an assignment to a field of the state.
 * @typedef {ReadState & Readonly<Services> & Readonly<Actions> & Readonly<Shared> & {
 *     readonly subscribe: (keys: (keyof ReadState)[], listener: (news: Partial<ReadState>) => unknown) => () => boolean,
 *     readonly provide: (offered: Partial<Services>) => void }} App
 */

/** @returns {Services} */
const noServices = () => ({
  hasTab: () => false,
  isDrawn: () => false,
  undo() {},
  openBox() {},
  isBoxOpen: () => false,
  openRewrite() {},
  opcodeHelp: () => null,
  search() {},
  flashWhy() {},
  closeHelp: () => false,
});

/**
 * @param {Shared} shared
 * @param {Partial<import("./state.js").State>} start fields of the state that an address or an earlier view sets
 * @returns {App}
 */
export function openApp(shared, start) {
  const { state, set, change, subscribe } = observable({ ...INITIAL, ...start }),
    services = noServices(),
    offered = Object.keys(services).map(key => [key, { get: () => services[/** @type {keyof Services} */ (key)], enumerable: true }]),
    provide = (/** @type {Partial<Services>} */ more) => void Object.assign(services, more),
    members = { ...shared, ...actionsOf({ state, set, change }, shared, services), subscribe, provide };
  return Object.freeze(
    Object.defineProperties(/** @type {any} */ (members), { ...Object.getOwnPropertyDescriptors(state), ...Object.fromEntries(offered) }),
  );
}
