// What undefined names and wrong types are, tsc says; these are habits.
export default [
  {
    files: ["xla_explorer/explorer/page/assets/**/*.js"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "array-callback-return": "error",
      "eqeqeq": "error",
      "no-constant-condition": "error",
      "no-dupe-else-if": "error",
      "no-dupe-keys": "error",
      "no-duplicate-imports": "error",
      "no-else-return": "error",
      "no-empty": "error",
      "no-eval": "error",
      "no-fallthrough": "error",
      "no-implied-eval": "error",
      "no-self-compare": "error",
      "no-unreachable": "error",
      "no-unsafe-negation": "error",
      "no-unused-vars": ["error", { args: "after-used", caughtErrors: "none" }],
      "no-useless-escape": "error",
      "no-useless-rename": "error",
      "no-useless-return": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "use-isnan": "error",
      // Texts of a module reach the page as text nodes only.
      "no-restricted-properties": ["error", ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map(property => ({ property }))],
    },
  },
];
