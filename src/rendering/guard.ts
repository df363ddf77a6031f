import { withBoundedLoops } from './loops.ts';
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
 * and a final error at once.
 */
export const renderFirst = <Message>(
  renderWith: (variables: Variables) => Message,
  candidates: Iterable<Variables>,
  isFinal: Safety['isFinal'],
): Message => {
  let first: unknown = null;
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

/** Bounds the loops of a message that shows asserted values. */
const boundLoops = <Message>(
  renderWith: (variables: Variables) => Message,
  guard: Guard | null,
): ((variables: Variables) => Message) =>
  guard ? (variables) => withBoundedLoops(() => renderWith(variables)) : renderWith;

function* listCandidates(variables: Variables, guard: Guard | null): Generator<Variables> {
  yield guard ? guard.list(variables) : variables;
  if (guard) yield* guard.listBare();
}

/**
 * Renders a message. If that fails, renders it without the values that only a browser asserted: an email that a server
 * caused and that needs none of them is sent, whatever a page asserts. Throws the first error if everything fails.
 */
export const renderSafely = <Message>(
  renderWith: (variables: Variables) => Message,
  variables: Variables,
  { guard, isFinal }: Safety,
): Message => renderFirst(boundLoops(renderWith, guard), listCandidates(variables, guard), isFinal);

/** Renders a message safely, and without the asserted values if they would make a link to a foreign host. */
export const renderGuarded = <Message extends Rendered>(
  renderWith: (variables: Variables) => Message,
  variables: Variables,
  { guard, isFinal }: Safety,
): Message => {
  const message = renderSafely(renderWith, variables, { guard, isFinal });
  if (!guard) return message;
  const bounded = boundLoops(renderWith, guard);
  return guard.check(message, () => renderFirst(bounded, guard.listBare(), isFinal));
};
