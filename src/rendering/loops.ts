import { ForTag, TablerowTag } from 'liquidjs';
import type { Liquid, Template } from 'liquidjs';

/**
 * How often the loops of one email turn altogether, where it shows values that only a browser asserted: a number from a
 * page may be the end of a range. Lists that pages assert have far fewer members.
 */
export const ASSERTED_TURNS_MAX = 10_000;

let turnsLeft = Infinity;

/** Renders with loops that turn so often at most, and throws past that. Rendering is synchronous: one count will do. */
export const withBoundedLoops = <T>(render: () => T): T => {
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

/** Makes the loops of an engine count their turns. */
export const countLoops = (engine: Liquid): Liquid => {
  engine.registerTag('for', BoundedFor);
  engine.registerTag('tablerow', BoundedTablerow);
  return engine;
};
