import { Output, toValueSync, TypeGuards } from 'liquidjs';
import type { Template } from 'liquidjs';
import { nameOf, ROOTS, toLiquid } from './mentions.ts';
import type { RenderedVariable } from './mentions.ts';
import type { Variables } from './variables.ts';

/** Filters that print what they are given as JSON, and those that leave it as what it is. */
const AS_JSON: readonly string[] = ['json', 'jsonify', 'inspect'];
const AS_IT_IS: readonly string[] = [
  'default',
  'escape',
  'escape_once',
  'raw',
  'append',
  'prepend',
];
const QUOTED_CHARS_MAX = 80;
/** Whoever is told of so many has seen what is meant. */
export const WHOLE_TOLD_MAX = 20;

type Shown = Pick<RenderedVariable, 'root' | 'way'>;

/** Every part of a template, also those inside its tags. */
const listParts = (parsed: readonly Template[]): Template[] =>
  parsed.flatMap((one) => [
    one,
    ...listParts(one.children ? (toValueSync(one.children(false, true)) as Template[]) : []),
  ]);

/** The names that a template gives away itself: what is called so may be something else. */
const listOwn = (parts: readonly Template[]): string[] =>
  parts.flatMap((one) => [
    ...(one.blockScope?.() ?? []),
    ...[...(one.localScope?.() ?? [])].map(({ content }) => content),
  ]);

/** What is between script tags is read by programs: there JSON is as it should be. */
const SCRIPT = /<script\b.*?(?:<\/script|$)/gis;

const scriptsIn = (source: string): ((at: number) => boolean) => {
  const ranges = Array.from(source.matchAll(SCRIPT), ({ index, 0: said }) => {
    return { begin: index, end: index + said.length };
  });
  return (at) => ranges.some(({ begin, end }) => begin < at && at < end);
};

/** How an object would be shown by an output of a variable alone; null where it is made into something else. */
const shownAs = ({ value: { filters } }: Output): string | null => {
  const isJson = filters.some(({ name }) => AS_JSON.includes(name));
  const isWhole = filters.every(({ name }) => AS_JSON.includes(name) || AS_IT_IS.includes(name));
  if (!isWhole) return null;
  return isJson ? 'JSON' : '"[object Object]"';
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const lookUp = (from: unknown, way: readonly string[]): unknown =>
  way.reduce<unknown>(
    (value, name) =>
      isObject(value) && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined,
    from,
  );

/** Whether it would be shown so. A list is shown as its members are, one after the other. */
const isShownSo = (value: unknown, how: string): boolean =>
  Array.isArray(value) ? how === 'JSON' || value.some(isObject) : isObject(value);

/** What other tools call all properties and all traits. */
const ALL: Record<string, string> = { 'event.properties': 'property', 'profile.traits': 'trait' };

const quote = (token: Template['token']): string => {
  const said = token.getText().replaceAll(/\s+/g, ' ');
  return said.length > QUOTED_CHARS_MAX ? `${said.slice(0, QUOTED_CHARS_MAX)}…` : said;
};

const adviceOf = ({ root, way }: Shown, value: object): string => {
  if (Array.isArray(value)) return 'Go through it with {% for … %}.';
  const part = Object.keys(value).find((name) => !isObject(lookUp(value, [name])));
  const such = part === undefined ? '' : `, such as {{ ${toLiquid([root, ...way, part])} }}`;
  return `Name what of it is meant${such}.`;
};

/** What is odd about showing a variable; null where it is a text. */
const saysOf = (one: Shown, value: unknown, how: string): string | null =>
  isObject(value) && isShownSo(value, how)
    ? `shows its reader ${how}. ${adviceOf(one, value)}`
    : null;

/** The same of what is not there under the name of all: that is found out when the mail fails. */
const saysOfAll = (one: Shown, how: string): string | null => {
  const kind = ALL[nameOf(one)];
  if (kind === undefined) return null;
  return (
    `is only there if the ${one.root} has a ${kind} named ${one.way[0]}, and whole it would show its reader ${how}. ` +
    `Name what is meant: {{ ${one.root}.… }}.`
  );
};

/** The variable that an output shows as it is; null where it is computed, or shows something else. */
const variableOf = ({ value }: Output): Shown | null => {
  const [variable, ...others] = value.initial.postfix;
  if (!TypeGuards.isPropertyAccessToken(variable) || others.length > 0) return null;
  const [root, ...way] = variable.props.map((prop) =>
    'content' in prop ? String(prop.content) : null,
  );
  if (!root || !ROOTS.includes(root)) return null;
  const names = way.filter((name) => name !== null);
  return names.length === way.length ? { root, way: names } : null;
};

type Asked = {
  variables: Variables;
  /** Whether the variables are somebody's own; else they were made of what is mentioned. */
  isGiven: boolean;
};

/** What a template prints whole that is no text: its reader would see what only programs read. */
export const listWhole = (parsed: readonly Template[], { variables, isGiven }: Asked): string[] => {
  const parts = listParts(parsed);
  const own = new Set(listOwn(parts));
  const isInScript = scriptsIn(parts[0]?.token.input ?? '');
  const found = parts.flatMap((part) => {
    const one = part instanceof Output ? variableOf(part) : null;
    const how = part instanceof Output ? shownAs(part) : null;
    if (!one || how === null || own.has(one.root) || isInScript(part.token.begin)) return [];
    const value = lookUp(variables, [one.root, ...one.way]);
    const says = saysOf(one, value, how) ?? (isGiven ? null : saysOfAll(one, how));
    return says === null ? [] : [{ token: part.token, says }];
  });
  return found.slice(0, WHOLE_TOLD_MAX).map(({ token, says }) => {
    const [line, column] = token.getPosition();
    return `line ${line}, column ${column}: ${quote(token)} ${says}`;
  });
};
