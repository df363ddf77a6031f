import { missingVariable } from './faults.ts';
import { renderFirst, renderSafely } from './guard.ts';
import type { Guard } from './guard.ts';
import { PartFailed, renderDraft } from './render.ts';
import type { RenderedDraft, Source } from './render.ts';
import type { Filled } from './tasks.ts';
import type { Variables } from './variables.ts';
import { listWarnings } from './warnings.ts';
import type { Warning } from './warnings.ts';

/** A template as somebody would get it, and what to know of it; or why it cannot be shown. */
export type Shown =
  | { kind: 'shown'; message: RenderedDraft; warnings: Warning[] }
  | { kind: 'failed'; reason: string };

/** So many missing variables are named, one after another. */
const MISSING_MAX = 20;

const put = (variables: Variables, name: string): boolean => {
  const path = name.split('.');
  const last = path.pop() ?? '';
  let inside: unknown = variables;
  for (const part of path) {
    if (typeof inside !== 'object' || inside === null) return false;
    const own = Object.getOwnPropertyDescriptor(inside, part)?.value as unknown;
    const next = typeof own === 'object' && own !== null ? own : {};
    Object.defineProperty(inside, part, { value: next, enumerable: true, configurable: true });
    inside = next;
  }
  if (typeof inside !== 'object' || inside === null) return false;
  Object.defineProperty(inside, last, { value: '', enumerable: true, configurable: true });
  return true;
};

type Tried = { missing: string[]; message: RenderedDraft | null };

/** Every variable that would make the mail fail, with its part and place, as far as they can be told apart. */
const tryStrictly = (source: Source, given: Variables, guard: Guard | null): Tried => {
  const cloned = structuredClone(given);
  const variables = guard ? guard.list(cloned) : cloned;
  // By place: of `a.b.c` first `a` is missing, and in its stead nothing has a `b`.
  const missing = new Map<string, string>();
  for (let tries = 0; tries < MISSING_MAX; tries += 1) {
    try {
      const message = renderDraft(source, variables);
      return { missing: [...missing.values()], message: missing.size === 0 ? message : null };
    } catch (error) {
      const name = error instanceof PartFailed ? missingVariable(error.cause) : null;
      if (!(error instanceof PartFailed) || name === null) throw error;
      const says = `${error.part}, ${error.message}`;
      missing.set(says.slice(0, says.indexOf(': ')), says);
      if (!put(variables, name)) break;
    }
  }
  return { missing: [...missing.values()], message: null };
};

/** Tries a template as its email is rendered: without asserted values, if it fails with them. */
const tryAsSent = (source: Source, variables: Variables, guard: Guard): Tried => {
  const tryBare = (): RenderedDraft | null => {
    try {
      const draft = (given: Variables) => renderDraft(source, given);
      return renderFirst(draft, guard.listBare(), () => false);
    } catch {
      return null;
    }
  };
  try {
    const tried = tryStrictly(source, variables, guard);
    const message = tried.message ?? tryBare();
    return message ? { missing: [], message } : tried;
  } catch (error) {
    const message = tryBare();
    if (message === null) throw error;
    return { missing: [], message };
  }
};

/** What an email says instead of a link that a browser asserted, which a preview shows, too. */
const ASSERTED_LINK: Warning = {
  warning: 'asserted_link',
  message:
    'Values that only a browser asserted would make a link to a host that neither the template nor a server named. ' +
    'The email shows all of them empty.',
};

/** Shows a template for a person. What they lack is left out, with a warning: their email would fail. */
export const show = (
  { source, variables }: Pick<Filled, 'source' | 'variables'>,
  guard: Guard | null,
): Shown => {
  try {
    const tried = guard
      ? tryAsSent(source, variables, guard)
      : tryStrictly(source, variables, null);
    const draft = (given: Variables) => renderDraft(source, given, true);
    const bounds = { guard, isFinal: () => false };
    const said = tried.message ?? renderSafely(draft, variables, bounds);
    const message = guard
      ? guard.check(said, () => renderFirst(draft, guard.listBare(), bounds.isFinal))
      : said;
    const lacking = tried.missing.map((says) => ({
      warning: 'missing_variable' as const,
      message: says,
    }));
    const asserted = message === said ? [] : [ASSERTED_LINK];
    const warnings = [...lacking, ...asserted, ...listWarnings(message, variables.unsubscribe_url)];
    return { kind: 'shown', message, warnings };
  } catch (error) {
    if (!(error instanceof PartFailed)) throw error;
    return { kind: 'failed', reason: `${error.part}, ${error.message}` };
  }
};
