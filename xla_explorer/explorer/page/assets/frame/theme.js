// Light or dark as the host, now and after a change of the host.

// The theme that the host declares: JupyterLab and Notebook, VS Code, Colab. null without one.
function hostTheme() {
  const { body, documentElement: html } = document,
    code = body.dataset.vscodeThemeKind || [...body.classList].find(name => /^vscode-(dark|light|high-contrast)/.test(name));
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (code) return !code.endsWith("light");
  const declared = html.getAttribute("theme") || html.dataset.theme || body.dataset.theme;
  return /^(dark|light)$/.test(declared || "") ? declared === "dark" : null;
}

/** The colour behind the widget; null while it is not in the page or nothing there is painted. @param {HTMLElement} root */
function seenBehind(root) {
  for (let el = root.parentElement; el; el = el.parentElement ?? /** @type {any} */ (el.getRootNode()).host) {
    const [red, green, blue, alpha = 1] = ((el.isConnected && getComputedStyle(el).backgroundColor.match(/[\d.]+/g)) || []).map(Number);
    if (blue !== undefined && alpha > 0.5) return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
  }
  return null;
}

/**
 * Keeps data-theme of the root current and calls `changed` when it changes. A widget is often made before it is put into the page:
 * the colour behind it is read again when it gets a size.
 * @param {HTMLElement} root
 * @param {() => void} changed
 */
export function watchTheme(root, changed) {
  const media = matchMedia("(prefers-color-scheme: dark)"),
    decide = () => {
      const theme = (hostTheme() ?? seenBehind(root) ?? media.matches) ? "dark" : "light";
      if (root.dataset.theme === theme) return;
      root.dataset.theme = theme;
      changed();
    },
    observer = new MutationObserver(decide),
    placed = new ResizeObserver(decide);
  for (const el of [document.documentElement, document.body])
    observer.observe(el, { attributes: true, attributeFilter: ["class", "style", "theme", "data-theme", "data-jp-theme-light", "data-jp-theme-name", "data-vscode-theme-kind"] });
  placed.observe(root);
  media.addEventListener("change", decide);
  decide();
  return () => {
    observer.disconnect();
    placed.disconnect();
    media.removeEventListener("change", decide);
  };
}
