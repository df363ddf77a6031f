/** Elements that bear it, and all that is in them, are left alone. */
const IGNORED = '[data-trunkline-ignore]';
/** What people mean when they click on something in it. */
const MEANT = 'a,button,summary,label,[role=button],[role=link],[role=tab],[role=menuitem]';
const FIELDS = 'input,select,textarea,[contenteditable]';
const TEXT_CHARS_MAX = 64;
const ATTRIBUTE_CHARS_MAX = 255;
const URL_CHARS_MAX = 2_000;
/** An e-mail address, or a number that may be a card's or a telephone's. */
const PERSONAL = /@|(\d[ .-]?){6}/;

type Properties = Record<string, string | undefined>;

/** A text, unless it is long: what is cut means something else. */
export const short = (text: string | null, charsMax = ATTRIBUTE_CHARS_MAX): string | undefined =>
  text && text.length <= charsMax ? text : undefined;

/** The route of pages that keep it behind the #. */
export const routeOf = (hash: string): string => (/^#!?\/[^?&=]*/.exec(hash) ?? [''])[0];

/** An address without what may be secret in it: its query, its fragment, or whose mailbox it is. */
export const safeUrl = (href: string): string | undefined => {
  try {
    const { protocol, origin, pathname, hash } = new URL(href, document.baseURI);
    const isWeb = protocol.startsWith('http');
    return short(isWeb ? origin + pathname + routeOf(hash) : protocol, URL_CHARS_MAX);
  } catch {
    return undefined;
  }
};

/** The element of an event and those around it, out of every open shadow; none, if one is to be ignored. */
const elementsOf = (event: Event): Element[] => {
  const elements = event.composedPath().filter((node) => node instanceof Element);
  return elements.some((element) => element.matches(IGNORED)) ? [] : elements;
};

const textOf = (element: Element): string | undefined => {
  if (element.querySelector(`${IGNORED},${FIELDS}`)) return undefined;
  const text = short((element.textContent ?? '').replace(/\s+/g, ' ').trim(), TEXT_CHARS_MAX);
  return text && !PERSONAL.test(text) ? text : undefined;
};

/** What a click tells: never what was typed. Null for what tells nothing. */
export const describeClick = (event: Event): Properties | null => {
  const elements = elementsOf(event);
  const meant = elements.find((element) => element.matches(`${MEANT},${FIELDS}`));
  const element = meant ?? elements[0];
  if (!element || element.matches('html,body,[type=password]')) return null;
  // The browser clicks on what it labels next.
  if ((element as HTMLLabelElement).control) return null;
  const href = element.getAttribute('href');
  return {
    tag: element.localName,
    id: short(element.getAttribute('id')),
    classes: short(element.getAttribute('class')),
    text: meant && !elements.some((around) => around.matches(FIELDS)) ? textOf(meant) : undefined,
    href: href === null ? undefined : safeUrl(href),
  };
};

/** Which form was submitted, and where to. A field may be called `id`, so attributes are asked. */
export const describeSubmit = (event: Event): Properties | null => {
  const [form] = elementsOf(event);
  return form
    ? {
        id: short(form.getAttribute('id')),
        name: short(form.getAttribute('name')),
        action: safeUrl(form.getAttribute('action') ?? ''),
      }
    : null;
};
