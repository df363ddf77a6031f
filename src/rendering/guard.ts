import type { Rendered } from './render.ts';
import type { Variables } from './variables.ts';

/** What protects an email from values that only a browser asserted. */
export type Guard = {
  /** Returns a message as it may be sent: as it is, or rendered again with other variables. */
  check: <Message extends Rendered>(
    message: Message,
    renderAgain: (variables: Variables) => Message,
  ) => Message;
  /** Returns the variables with every asserted value empty. */
  bare: () => Variables;
};

type Safety = { guard: Guard | null; isFinal: (error: unknown) => boolean };

/**
 * Renders a message. If that fails, renders it again without the values that only a browser asserted: a list or a long
 * text from a page must not end an email that a server caused. If both fail, throws the first error.
 */
export const renderSafely = <Message>(
  renderWith: (variables: Variables) => Message,
  variables: Variables,
  { guard, isFinal }: Safety,
): Message => {
  try {
    return renderWith(variables);
  } catch (error) {
    if (!guard || isFinal(error)) throw error;
    try {
      return renderWith(guard.bare());
    } catch {
      throw error;
    }
  }
};
