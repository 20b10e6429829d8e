// What the linter forbids: chiefly promises nobody waits for, unsafe `any`, and unions handled by halves.
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  globalIgnores(["dist/", "coverage/", "parquet/", "**/.venv/", ".readers/", "src/encode/kernel/"]),
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      // noUncheckedIndexedAccess makes `array[i]!` the plain way to read inside a bounded loop.
      "@typescript-eslint/no-non-null-assertion": "off",
      // It takes guards on what comes from files and sockets for needless.
      "@typescript-eslint/no-unnecessary-condition": "off",
      // As tsc has it: a parameter that must stand but is not needed begins with _.
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      // A function may be async only because its interface is.
      "@typescript-eslint/require-await": "off",
      // Objects are made by functions here, and their methods use no `this`.
      "@typescript-eslint/unbound-method": "off",
      // Text is spread by code point on purpose.
      "@typescript-eslint/no-misused-spread": "off",
      // A Record is our plain map of names.
      "@typescript-eslint/no-dynamic-delete": "off",
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
    },
  },
  {
    // One file prints, and escapes what it prints; a worker passes on lines of the log.
    files: ["src/**"],
    ignores: ["src/cli/out.ts", "src/processes/worker.ts"],
    rules: {
      "no-console": "error",
      "no-restricted-syntax": [
        "error",
        {
          selector:
            "MemberExpression[object.object.name='process'][object.property.name=/^std(out|err)$/][property.name='write']",
          message: "Print with src/cli/out.ts.",
        },
      ],
    },
  },
  {
    // Tests read parsed JSON freely; their assertions check it.
    files: ["test/**"],
    rules: {
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
    },
  },
  {
    // A class may be declared by its constructor alone.
    files: ["**/*.d.ts"],
    rules: { "@typescript-eslint/no-extraneous-class": "off" },
  },
  { files: ["**/*.{js,mjs,cjs}"], extends: [tseslint.configs.disableTypeChecked] },
);
