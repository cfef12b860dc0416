// The JupyterLab extension, as JupyterLab loads it: a module-federation container written by hand, so that nothing is built and no
// npm is needed. JupyterLab calls init() with the modules that it shares, then get() for the plugin.
(function () {
  'use strict';

  const NAME = 'xla-explorer';
  const MIME = 'text/x-hlo';
  const TOUR = 'xla_explorer_tour.ipynb';
  const ADDRESS = document.currentScript ? document.currentScript.src : '';
  let scope = {};

  /** A module that JupyterLab shares, or null where this application has none (Notebook 7 has no launcher). */
  async function shared(name) {
    const versions = scope[name];
    if (!versions) return null;
    return (await versions[Object.keys(versions)[0]].get())();
  }

  // -- highlighting ----------------------------------------------------------------------------------------------------------------
  const LAYOUT = String.raw`(?:\{[\d,]*(?::[^{}]*)?\})?`;
  const SHAPE = new RegExp(String.raw`[a-z][a-z0-9]*\[(?:<=|[\d,?\s])*\]` + LAYOUT);

  /** CodeMirror's stream tokenizer for HLO text. The state says what stands to the left: a shape, "=", the name of an attribute. */
  const hloTokens = {
    name: 'hlo',
    languageData: { commentTokens: { line: '//', block: { open: '/*', close: '*/' } }, closeBrackets: { brackets: ['(', '[', '{', '"'] } },
    startState: () => ({ comment: false, left: '' }),
    token(stream, state) {
      if (state.comment) {
        if (stream.match(/.*?\*\//)) state.comment = false;
        else stream.skipToEnd();
        return 'comment';
      }
      if (stream.sol()) {
        state.left = '';
        if (stream.match(/%%\w+.*/)) return 'meta';
      }
      if (stream.eatSpace()) return null;
      const is = (left, style) => {
        state.left = left;
        return style;
      };
      if (stream.match('//')) {
        stream.skipToEnd();
        return 'comment';
      }
      if (stream.match('/*')) {
        state.comment = !stream.match(/.*?\*\//);
        if (state.comment) stream.skipToEnd();
        return 'comment';
      }
      if (stream.match(/"(?:[^"\\]|\\.)*"?/)) return is('', 'string');
      if (stream.match(/(?:HloModule|ENTRY|ROOT)\b/)) return is('', 'keyword');
      if (stream.match(SHAPE)) return is('shape', 'typeName variableName.standard'); // JupyterLab's theme has a colour for the second
      if (stream.match(/->/)) return is('', 'operator');
      if (stream.match(/-?(?:inf|nan)\b|-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?![\w.-])/)) return is('', 'number');
      if (stream.match(/%[\w.-]+(?=\s*=)/)) return is('', 'variableName.definition');
      if (stream.match(/%[\w.-]+/)) return is('', 'variableName');
      if (stream.match(/[A-Za-z_][\w.-]*(?=\()/)) return is('', state.left === 'shape' ? 'keyword' : 'variableName');
      if (stream.match(/[a-z_]+(?==)/)) return is('attribute', 'propertyName');
      if (stream.match(/(?:true|false)\b/)) return is('', 'atom');
      if (stream.match(/[A-Za-z_][\w.-]*(?=\s*=)/)) return is('', 'variableName.definition');
      if (stream.match(/[A-Za-z_][\w.-]*/)) return is('', state.left === 'attribute' ? 'atom' : 'variableName');
      const character = stream.next();
      if (character === '=' && state.left === 'attribute') return 'operator';
      if (character !== ')' || state.left !== 'shape') state.left = character === ')' ? 'shape' : '';
      return null;
    },
  };

  // -- %%hlo cells -----------------------------------------------------------------------------------------------------------------
  const isHlo = (source) => /^\s*%%hlo\b/.test(source);

  /** Keeps the language of every code cell of a notebook what its first line says. */
  function watchNotebook(panel, languages) {
    const watched = new WeakSet();
    const check = async (model) => {
      // Editors load a language when they are given one, and the last to be loaded stays: ours must come after the notebook's.
      const own = languages.findByMIME(panel.content.codeMimetype);
      if (own) await languages.getLanguage(own);
      const wanted = isHlo(model.sharedModel.getSource());
      if (wanted && model.mimeType !== MIME) model.mimeType = MIME;
      if (!wanted && model.mimeType === MIME) model.mimeType = panel.content.codeMimetype;
    };
    const watch = (model) => {
      if (!model || model.type !== 'code' || watched.has(model)) return;
      watched.add(model);
      check(model);
      model.sharedModel.changed.connect(() => check(model));
      model.mimeTypeChanged.connect(() => check(model)); // the notebook sets it anew when the kernel tells its language
    };
    panel.context.ready.then(() => {
      const cells = panel.content.model.cells;
      const all = () => {
        for (let k = 0; k < cells.length; k++) watch(cells.get(k));
      };
      all();
      cells.changed.connect(all);
    });
  }

  // -- commands --------------------------------------------------------------------------------------------------------------------
  /** A new notebook beside the file, with one cell that compiles and explores it, running. */
  async function exploreFile(app, path) {
    const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
    const name = path.slice(folder ? folder.length + 1 : 0);
    const specs = app.serviceManager.kernelspecs;
    await specs.ready;
    const kernel = specs.specs && specs.specs.default; // named, so that nobody is asked which
    const panel = await app.commands.execute('notebook:create-new', { cwd: folder, kernelName: kernel });
    await panel.context.ready;
    await panel.sessionContext.ready;
    const source = `import xla_explorer as xe\n\nsession = xe.compile(xe.load(${JSON.stringify(name)}))\nxe.explore(session)`;
    panel.content.model.sharedModel.getCell(0).setSource(source);
    app.shell.activateById(panel.id);
    await app.commands.execute('notebook:run-all-cells');
    return panel;
  }

  /** The tour: a copy in the folder that is open, made once and then opened again. */
  async function openTour(app, folder) {
    const path = folder ? `${folder}/${TOUR}` : TOUR;
    const contents = app.serviceManager.contents;
    try {
      await contents.get(path, { content: false });
    } catch {
      const answer = await fetch(new URL('00_tour.ipynb', ADDRESS));
      if (!answer.ok) throw new Error(`the tour is not installed: ${answer.status}`);
      await contents.save(path, { type: 'notebook', format: 'json', content: await answer.json() });
    }
    return app.commands.execute('docmanager:open', { path, factory: 'Notebook' });
  }

  function addCommands(app, tokens) {
    const { browser, launcher, palette } = tokens;
    const selected = () => {
      const item = browser ? browser.selectedItems().next().value : null;
      return item && item.path.endsWith('.hlo') ? item.path : '';
    };
    const current = () => {
      const widget = app.shell.currentWidget;
      return widget && widget.context && widget.context.path.endsWith('.hlo') ? widget.context.path : '';
    };
    app.commands.addCommand(`${NAME}:explore`, {
      label: 'Explore HLO',
      caption: 'Compile this HLO file and open the explorer',
      isEnabled: (args) => Boolean(args.path || current() || selected()),
      execute: (args) => exploreFile(app, String(args.path || current() || selected())),
    });
    app.commands.addCommand(`${NAME}:explore-selected`, {
      label: 'Explore HLO',
      isVisible: () => Boolean(selected()),
      execute: () => exploreFile(app, selected()),
    });
    app.commands.addCommand(`${NAME}:tour`, {
      label: 'xla_explorer tour',
      caption: 'A notebook that shows HLO, passes, fusion, LLVM IR and PTX',
      iconClass: 'jp-NotebookIcon',
      execute: (args) => openTour(app, String(args.cwd || (browser ? browser.model.path : '') || '')),
    });
    app.contextMenu.addItem({ command: `${NAME}:explore-selected`, selector: '.jp-DirListing-item[data-file-type="hlo"]', rank: 1 });
    if (launcher) launcher.add({ command: `${NAME}:tour`, category: 'Notebook', rank: 10 });
    if (palette) {
      palette.addItem({ command: `${NAME}:explore`, category: 'xla_explorer' });
      palette.addItem({ command: `${NAME}:tour`, category: 'xla_explorer' });
    }
  }

  /** "Explore" in the toolbar of editors that show a .hlo file. */
  function addButton(app, ui) {
    app.docRegistry.addWidgetExtension('Editor', {
      createNew(panel, context) {
        if (!context.path.endsWith('.hlo')) return undefined;
        const button = new ui.ToolbarButton({
          label: 'Explore',
          tooltip: 'Compile this HLO file and open the explorer',
          onClick: () => app.commands.execute(`${NAME}:explore`, { path: context.path }),
        });
        panel.toolbar.insertItem(0, 'xla-explorer-explore', button);
        return button;
      },
    });
  }

  async function makePlugin() {
    const wanted = ['@jupyterlab/codemirror', '@codemirror/language', '@jupyterlab/notebook', '@jupyterlab/launcher'];
    wanted.push('@jupyterlab/apputils', '@jupyterlab/filebrowser', '@jupyterlab/ui-components');
    const [codemirror, language, notebook, launchers, apputils, files, ui] = await Promise.all(wanted.map(shared));
    const optional = [notebook && notebook.INotebookTracker, launchers && launchers.ILauncher, apputils && apputils.ICommandPalette];
    optional.push(files && files.IDefaultFileBrowser);
    return {
      id: `${NAME}:plugin`,
      description: 'HLO highlighting, Explore, and the tour of xla_explorer.',
      autoStart: true,
      requires: [codemirror.IEditorLanguageRegistry],
      optional: optional.filter(Boolean),
      activate(app, languages, ...found) {
        const given = (token) => (token ? found[optional.filter(Boolean).indexOf(token)] : null);
        const hlo = language.StreamLanguage.define(hloTokens);
        languages.addLanguage({
          name: 'hlo',
          displayName: 'HLO',
          mime: MIME,
          extensions: ['hlo'],
          support: new language.LanguageSupport(hlo),
        });
        app.docRegistry.addFileType({
          name: 'hlo',
          displayName: 'HLO',
          extensions: ['.hlo'],
          mimeTypes: [MIME],
          fileFormat: 'text',
          contentType: 'file',
        });
        const tracker = given(optional[0]);
        if (tracker) {
          tracker.forEach((panel) => watchNotebook(panel, languages));
          tracker.widgetAdded.connect((_, panel) => watchNotebook(panel, languages));
        }
        addCommands(app, { launcher: given(optional[1]), palette: given(optional[2]), browser: given(optional[3]) });
        if (ui) addButton(app, ui);
      },
    };
  }

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB[NAME] = {
    init(given) {
      scope = given;
      return Promise.resolve();
    },
    async get() {
      const plugin = await makePlugin();
      return () => ({ __esModule: true, default: plugin });
    },
  };
  window._JUPYTERLAB[NAME].tokens = hloTokens; // for tests
})();
