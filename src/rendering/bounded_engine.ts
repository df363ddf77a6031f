import { ForTag, Liquid, TablerowTag } from 'liquidjs';
import type { RenderOptions, Template } from 'liquidjs';

/**
 * How often the loops of one email turn altogether, where it shows values that only a browser asserted: a number from a
 * page may be the end of a range. Lists that pages assert have far fewer members.
 */
export const ASSERTED_TURNS_MAX = 10_000;
/**
 * How many list members and characters the filters and ranges of one part may make there, in liquidjs's own count. Mail
 * software cuts an email of 100 KB.
 */
export const ASSERTED_MEMORY_MAX = 100_000;
/** How many milliseconds one part may take there. Without the values it may take as long as any other. */
export const ASSERTED_TIME_MAX_MS = 300;

let turnsLeft = Infinity;
const isBounded = (): boolean => turnsLeft < Infinity;

/** Renders with bounded loops and filters, and throws past a bound. Rendering is synchronous: one count will do. */
export const withBounds = <T>(render: () => T): T => {
  turnsLeft = ASSERTED_TURNS_MAX;
  try {
    return render();
  } finally {
    turnsLeft = Infinity;
  }
};

/** Stands first in the body of a loop. */
const countTurn = ({ token }: Pick<Template, 'token'>): Template => ({
  token,
  render: () => {
    turnsLeft -= 1;
    if (turnsLeft < 0)
      throw new Error(
        `loops turned more than ${ASSERTED_TURNS_MAX} times with values that only a browser asserted`,
      );
  },
});

class BoundedFor extends ForTag {
  constructor(...given: ConstructorParameters<typeof ForTag>) {
    super(...given);
    this.templates.unshift(countTurn(this));
  }
}

class BoundedTablerow extends TablerowTag {
  constructor(...given: ConstructorParameters<typeof TablerowTag>) {
    super(...given);
    this.templates.unshift(countTurn(this));
  }
}

/** An engine with less memory and counted loops inside `withBounds`. */
export class BoundedEngine extends Liquid {
  constructor(...given: ConstructorParameters<typeof Liquid>) {
    super(...given);
    this.registerTag('for', BoundedFor);
    this.registerTag('tablerow', BoundedTablerow);
  }

  override renderSync(parsed: Template[], scope?: object, options?: RenderOptions): unknown {
    const bounds = isBounded()
      ? { memoryLimit: ASSERTED_MEMORY_MAX, renderLimit: ASSERTED_TIME_MAX_MS }
      : {};
    return super.renderSync(parsed, scope, { ...options, ...bounds });
  }
}
