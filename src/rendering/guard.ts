import { withBounds } from './bounded_engine.ts';
import type { Rendered } from './render.ts';
import type { Variables } from './variables.ts';

/** Protects an email from values that only a browser asserted. */
export type Guard = {
  /** Returns the variables with few asserted names that loops and `json` print. Copying to a thread undoes it. */
  list: (variables: Variables) => Variables;
  /** Returns a message as it may be sent: unchanged, or as `renderBare` makes it. */
  check: <Message extends Rendered>(message: Message, renderBare: () => Message) => Message;
  /**
   * Returns the variables without asserted values, in the order in which they are tried: first with empty values, then
   * without the names. Liquid takes an empty text for true, so a template may ask for a member of it.
   */
  listBare: () => readonly Variables[];
};

type Safety = { guard: Guard | null; isFinal: (error: unknown) => boolean };

/**
 * Renders a message with the first of several variables that do not fail. Throws the first error if all of them fail,
 * and a final error at once. `before` is the error of an earlier try.
 */
export const renderFirst = <Message>(
  renderWith: (variables: Variables) => Message,
  candidates: Iterable<Variables>,
  isFinal: Safety['isFinal'],
  before: unknown = null,
): Message => {
  let first = before;
  for (const variables of candidates) {
    try {
      return renderWith(variables);
    } catch (error) {
      if (isFinal(error)) throw error;
      first ??= error;
    }
  }
  throw first;
};

/**
 * Renders a message, within bounds where it shows values that only a browser asserted. If that fails, renders it
 * without them: an email that a server caused and that needs none of them is sent, whatever a page asserts. Throws the
 * first error if everything fails.
 */
export const renderSafely = <Message>(
  renderWith: (variables: Variables) => Message,
  variables: Variables,
  { guard, isFinal }: Safety,
): Message => {
  if (!guard) return renderWith(variables);
  try {
    return withBounds(() => renderWith(guard.list(variables)));
  } catch (error) {
    // A page can make an email take too long: that is not final, and the first error is the one to show.
    return renderFirst(renderWith, guard.listBare(), isFinal, error);
  }
};

const isSame = (one: Rendered, other: Rendered): boolean =>
  one.subject === other.subject && one.html === other.html && one.text === other.text;

/** Whether a message differs from the one without asserted values, or needs them. */
const differs = (message: Rendered, renderBare: () => Rendered): boolean => {
  try {
    return !isSame(message, renderBare());
  } catch {
    return true;
  }
};

/**
 * Renders a message safely, and without the asserted values if they would make a link to a foreign host, or if `isBare`
 * says so. Returns also whether the message shows any of them: most templates read few traits, and a browser may assert
 * any.
 */
export const renderGuarded = <Message extends Rendered>(
  renderWith: (variables: Variables) => Message,
  variables: Variables,
  { guard, isFinal, isBare }: Safety & { isBare: boolean },
): { message: Message; showsAsserted: boolean } => {
  if (!guard) return { message: renderWith(variables), showsAsserted: false };
  let bare: Message | undefined;
  const renderBare = () => (bare ??= renderFirst(renderWith, guard.listBare(), isFinal));
  if (isBare) return { message: renderBare(), showsAsserted: false };
  const message = guard.check(renderSafely(renderWith, variables, { guard, isFinal }), renderBare);
  return { message, showsAsserted: differs(message, renderBare) };
};
