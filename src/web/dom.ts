// Building the page: elements, attributes and text. Text never becomes markup.

type Child = Node | string | null;

type Attribute = string | number | boolean | null | EventListener;

function fill<E extends Element>(
  element: E,
  attributes: Readonly<Record<string, Attribute>>,
  children: readonly Child[],
): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** An HTML element. A function is a listener of the event of that name; `true` an attribute without a value. */
export const h = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] => fill(document.createElement(tag), attributes, children);

/** An SVG element. */
export const s = <K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** Text that a screen reader says when it changes, and nobody need look at. */
export const quietStatus = (): HTMLElement => h("p", { role: "status", class: "quiet" });

/** A label over a control. */
export const field = (label: string, control: HTMLElement, hint: string | null = null): HTMLElement => {
  control.id ||= `field-${++fields}`;
  if (hint !== null) control.setAttribute("aria-describedby", `${control.id}-hint`);
  return h(
    "div",
    { class: "field" },
    h("label", { for: control.id }, label),
    control,
    hint === null ? null : h("small", { id: `${control.id}-hint` }, hint),
  );
};

let fields = 0;

/** Shows `trouble` in a field, and leads there. */
export function accuse(element: HTMLElement, trouble: HTMLElement): void {
  const control = controlOf(element);
  trouble.id = `${control.id}-trouble`;
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-errormessage", trouble.id);
  element.append(trouble);
  const hidden = element.closest("details");
  if (hidden) hidden.open = true;
  element.hidden = false;
  control.focus();
}

/** Takes back what `accuse` did. */
export function absolve(element: HTMLElement): void {
  controlOf(element).removeAttribute("aria-invalid");
  controlOf(element).removeAttribute("aria-errormessage");
  element.querySelector(":scope > .trouble")?.remove();
}

const controlOf = (element: HTMLElement): HTMLElement => element.querySelector<HTMLElement>("input, select, textarea")!;

/** Radio buttons that look like one switch. `changed` is told the chosen value. */
export function choice<T extends string>(
  legend: string,
  options: readonly (readonly [value: T, label: string])[],
  chosen: T,
  changed: (value: T) => void,
): HTMLElement {
  const name = `choice-${++fields}`;
  return h(
    "fieldset",
    { class: "choice" },
    h("legend", {}, legend),
    ...options.map(([value, label]) =>
      h(
        "label",
        {},
        h("input", { type: "radio", name, value, checked: value === chosen, change: () => changed(value) }),
        h("span", {}, label),
      ),
    ),
  );
}

/** Text whose days and times stay on one line. */
export const unbroken = (text: string): (Node | string)[] =>
  text.split(/(\d{4}-\d\d-\d\d\S*)/).map((part, index) => (index % 2 === 0 ? part : h("span", { class: "day" }, part)));

/** A table whose first cell heads its row. */
export function table(
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): HTMLElement {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      { class: "cards" },
      h("caption", { class: "quiet" }, caption),
      h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
      h(
        "tbody",
        {},
        ...rows.map(([head, ...cells]) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, h("code", {}, String(head))),
            ...cells.map((cell, index) =>
              h(
                "td",
                { class: typeof cell === "number" ? "number" : null, "data-label": heads[index + 1]! },
                ...unbroken(String(cell)),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}
